/* progress.c -- see progress.h. */
#include "explore/command/progress.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT_BYTES = 160 };

static void
write_line(char *text, const char *name, const struct sim_progress *p)
{
    const uint64_t s = p->took_ms / 1000;
    int at = snprintf(text, TEXT_BYTES,
                      "%s: %" PRIu64 " runs, %" PRIu64 " graphs, %.1f %%, "
                      "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                      name, p->runs, p->graphs, 100 * p->share, s / 3600,
                      s / 60 % 60, s % 60);

    if (at < 0 || at >= TEXT_BYTES || p->left <= 0)
        return;
    snprintf(text + at, (size_t)(TEXT_BYTES - at),
             "; about %.2g runs left (standard error %.1g)", p->left,
             p->left_error);
}

void
cli_progress_show(void *context, const struct sim_progress *p)
{
    struct cli_progress *shown = context;
    char text[TEXT_BYTES];

    if (!props_progress_line_due(&shown->line, p->took_ms))
        return;
    write_line(text, shown->name, p);
    props_progress_line_show(&shown->line, "%s", text);
}

void
cli_progress_hide(struct cli_progress *shown)
{
    props_progress_line_hide(&shown->line);
}
