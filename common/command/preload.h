/*
 * preload.h -- run a command with a library of ours preloaded.
 */
#ifndef COMMON_COMMAND_PRELOAD_H
#define COMMON_COMMAND_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/command/exit.h"

struct cli_preload {
    const char *verb;     /* "record": for messages */
    const char *library;  /* file name */
    const char *variable; /* of the environment: overrides the path */
    void (*set_environment)(void *context); /* in the child */
    void *context;
};

/*
 * Find the library: in the place that its environment variable names, in this
 * program's folder (as built), or in ../lib or ../lib/profsim (as installed).
 *
 * returns: false, reported
 */
bool cli_preload_find(char *path, size_t path_bytes,
                      const struct cli_preload *preload);

/* The command is started as profsim was: with SIGCHLD ignored, or not. */
extern bool cli_preload_ignores_children;

/* Put a library first in LD_PRELOAD. context: in the child */
void cli_preload_add(const char *path);

/*
 * Run the command until it ends. It keeps its stdio. This process ignores ^C,
 * which the command also gets, and passes SIGTERM and SIGHUP on to it. Signals
 * stay blocked until cli_preload_let_go().
 *
 * out:     *status, as of waitpid(), if it was run
 * in:      path, of cli_preload_find()
 * returns: CLI_OK if it was run, however it ended; else why not, reported
 */
enum cli_exit cli_preload_run(const struct cli_preload *preload,
                              const char *path, char **command, int *status);
void cli_preload_let_go(void);

/* The command has ended: all of these but SIGPIPE may end this process. */
void cli_preload_ended(void);

/*
 * The library has written nothing: try to write a small file in its folder.
 *
 * in:      bytes_count, up to 65536, as many as the library needs at first
 * returns: why it cannot be written; NULL if it can
 */
const char *cli_preload_obstacle(const char *folder, size_t bytes_count);

/* Print how the command ended: it is not seen by our exit code. */
void cli_preload_report_end(const struct cli_preload *preload, int status);

/*
 * End as the command did: our parent sees its code or its signal.
 *
 * returns: its exit code, or 128 and the signal if the signal does not end this
 *          process (process 1 of a container is not ended by its own signals)
 */
enum cli_exit cli_preload_end_as(int status);

#endif
