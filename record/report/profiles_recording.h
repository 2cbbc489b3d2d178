/* profiles_recording.h -- the profile files of a recording. */
#ifndef RECORD_REPORT_PROFILES_RECORDING_H
#define RECORD_REPORT_PROFILES_RECORDING_H

#include <stdbool.h>

#include "record/report/calls.h"
#include "record/report/live_heap.h"

/* in: calls and heap of the same recording */
bool cli_profiles_write_recording(const char *folder, const char *path,
                                  const struct sim_recording *recording,
                                  const struct cli_calls *calls,
                                  const struct sim_live_heap *heap);

#endif
