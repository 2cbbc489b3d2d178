/* mutants_merge.c -- puts the rows of shards together (merge.h). */
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/shard/merge.h"
#include "explore/command/mutant_rows.h"

static struct cli_mutants *shards; /* by number */

bool
cli_mutants_merge_add(struct cli_merge *merge, struct cli_shard_file *file)
{
    struct cli_mutants *rows;

    if (file == &merge->first)
        shards = cli_need(calloc(file->shard.count, sizeof *shards));
    rows = &shards[file->shard.index - 1];
    cli_mutants_pass(file, rows);
    merge->is_done[file->shard.index - 1] = rows->is_done != 0;
    return !file->wrong;
}

static bool
is_table(const struct cli_merge *merge)
{
    char **word = merge->first.words;

    while (*word != NULL && strcmp(*word, "--") != 0 &&
           strcmp(*word, "--csv") != 0)
        word++;
    return *word != NULL && strcmp(*word, "--csv") == 0;
}

/* Print the rows in their order: row 0 of each shard, then row 1 ... */
enum cli_exit
cli_mutants_merge_end(struct cli_merge *merge)
{
    const uint32_t shards_count = merge->first.shard.count;
    const bool csv = is_table(merge);
    uint64_t count = 0;
    uint64_t noticed = 0;
    uint64_t seen = 1;

    cli_mutants_head(csv);
    for (uint64_t row = 0; seen > 0; row++) {
        seen = 0;
        for (uint32_t i = 0; i < shards_count; i++) {
            if (row >= shards[i].count)
                continue;
            seen++;
            noticed += shards[i].rows[row].kernel != NULL;
            cli_mutant_print(&shards[i].rows[row], csv, merge->report);
        }
        count += seen;
    }
    if (cli_merge_missing(merge) > 0)
        return CLI_INCOMPLETE;
    if (!csv)
        cli_mutants_total(noticed, count);
    return CLI_OK;
}

void
cli_mutants_merge_free(struct cli_merge *merge)
{
    for (uint32_t i = 0; shards != NULL && i < merge->first.shard.count; i++)
        cli_mutants_free(&shards[i]);
    free(shards);
    shards = NULL;
}
