/*
 * profile_command.h -- `profsim profile`, `top` and `dump`: sampled profiles of
 * a running program, taken by libprof-malloc.so in it.
 */
#ifndef RECORD_COMMAND_PROFILE_COMMAND_H
#define RECORD_COMMAND_PROFILE_COMMAND_H

#include "common/command/exit.h"

/*
 * Run a command under the profiler.
 *
 * returns: the command's exit code, or that of a failure, as cli_record() does
 */
enum cli_exit cli_profile(int argc, char **argv);

/* `profsim top`: show what a profiled process has in use. */
enum cli_exit cli_top(int argc, char **argv);

/* `profsim dump`: write the profiles of a profiled process now. */
enum cli_exit cli_dump(int argc, char **argv);

#endif
