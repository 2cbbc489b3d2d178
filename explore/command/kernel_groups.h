/* kernel_groups.h -- the kernels that the command knows. */
#ifndef EXPLORE_COMMAND_KERNEL_GROUPS_H
#define EXPLORE_COMMAND_KERNEL_GROUPS_H

#include "common/command/exit.h"
#include "explore/engine/kernel_entry.h"

/*
 * Tables of kernels, NULL at the end. The kernels of a table share one program.
 * A new folder of kernels must add its table here.
 */
extern const struct sim_kernel_entry *const cli_kernel_groups[];

/* returns: the name of the only kernel of a user's program; else NULL */
const char *cli_only_kernel(void);

/*
 * The command that runs a kernel again is prefix, options, suffix:
 * "profsim explore NAME ", "--replay 0,1", " -- -DX".
 */
const char *cli_replay_prefix(const char *name);
const char *cli_replay_suffix(void);

/*
 * Find the words that the user typed. A program that the command has built is
 * run with other words.
 *
 * in, out: *argc and *argv, the words of this process; argv[0] is "explore"
 */
void cli_words_typed(int *argc, char *const **argv);

/* Has a program chosen values that stand for others? */
bool cli_only_chose_values(void);

/* Complain that no kernel has this name. returns: CLI_USAGE */
enum cli_exit cli_no_such_kernel(const char *name);

#endif
