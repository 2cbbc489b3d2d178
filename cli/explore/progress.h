/* progress.h -- how far a search is, on standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry.h"

/* Where the latest line stands. */
struct cli_progress {
    const char *name; /* of what is searched */
    uint64_t next_ms; /* when a log gets its next line */
    bool shown;       /* a line stands on the terminal */
};

/*
 * Show it: on a terminal, on one line again and again; else a line a minute.
 * For sim_exhaust_options.progress.
 */
void cli_progress_show(void *context, const struct sim_progress *p);

/* Take the line off the terminal. */
void cli_progress_hide(struct cli_progress *shown);

#endif
