/*
 * captured.h -- a command of profsim, run in a process of its own: how it ends,
 * what it prints, and how much memory it takes.
 */
#ifndef PROPS_CAPTURED_H
#define PROPS_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>

#include "exit.h"

struct captured {
    int exit_code;     /* -1: it did not exit */
    int signal;        /* that ended it; 0: none. SIGALRM: it took too long */
    size_t peak_bytes; /* resident, of it or of a process that it waited for */
    char *text;        /* standard output and error in order; ends with NUL */
    size_t text_bytes;
};

/*
 * Run a command; its argument list ends in NULL. After `seconds` it is killed.
 * Its standard input is the descriptor `input`; /dev/null if that is negative.
 *
 * out:     *captured, to be freed with captured_free()
 * returns: false if no process can be made
 */
bool captured_run(struct captured *captured,
                  enum cli_exit (*command)(int argc, char **argv), char **argv,
                  int input, unsigned seconds);

/* Take over what was printed into the file `output`. returns: false: no memory
 */
bool captured_read(struct captured *captured, int output);
void captured_free(struct captured *captured);

#endif
