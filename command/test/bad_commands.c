/* bad_commands.c -- see bad_commands.h. */
#include "command/test/bad_commands.h"

#include <stdio.h>
#include <stdlib.h>

enum cli_exit
bad_accepts(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return CLI_OK;
}

enum cli_exit
bad_prints(int argc, char **argv)
{
    (void)argc;
    printf("\x1b[2J%s\n", argv[1]);
    return CLI_USAGE;
}

enum cli_exit
bad_crashes(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    abort();
}

enum cli_exit
bad_grows(int argc, char **argv)
{
    const size_t bytes = (size_t)256 << 20;
    char *memory = malloc(bytes);

    (void)argc;
    (void)argv;
    if (memory == NULL)
        return CLI_USAGE;
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i] = 1;
    free(memory);
    return CLI_USAGE;
}
