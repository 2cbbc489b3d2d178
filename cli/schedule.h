/* schedule.h -- traced worlds on the command line. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "exit.h"
#include "input.h"
#include "judge.h"

/*
 * Run a schedule and compare it with its `expect` line.
 *
 * in:      path, for messages
 *          folder, for its traces: trace.out, trace-2.out ...; NULL: nowhere
 * out:     *breach, what it breaks, or a text alone
 * returns: CLI_OK if it ends as it says
 */
enum cli_exit cli_schedule_run(const struct sim_input *input, const char *path,
                               const char *folder, struct props_breach *breach);

/* Run a schedule and say what it breaks, if anything. out: *breach */
enum cli_exit cli_schedule_replay(const struct sim_input *input,
                                  const char *path,
                                  struct props_breach *breach);

#endif
