/* kernel_groups.c -- see kernel_groups.h. */
#include "explore/command/kernel_groups.h"

#include <stdio.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/nearest.h"
#include "explore/textbook/textbook.h"

/* The kernels over the library (props/kernels/); NULL in a build of the
 * explorer alone. */
extern const struct sim_kernel_entry props_kernels[] __attribute__((weak));

const struct sim_kernel_entry *const cli_kernel_groups[] = {
    fixtures_textbook,
    props_kernels,
    NULL,
};

const char *
cli_only_kernel(void)
{
    return NULL;
}

const char *
cli_replay_prefix(const char *name)
{
    static char text[128];

    snprintf(text, sizeof text, "profsim explore %s ", name);
    return text;
}

const char *
cli_replay_suffix(void)
{
    return "";
}

void
cli_words_typed(int *argc, char *const **argv)
{
    (void)argc;
    (void)argv;
}

bool
cli_only_chose_values(void)
{
    return false;
}

enum cli_exit
cli_no_such_kernel(const char *name)
{
    struct sim_nearest nearest = {.wrong = name, .wrong_bytes = strlen(name)};

    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        for (const struct sim_kernel_entry *e = cli_kernel_groups[g];
             e->name != NULL; e++)
            sim_nearest_try(&nearest, e->name);
    }
    cli_unknown("kernel", &nearest, "'profsim explore --list' names them");
    return CLI_USAGE;
}
