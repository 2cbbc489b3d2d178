/*
 * test_kernels.c -- `profsim explore` as a program of its own, so that the
 * build repeats the check of the kernels only when something explored has
 * changed.
 *
 * usage: test_kernels [WORD...]   the same as `profsim explore`
 *        test_kernels some        every ordering of each kernel; for kernels
 * with a bound (kernel.def), those with at most one preemption
 *
 * build: as=kernels_some args=some not=asan
 * build: as=kernels_all args=--exhaustive when=long
 * build: as=kernels_stopped args='heap-everything --bound 4' when=long
 * build: as=kernels_running args='advance-everything --bound 3' when=long
 */
#include "explore/command/explore_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore/command/kernel_groups.h"
#include "props/kernels/kernels.h"

static enum cli_exit
explore_one(const struct sim_kernel_entry *entry)
{
    char command[] = "explore";
    char all[] = "--exhaustive";
    char bound[] = "--bound";
    char one[] = "1";
    char name[64];
    char *every_word[] = {command, name, all, NULL};
    char *bounded_words[] = {command, name, bound, one, NULL};

    snprintf(name, sizeof name, "%s", entry->name);
    return entry->bounded ? cli_explore(4, bounded_words)
                          : cli_explore(3, every_word);
}

static enum cli_exit
explore_some(void)
{
    enum cli_exit worst = CLI_OK;
    uint32_t passed = 0;
    uint32_t failed = 0;

    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        for (const struct sim_kernel_entry *e = cli_kernel_groups[g];
             e->name != NULL; e++) {
            const enum cli_exit code = explore_one(e);

            passed += code == CLI_OK;
            failed += code != CLI_OK;
            worst = cli_exit_worse(worst, code);
        }
    }
    printf("explore: %" PRIu32 " passed, %" PRIu32 " failed\n", passed, failed);
    return worst;
}

int
main(int argc, char **argv)
{
    if (cli_kernel_groups[1] != props_kernels) {
        fprintf(stderr, "the kernels over the library are not linked\n");
        return CLI_INCOMPLETE;
    }
    if (argc == 2 && strcmp(argv[1], "some") == 0)
        return (int)explore_some();
    return (int)cli_explore(argc, argv);
}
