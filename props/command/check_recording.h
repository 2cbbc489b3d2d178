/* check_recording.h -- the library judged on a recording of a real program. */
#ifndef PROPS_COMMAND_CHECK_RECORDING_H
#define PROPS_COMMAND_CHECK_RECORDING_H

#include "props/command/commands.h"
#include "common/command/recording_input.h"
#include "common/report/report.h"

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
                                  props_set requested,
                                  struct cli_report *report);

#endif
