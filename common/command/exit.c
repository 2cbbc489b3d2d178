/* exit.c -- see exit.h. */
#include "common/command/exit.h"

static int
rank(enum cli_exit code)
{
    static const enum cli_exit order[] = {
        CLI_OK,       CLI_INCOMPLETE,     CLI_BROKEN, CLI_CRASH,
        CLI_LIVENESS, CLI_NONDETERMINISM, CLI_USAGE};
    int i = 0;

    while (i < (int)(sizeof order / sizeof *order) - 1 && order[i] != code)
        i++;
    return i;
}

enum cli_exit
cli_exit_worse(enum cli_exit a, enum cli_exit b)
{
    return rank(b) > rank(a) ? b : a;
}
