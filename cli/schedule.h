/* schedule.h -- traced worlds on the command line. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "campaign.h"
#include "command.h"

/*
 * Run a schedule file and compare it with its `expect` line.
 *
 * in:      path, for which sim_schedule_is()
 *          folder, for its traces: trace.out, trace-2.out ...; NULL: nowhere
 * returns: CLI_OK if it ends as it says
 */
enum cli_exit cli_schedule_run(const char *path, const char *folder);

/*
 * Run a schedule file and say what it breaks, if anything.
 *
 * in:      path, for which sim_schedule_is()
 */
enum cli_exit cli_schedule_replay(const char *path);

#endif
