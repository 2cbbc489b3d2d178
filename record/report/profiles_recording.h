/* profiles_recording.h -- the profile files of a recording. */
#ifndef CLI_PROFILES_RECORDING_H
#define CLI_PROFILES_RECORDING_H

#include <stdbool.h>

#include "calls.h"
#include "live_heap.h"

/* in: calls and heap of the same recording */
bool cli_profiles_write_recording(const char *folder, const char *path,
                                  const struct sim_recording *recording,
                                  const struct cli_calls *calls,
                                  const struct sim_live_heap *heap);

#endif
