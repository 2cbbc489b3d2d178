/* progress_line.c -- see progress_line.h. */
#include "common/progress_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MINUTE_MS = 60000 };

bool
props_progress_line_due(struct props_progress_line *line, uint64_t took_ms)
{
    if (isatty(STDERR_FILENO) != 0)
        return true;
    if (line->next_ms == 0)
        line->next_ms = MINUTE_MS;
    if (took_ms < line->next_ms)
        return false;
    line->next_ms = took_ms - took_ms % MINUTE_MS + MINUTE_MS;
    return true;
}

void
props_progress_line_show(struct props_progress_line *line, const char *format,
                         ...)
{
    char text[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    line->shown = isatty(STDERR_FILENO) != 0;
    fprintf(stderr, line->shown ? "\r%-79s" : "%s\n", text);
}

void
props_progress_line_hide(struct props_progress_line *line)
{
    if (line->shown)
        fprintf(stderr, "\r%79s\r", "");
    line->shown = false;
}
