/* recording_input.h -- the recording that a command was given. */
#ifndef COMMON_COMMAND_RECORDING_INPUT_H
#define COMMON_COMMAND_RECORDING_INPUT_H

#include <stdint.h>

#include "common/recording/recording.h"

/* Show the progress of long work over events (progress_line.h). */
void cli_show_progress(uint64_t done, uint64_t total);
void cli_hide_progress(void);

/* returns: the recording, to be closed; NULL, and a complaint, if it is not
 *          one */
struct sim_recording *cli_take_recording(struct sim_input *input,
                                         const char *path);

#endif
