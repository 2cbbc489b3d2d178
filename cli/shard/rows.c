/* rows.c -- see rows.h; docs/scale.md has the format. */
#include "rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "complaint.h"
#include "line_writer.h"
#include "prof/version.h"

enum { WRITE_MS = 1000 };

void
cli_rows_name(uint64_t *list, const char *name)
{
    *list = XXH3_64bits_withSeed(name, strlen(name), *list);
}

void
cli_rows_tell(const struct cli_rows *rows)
{
    uint64_t hash = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cli_row *row = &rows->rows[i];

        if (row->text == NULL)
            continue;
        done++;
        hash += XXH3_64bits_withSeed(row->text, strlen(row->text),
                                     (uint64_t)i * 8 + row->exit_code);
    }
    printf("%s: %" PRIu32 " of %" PRIu32 " rows, log hash %016" PRIx64 "\n",
           rows->asked, done, rows->count, hash);
}

/* ---- Writing ---- */

static void
print_rows(FILE *file, const void *value)
{
    const struct cli_rows *const r = value;

    fprintf(file,
            CLI_ROWS_FIRST "\nversion %s\nprogram %s\nasked %s\nshard %" PRIu32
                           "/%" PRIu32 "\nspent %" PRIu64 "\nlist %016" PRIx64
                           "\nitems %" PRIu32 "\n",
            r->version, r->program, r->asked, r->shard.index, r->shard.count,
            r->spent_ms, r->list, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct cli_row *row = &r->rows[i];

        if (row->text != NULL)
            fprintf(file, "row %" PRIu32 " exit %d bytes %zu\n%s", i,
                    (int)row->exit_code, strlen(row->text), row->text);
    }
}

/* returns: false, and a complaint, if the file was not changed */
static bool
write_rows(struct cli_rows *rows)
{
    const uint64_t now = cli_now_ms();
    const char *reason;

    rows->spent_ms += now - rows->begun_ms;
    rows->begun_ms = rows->written_ms = now;
    if (rows->path == NULL)
        return true;
    reason = cli_lines_write(rows->path, print_rows, rows);
    return reason == NULL || cli_complain("%s: %s", rows->path, reason);
}

/* ---- A shard ---- */

/* Take over the rows of the file. returns: false, and a complaint */
static bool
go_on(struct cli_rows *rows)
{
    struct cli_rows found;
    struct stat like;
    uint32_t done = 0;

    if (rows->path == NULL ||
        (lstat(rows->path, &like) != 0 && errno == ENOENT))
        return true;
    if (!cli_rows_read(&found, rows->path))
        return false;
    if (!cli_rows_fit(rows, &found, rows->path) ||
        (found.shard.index != rows->shard.index &&
         !cli_complain("%s: it belongs to shard %" PRIu32, rows->path,
                       found.shard.index))) {
        cli_rows_free(&found);
        return false;
    }
    free(rows->rows);
    rows->rows = found.rows;
    rows->spent_ms = found.spent_ms;
    for (uint32_t i = 0; i < rows->count; i++)
        done += rows->rows[i].text != NULL;
    fprintf(stderr, "%s: continues after %" PRIu32 " rows\n", rows->path, done);
    return true;
}

bool
cli_rows_begin(struct cli_rows *rows, const char *asked, struct cli_shard shard,
               const char *path, uint64_t list, uint32_t count)
{
    *rows = (struct cli_rows){
        .shard = shard.count != 0 ? shard : (struct cli_shard){1, 1},
        .list = list,
        .count = count,
        .path = path,
        .begun_ms = cli_now_ms(),
    };
    if (count == 0 || count > CLI_ROWS_MAX)
        return cli_complain("a list has 1 to %d items, not %" PRIu32,
                            CLI_ROWS_MAX, count);
    if (!cli_rows_may_ask(asked) || strlen(asked) >= sizeof rows->asked)
        return cli_complain("--asked takes a command that merge can repeat, "
                            "not '%s'",
                            asked);
    snprintf(rows->version, sizeof rows->version, "%s", PROF_VERSION);
    snprintf(rows->asked, sizeof rows->asked, "%s", asked);
    rows->rows = calloc((size_t)count + 1, sizeof *rows->rows);
    if (rows->rows == NULL)
        return cli_complain("not enough memory");
    if (cli_program_id(rows->program) && go_on(rows) && write_rows(rows))
        return true;
    cli_rows_free(rows);
    return false;
}

static bool
is_own(const struct cli_rows *rows, uint32_t item)
{
    return item % rows->shard.count == rows->shard.index - 1;
}

bool
cli_rows_wants(const struct cli_rows *rows, uint32_t item)
{
    return is_own(rows, item) && rows->rows[item].text == NULL;
}

/* returns: the end of a text, as whole lines */
static char *
last_lines(const char *text)
{
    const size_t bytes = strlen(text);
    char *copy = NULL;

    if (bytes + 1 >= CLI_ROW_BYTES) {
        const char *from = text + bytes + 2 - CLI_ROW_BYTES;
        const char *newline = strchr(from, '\n');

        text = newline != NULL && newline[1] != '\0' ? newline + 1 : from;
    }
    if (asprintf(&copy, "%s%s", text,
                 *text != '\0' && text[strlen(text) - 1] != '\n' ? "\n" : "") <
        0)
        return NULL;
    return copy;
}

bool
cli_rows_add(struct cli_rows *rows, uint32_t item, enum cli_exit exit_code,
             const char *text)
{
    char *copy = last_lines(text);
    size_t bytes = 0;

    if (copy == NULL)
        return cli_complain("not enough memory");
    rows->rows[item] = (struct cli_row){copy, exit_code};
    for (uint32_t i = 0; i < rows->count; i++)
        bytes += rows->rows[i].text != NULL ? strlen(rows->rows[i].text) : 0;
    if (bytes > CLI_ROWS_BYTES)
        return cli_complain("a result holds %d bytes of rows; take more shards",
                            CLI_ROWS_BYTES);
    if (cli_now_ms() - rows->written_ms >= WRITE_MS)
        return write_rows(rows);
    return true;
}

enum cli_exit
cli_rows_end(struct cli_rows *rows)
{
    enum cli_exit worst = CLI_OK;

    if (!write_rows(rows))
        return CLI_USAGE;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!is_own(rows, i))
            continue;
        worst = cli_exit_worse(worst, rows->rows[i].text != NULL
                                          ? rows->rows[i].exit_code
                                          : CLI_INCOMPLETE);
    }
    cli_rows_tell(rows);
    return worst;
}
