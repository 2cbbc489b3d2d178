/* rows_read.c -- rows from a file, line by line (rows.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "line_reader.h"
#include "rows.h"

void
cli_rows_free(struct cli_rows *rows)
{
    for (uint32_t i = 0; rows->rows != NULL && i < rows->count; i++)
        free(rows->rows[i].text);
    free(rows->rows);
    rows->rows = NULL;
}

/* What a result may ask for: the words of `begin`, then words that begin with
 * one of `more`. */
static const struct {
    const char *begin;
    const char *more[2]; /* "": a plain name */
} forms[] = {
    {"mutants --memory-order", {"", NULL}},
    {"audit --judge", {"--rate=", "--rules="}},
    {"make mutants", {NULL, NULL}},
    {"make fuzz", {"TIME=", "ENGINE="}},
    {"make soak", {"TIME=", NULL}},
};

/* Does a word have only characters that a shell, make and the file system take
 * literally? */
static bool
is_plain(const char *word)
{
    return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.,-") == strlen(word);
}

static bool
may_follow(const char *word, const char *const more[2])
{
    for (int i = 0; i < 2 && more[i] != NULL; i++) {
        const size_t bytes = strlen(more[i]);

        if (strncmp(word, more[i], bytes) == 0 && is_plain(&word[bytes]) &&
            (bytes > 0 || *word != '-'))
            return true;
    }
    return false;
}

bool
cli_rows_may_ask(const char *asked)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const size_t bytes = strlen(forms[i].begin);
        char rest[CLI_ROWS_ASKED];
        char *at = NULL;
        bool good = true;

        if (strncmp(asked, forms[i].begin, bytes) != 0 ||
            (asked[bytes] != '\0' && asked[bytes] != ' '))
            continue;
        snprintf(rest, sizeof rest, "%s", &asked[bytes]);
        for (char *word = strtok_r(rest, " ", &at); word != NULL;
             word = strtok_r(NULL, " ", &at))
            good = good && may_follow(word, forms[i].more);
        return good;
    }
    return false;
}

static bool
take_items(struct cli_reader *r, struct cli_rows *rows)
{
    uint64_t count;

    if (!cli_reader_line_number(r, "items ", &count))
        return false;
    if (rows->shard.count == 0)
        return cli_reader_wrong(r, "rows of no shard");
    if (count > CLI_ROWS_MAX)
        return cli_reader_wrong(r, "too many items");
    rows->rows = calloc((size_t)count + 1, sizeof *rows->rows);
    if (rows->rows == NULL)
        return cli_reader_wrong(r, "not enough memory");
    rows->count = (uint32_t)count;
    return cli_reader_next(r);
}

/* Read the rows of this shard, in order, up to the last line. */
static bool
take_rows(struct cli_reader *r, struct cli_rows *rows)
{
    uint64_t from = 0;

    while (cli_reader_skip(r, "row ")) {
        uint64_t item;
        uint64_t code;
        uint64_t bytes;

        if (!cli_reader_number(r, CLI_ROWS_MAX, &item) ||
            !cli_reader_skip(r, " exit ") ||
            !cli_reader_number(r, CLI_NONDETERMINISM, &code) ||
            code == CLI_USAGE || !cli_reader_skip(r, " bytes ") ||
            !cli_reader_number(r, CLI_ROW_BYTES - 1, &bytes) || *r->at != '\0')
            return cli_reader_wrong(r, "not a row");
        if (item < from || item >= rows->count ||
            item % rows->shard.count != rows->shard.index - 1)
            return cli_reader_wrong(r, "the row is not its shard's");
        from = item + 1;
        rows->rows[item].exit_code = (enum cli_exit)code;
        rows->rows[item].text = cli_reader_lines(r, bytes);
        if (rows->rows[item].text == NULL || !cli_reader_next(r))
            return false;
    }
    return true;
}

bool
cli_rows_read(struct cli_rows *rows, const char *path)
{
    struct cli_reader r;
    bool good;

    memset(rows, 0, sizeof *rows);
    if (!cli_reader_open(&r, path, CLI_ROWS_FIRST))
        return false;
    good =
        cli_reader_line_text(&r, "version ", rows->version,
                             sizeof rows->version) &&
        cli_reader_line_text(&r, "program ", rows->program,
                             sizeof rows->program) &&
        cli_reader_line_text(&r, "asked ", rows->asked, sizeof rows->asked) &&
        cli_reader_line_shard(&r, &rows->shard) &&
        cli_reader_line_number(&r, "spent ", &rows->spent_ms) &&
        cli_reader_line_hash(&r, "list ", &rows->list) &&
        take_items(&r, rows) && take_rows(&r, rows) && cli_reader_end(&r);
    cli_reader_close(&r);
    if (!good)
        cli_rows_free(rows);
    return good;
}

bool
cli_rows_fit(const struct cli_rows *a, const struct cli_rows *b,
             const char *path)
{
    const char *what = NULL;

    if (strcmp(a->version, b->version) != 0)
        what = "version";
    else if (strcmp(a->program, b->program) != 0)
        what = "build";
    else if (strcmp(a->asked, b->asked) != 0)
        what = "command";
    else if (a->shard.count != b->shard.count)
        what = "number of shards";
    else if (a->list != b->list || a->count != b->count)
        what = "list";
    return what == NULL || cli_complain("%s: it has another %s", path, what);
}
