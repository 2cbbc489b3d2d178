/* progress_line.h -- the progress of long work, on standard error: on a
 * terminal, one line that is rewritten; elsewhere, as in the log of a CI job,
 * one line per minute. */
#ifndef COMMON_PROGRESS_LINE_H
#define COMMON_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* The state of the line. Begin with {0}. */
struct props_progress_line {
    uint64_t next_ms; /* when a log gets its next line */
    bool shown;       /* a line is on the terminal */
};

/* Is it time for a line? in: took_ms, since the work began */
bool props_progress_line_due(struct props_progress_line *line,
                             uint64_t took_ms);

/* Show a line that is due. in: format and what follows, as for printf, without
 * a newline */
void props_progress_line_show(struct props_progress_line *line,
                              const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Remove the line from the terminal. */
void props_progress_line_hide(struct props_progress_line *line);

#endif
