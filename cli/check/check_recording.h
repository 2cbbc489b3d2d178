/* check_recording.h -- the library judged on a recording of a real program. */
#ifndef CLI_CHECK_RECORDING_H
#define CLI_CHECK_RECORDING_H

#include "command.h"
#include "recording.h"
#include "report.h"

/*
 * Replay a recording twice through the simulated collector, judge every event,
 * and print the verdict of every property.
 *
 * in:      asked, the properties; if not all, each must be tried
 * returns: CLI_OK if all properties that were tried hold; CLI_USAGE if the
 *          recording cannot be replayed
 */
enum cli_exit cli_check_recording(const struct sim_recording *recording,
                                  const char *path,
                                  const struct prof_rules *rules,
                                  props_set asked, struct cli_report *report);

/* Show the progress of long work over events (progress_line.h). */
void cli_show_progress(uint64_t done, uint64_t total);
void cli_hide_progress(void);

/* returns: the recording, to be closed; NULL, and a complaint, if it is not
 *          one */
struct sim_recording *cli_take_recording(struct sim_input *input,
                                         const char *path);

#endif
