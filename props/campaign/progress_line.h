/* progress_line.h -- the progress of long work, on standard error: on a
 * terminal, one line that is rewritten; elsewhere, as in the log of a CI job,
 * one line per minute. */
#ifndef PROPS_PROGRESS_LINE_H
#define PROPS_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero before the first line. */
struct props_progress_line {
    uint64_t next_ms; /* when a log gets its next line */
    bool shown;       /* a line stands on the terminal */
};

/* returns: would a line be shown now? in: took_ms, since the work began */
bool props_progress_line_due(struct props_progress_line *line,
                             uint64_t took_ms);

/* Show a line that is due; printf's rules, without an end of line. */
void props_progress_line_show(struct props_progress_line *line,
                              const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Take the line off the terminal. */
void props_progress_line_hide(struct props_progress_line *line);

#endif
