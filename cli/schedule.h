/* schedule.h -- traced worlds on the command line. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "campaign.h"
#include "command.h"
#include "input.h"

/*
 * Run a schedule and compare it with its `expect` line.
 *
 * in:      path, for messages
 *          folder, for its traces: trace.out, trace-2.out ...; NULL: nowhere
 * returns: CLI_OK if it ends as it says
 */
enum cli_exit cli_schedule_run(const struct sim_input *input, const char *path,
                               const char *folder);

/* Run a schedule and say what it breaks, if anything. */
enum cli_exit cli_schedule_replay(const struct sim_input *input,
                                  const char *path);

#endif
