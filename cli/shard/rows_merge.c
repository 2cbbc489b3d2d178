/* rows_merge.c -- see rows_merge.h. */
#include "rows_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "escape.h"
#include "missing.h"
#include "rows.h"

struct merge {
    struct cli_rows whole;
    bool begun;
    bool repeats; /* an item always gives the same row */
    bool differs;
};

/* Take the list from the first file, which this same build must have
 * written. */
static bool
begin(struct merge *m, const struct cli_rows *r, const char *path)
{
    if (!cli_rows_may_ask(r->asked))
        return cli_complain("%s: 'asked %s' is not a command of profsim", path,
                            r->asked);
    m->begun =
        cli_rows_begin(&m->whole, r->asked, r->shard, NULL, r->list, r->count);
    m->repeats = strncmp(r->asked, "make fuzz", 9) != 0 &&
                 strncmp(r->asked, "make soak", 9) != 0;
    return m->begun;
}

static bool
is_same(const struct cli_row *a, const struct cli_row *b)
{
    return a->exit_code == b->exit_code && strcmp(a->text, b->text) == 0;
}

/* Choose between two rows of an item, independently of their order. */
static bool
is_before(const struct cli_row *a, const struct cli_row *b)
{
    if (a->exit_code != b->exit_code)
        return cli_exit_worse(a->exit_code, b->exit_code) == a->exit_code;
    return strcmp(a->text, b->text) < 0;
}

static void
add(struct merge *m, struct cli_rows *r, const char *path)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct cli_row *row = &r->rows[i];
        struct cli_row *old = &m->whole.rows[i];
        struct cli_row other = *old;

        if (row->text == NULL)
            continue;
        if (old->text != NULL && m->repeats && !is_same(old, row)) {
            sim_escape_line(
                stdout, "%s: item %" PRIu32 " is not what another file says",
                path, i);
            m->differs = true;
        }
        if (old->text != NULL && !is_before(row, old))
            continue;
        *old = *row;
        *row = other;
    }
}

static bool
is_missing(const void *context, uint32_t shard)
{
    const struct cli_rows *whole = context;

    for (uint32_t i = shard; i < whole->count; i += whole->shard.count) {
        if (whole->rows[i].text == NULL)
            return true;
    }
    return false;
}

/* Print a text of whole lines, each escaped. */
static void
print_lines(const char *text)
{
    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");

        sim_escape_line(stdout, "%.*s", (int)bytes, text);
        text += bytes + (text[bytes] == '\n');
    }
}

static enum cli_exit
tell(const struct merge *m, const char *folder, struct cli_report *report)
{
    const struct cli_rows *w = &m->whole;
    enum cli_exit worst = m->differs ? CLI_NONDETERMINISM : CLI_OK;
    uint32_t missing;

    for (uint32_t i = 0; i < w->count; i++) {
        const struct cli_row *row = &w->rows[i];
        struct cli_result *result;
        char name[32];

        if (row->text == NULL)
            continue;
        print_lines(row->text);
        worst = cli_exit_worse(worst, row->exit_code);
        snprintf(name, sizeof name, "item %" PRIu32, i);
        result = cli_report_add(report, w->asked, name,
                                cli_verdict_of(row->exit_code));
        if (row->exit_code != CLI_OK)
            cli_result_text(report, &result->text, "%s", row->text);
    }
    missing = cli_missing_tell(is_missing, w, w->shard.count, w->asked, folder);
    cli_rows_tell(w);
    return worst == CLI_OK && missing > 0 ? CLI_INCOMPLETE : worst;
}

enum cli_exit
cli_rows_merge(char *const *paths, uint32_t paths_count, const char *folder,
               struct cli_report *report)
{
    static struct merge m;
    enum cli_exit exit_code = CLI_OK;

    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < paths_count; i++) {
        struct cli_rows r;

        if (!cli_rows_read(&r, paths[i])) {
            exit_code = CLI_USAGE;
            continue;
        }
        if ((m.begun || begin(&m, &r, paths[i])) &&
            cli_rows_fit(&m.whole, &r, paths[i]))
            add(&m, &r, paths[i]);
        else
            exit_code = CLI_USAGE;
        cli_rows_free(&r);
    }
    if (exit_code == CLI_OK)
        exit_code = tell(&m, folder, report);
    cli_rows_free(&m.whole);
    return exit_code;
}
