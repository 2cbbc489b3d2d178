/*
 * calls.h -- the calls in the stacks of a recording, with demangled names and
 * inlined functions as separate calls.
 */
#ifndef RECORD_REPORT_CALLS_H
#define RECORD_REPORT_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/recording/recording.h"

/* The most calls of one stack; those nearer to the root are left out. */
enum { CLI_CALLS_MAX = 1024 };

struct cli_call {
    const char *function; /* never empty */
    const char *symbol;   /* the function's, before demangling */
    const char *file;     /* "" if not known */
    const char *module;   /* path of the mapped file; "" if not known */
    uintptr_t address;    /* a return address that no other call has */
    uint64_t function_offset;
    uint32_t line;   /* 0 if not known */
    uint32_t name;   /* the same number for the same symbol and module */
    bool is_telling; /* false for malloc and its relatives */
};

struct cli_calls; /* opaque */

/* in: recording, which must stay open. */
struct cli_calls *cli_calls_open(const struct sim_recording *recording);

/* NULL is allowed. */
void cli_calls_close(struct cli_calls *calls);

/*
 * out:     stack_calls, leaf first, room for CLI_CALLS_MAX
 * in:      stack, of the recording
 * returns: how many calls the stack has, inlined ones included
 */
uint32_t cli_calls_of(const struct cli_calls *calls, uint32_t stack,
                      const struct cli_call **stack_calls);

/* in: frame, of the recording. returns: its call */
const struct cli_call *cli_calls_at(const struct cli_calls *calls,
                                    uint32_t frame);

/* returns: the call of this address, or NULL */
const struct cli_call *cli_calls_find(const struct cli_calls *calls,
                                      uintptr_t address);

/* Print the innermost calls of a stack, with lines: `f (a.c:3) < g < h`. */
void cli_calls_print(FILE *file, const struct cli_calls *calls, uint32_t stack);

/*
 * Print the name of a function, escaped. The end of a long name is cut off: C++
 * names can be wider than a screen.
 */
void cli_print_function(FILE *file, const char *function);

/* returns: the part after the last slash */
const char *cli_base_name(const char *path);

#endif
