/*
 * merge.h -- `profsim merge DIR`: adds up the results of shards.
 *
 *      DIR/shard-1-of-3.result --> add() --\
 *      DIR/shard-3-of-3.result --> add() ----> end(): what one process would
 *      (shard 2 is missing)                    print, and how to run shard 2
 *
 * Each kind of command adds and ends in its own way (check_merge.c,
 * explore_merge.c, mutants_merge.c). No file is changed.
 */
#ifndef COMMON_SHARD_MERGE_H
#define COMMON_SHARD_MERGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/report/report.h"
#include "common/shard/shard_file.h"

struct cli_merge {
    struct cli_shard_file first; /* all have its command and shards */
    const char **paths;          /* by shard; NULL: there is no file */
    bool *is_done;               /* by shard: its file is all of it */
    const char *folder;
    const char *save; /* where failures are saved; NULL: where check does */
    struct cli_report *report;
};

enum cli_exit cli_merge(int argc, char **argv);

/* Print the command, with `more` behind its options. */
void cli_merge_print(FILE *file, const struct cli_merge *merge,
                     const char *more);

/* Print which shards are missing or not done, and the command that runs just
 * these. returns: how many there are */
uint32_t cli_merge_missing(const struct cli_merge *merge);

/* Add a file; the first is merge->first. returns: false, and a complaint */
typedef bool cli_merge_add(struct cli_merge *merge,
                           struct cli_shard_file *file);
/* All are added. returns: the exit code of the whole command */
typedef enum cli_exit cli_merge_end(struct cli_merge *merge);
/* Release what was added, whether it ended well or not. */
typedef void cli_merge_free(struct cli_merge *merge);

cli_merge_add cli_check_merge_add, cli_explore_merge_add, cli_mutants_merge_add;
cli_merge_end cli_check_merge_end, cli_explore_merge_end, cli_mutants_merge_end;
cli_merge_free cli_explore_merge_free, cli_mutants_merge_free;

#endif
