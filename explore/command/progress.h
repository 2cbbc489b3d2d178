/* progress.h -- how far a search is, on standard error. */
#ifndef EXPLORE_COMMAND_PROGRESS_H
#define EXPLORE_COMMAND_PROGRESS_H

#include "common/progress_line.h"
#include "explore/engine/kernel_entry.h"

/* The state of the last line. */
struct cli_progress {
    const char *name; /* of the kernel that is searched */
    struct props_progress_line line;
};

/*
 * Show the progress: on a terminal, in one line that is rewritten; elsewhere,
 * in a new line each minute. To be set as sim_exhaust_options.progress.
 */
void cli_progress_show(void *context, const struct sim_progress *p);

/* Erase the line from the terminal. */
void cli_progress_hide(struct cli_progress *shown);

#endif
