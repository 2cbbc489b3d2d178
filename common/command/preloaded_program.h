/*
 * preloaded_program.h -- what must be known of a command before a library is
 * preloaded into it.
 */
#ifndef COMMON_COMMAND_PRELOADED_PROGRAM_H
#define COMMON_COMMAND_PRELOADED_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct cli_program {
    char found[PATH_MAX];  /* "": it was not found */
    char path[PATH_MAX];   /* the same, or the interpreter of a script */
    char loader[PATH_MAX]; /* "": linked statically, or no program */
    bool is_foreign;       /* another C library's loader runs it */
    bool has_asan;         /* it loads the library of AddressSanitizer */
};

/* Find a program as execvp() does, and look at it. */
void cli_program_look(struct cli_program *program, const char *name);

#endif
