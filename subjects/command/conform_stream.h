/* conform_stream.h -- the events of a whole command. */
#ifndef SUBJECTS_COMMAND_CONFORM_STREAM_H
#define SUBJECTS_COMMAND_CONFORM_STREAM_H

#include <stdbool.h>

#include "subjects/command/conform.h"
#include "common/command/exit.h"

/*
 * Run a command to its end, and keep the events of its probes.
 *
 * returns: CLI_OK if there is something to judge; else why not, reported
 */
enum cli_exit cli_conform_stream_run(char **command);

/* Can a check be judged by the events alone? If so, judge it. */
bool cli_conform_stream_judges(const char *name);
void cli_conform_stream_judge(const char *name,
                              struct cli_conform_outcome *outcome);

#endif
