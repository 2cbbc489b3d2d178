/* only_kernel.h -- the table of kernels of a program that explores itself. */
#ifndef EXPLORE_RUNTIME_ONLY_KERNEL_H
#define EXPLORE_RUNTIME_ONLY_KERNEL_H

#include "explore/command/kernel_groups.h"

enum { CLI_REPLAY_BYTES = 4096 };

/* The beginning and the end of the command that replays the kernel. */
extern char cli_only_prefix[CLI_REPLAY_BYTES];
extern char cli_only_suffix[CLI_REPLAY_BYTES];

/* The words that the user typed, if they are not those of this process; else
 * NULL. */
extern int cli_only_argc;
extern char **cli_only_argv;

void cli_only_kernel_name(const char *name);

#endif
