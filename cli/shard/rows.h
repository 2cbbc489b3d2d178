/*
 * rows.h -- the result file of a shard that judges items one by one: weaker
 * memory orders, rule sets or commands. Each item has a row with its exit code
 * and what it printed (docs/scale.md).
 *
 *      items  0 1 2 3 4 5 ...     shard I of N has each N-th from the I-th on
 *
 * Every shard knows the whole list. A hash of the names in it shows whether two
 * shards have the same list.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exit.h"
#include "program_id.h"
#include "shard.h"

#define CLI_ROWS_FIRST "profsim result 1 rows"
#define CLI_ROWS_HELP                                          \
    "write the results to FILE, row by row, and resume from\n" \
    "it; if FILE ends in /, it is a folder, and the file in\n" \
    "it is named after the shard"

enum {
    CLI_ROWS_MAX = 65536,
    CLI_ROWS_ASKED = 512,    /* bytes */
    CLI_ROW_BYTES = 2048,    /* of a text; the end of a longer one is kept */
    CLI_ROWS_BYTES = 1 << 18 /* of all texts of a shard */
};

struct cli_row {
    char *text; /* malloc'd, whole lines; NULL: the item is not done */
    enum cli_exit exit_code;
};

struct cli_rows {
    char version[32];
    char program[CLI_PROGRAM_ID_BYTES];
    char asked[CLI_ROWS_ASKED]; /* the command's words without the shard */
    struct cli_shard shard;
    uint64_t list;  /* hash of the items' names */
    uint32_t count; /* items of all shards */
    uint64_t spent_ms;
    struct cli_row *rows; /* by item */
    const char *path;     /* NULL: no file is written */
    uint64_t written_ms;
    uint64_t begun_ms;
};

/* Add a name to the hash of a list, which begins as 0. */
void cli_rows_name(uint64_t *list, const char *name);

/*
 * Begin a shard, or continue from its file.
 *
 * in:      asked, words of a form that cli_rows_may_ask() knows
 *          shard; count 0 means shard 1 of 1
 *          path, which must stay valid; NULL: no file
 *          list, count: the items
 * out:     *rows, to be ended if true
 * returns: false, and a complaint
 */
bool cli_rows_begin(struct cli_rows *rows, const char *asked,
                    struct cli_shard shard, const char *path, uint64_t list,
                    uint32_t count);

/* returns: does the item belong to this shard, and is it still to do? */
bool cli_rows_wants(const struct cli_rows *rows, uint32_t item);

/*
 * Store the row of an item. Write the file if the last write was a second or
 * more ago.
 *
 * returns: false, and a complaint
 */
bool cli_rows_add(struct cli_rows *rows, uint32_t item, enum cli_exit exit_code,
                  const char *text);

/*
 * Write the file. Print the number of rows, and the sum of their hashes.
 *
 * returns: the worst exit code; CLI_INCOMPLETE if items of the shard are left;
 *          CLI_USAGE after a complaint
 */
enum cli_exit cli_rows_end(struct cli_rows *rows);

void cli_rows_free(struct cli_rows *rows);

/* Print how many rows there are, and the sum of their hashes. */
void cli_rows_tell(const struct cli_rows *rows);

/* returns: does the command run only lists that are part of profsim? */
bool cli_rows_may_ask(const char *asked);

/*
 * Read a file that anybody may have written.
 *
 * out:     *rows, to be freed, if true
 * returns: false, after a complaint
 */
bool cli_rows_read(struct cli_rows *rows, const char *path);

/*
 * Check that both results are of the same list.
 *
 * in:      path, of b
 * returns: false, and a complaint
 */
bool cli_rows_fit(const struct cli_rows *a, const struct cli_rows *b,
                  const char *path);

#endif
