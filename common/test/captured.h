/*
 * captured.h -- a command of profsim, run in a process of its own: how it ends,
 * what it prints, and how much memory it takes.
 */
#ifndef COMMON_TEST_CAPTURED_H
#define COMMON_TEST_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/command/exit.h"

struct captured {
    int exit_code;     /* -1: it did not exit */
    int signal;        /* that ended it; 0: none; SIGALRM: the time was over */
    size_t peak_bytes; /* peak, resident, of it or its child */
    char *text;        /* standard output and error in order; ends with NUL */
    size_t text_bytes;
};

/*
 * Run a command. It is killed after `seconds`. Its standard input is the
 * descriptor `input`, or /dev/null if that is negative.
 *
 * in:      argv, ends in NULL
 * out:     *captured, to be freed with captured_free()
 * returns: false if no process can be made
 */
bool captured_run(struct captured *captured,
                  enum cli_exit (*command)(int argc, char **argv), char **argv,
                  int input, unsigned seconds);

/* Read what was printed into the file `output`. returns: false if memory runs
 * out */
bool captured_read(struct captured *captured, int output);
void captured_free(struct captured *captured);

#endif
