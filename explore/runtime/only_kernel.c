/* only_kernel.c -- see only_kernel.h. */
#include "explore/runtime/only_kernel.h"

#include "common/command/complaint.h"
#include "explore/runtime/start.h"

static struct sim_kernel_entry rows[2] = {{.make = sim_program_kernel}};
char cli_only_prefix[CLI_REPLAY_BYTES];
char cli_only_suffix[CLI_REPLAY_BYTES];
int cli_only_argc;
char **cli_only_argv;

const struct sim_kernel_entry *const cli_kernel_groups[] = {rows, NULL};

void
cli_only_kernel_name(const char *name)
{
    rows[0].name = name;
}

const char *
cli_only_kernel(void)
{
    return rows[0].name;
}

const char *
cli_replay_prefix(const char *name)
{
    (void)name;
    return cli_only_prefix;
}

const char *
cli_replay_suffix(void)
{
    return cli_only_suffix;
}

void
cli_words_typed(int *argc, char *const **argv)
{
    if (cli_only_argv == NULL)
        return;
    *argc = cli_only_argc;
    *argv = cli_only_argv;
}

bool
cli_only_chose_values(void)
{
    return sim_program_chose_values();
}

enum cli_exit
cli_no_such_kernel(const char *name)
{
    return cli_usage("explore: '%s' is neither an option nor a source file",
                     name);
}
