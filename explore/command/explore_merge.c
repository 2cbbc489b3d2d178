/* explore_merge.c -- adds up the shards of an exhaustive search (merge.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "explore/command/explore_shard.h"
#include "common/shard/merge.h"

static struct cli_explored *shards; /* by number */

bool
cli_explore_merge_add(struct cli_merge *merge, struct cli_shard_file *file)
{
    const uint32_t i = file->shard.index - 1;

    if (file == &merge->first)
        shards = cli_need(calloc(file->shard.count, sizeof *shards));
    merge->is_done[i] = cli_explored_read(&shards[i], file);
    return merge->is_done[i];
}

/* ---- What the shards have learned ---- */

/* returns: the shard that knows most of the program: that the search cannot be
 * split, or most wait loops */
static const struct cli_explored *
find_wisest(const struct cli_merge *merge)
{
    const struct cli_explored *wisest = NULL;

    for (uint32_t i = 0; i < merge->first.shard.count; i++) {
        const struct cli_explored *e = &shards[i];

        if (merge->is_done[i] &&
            (wisest == NULL ||
             (e->depth == 0 ? wisest->depth != 0 || e->graphs > 0
                            : wisest->depth != 0 &&
                                  e->loops_count > wisest->loops_count)))
            wisest = e;
    }
    return wisest;
}

/* Has the shard searched the right lists? Else it begins again, and learns of
 * the others. If they know different loops, the wisest begins again then. */
static bool
is_up_to_date(const struct cli_explored *wisest, const struct cli_explored *e)
{
    if (e->exit_code != CLI_OK || (e->depth == 0 && e->graphs == 0))
        return e->exit_code != CLI_OK || wisest->depth == 0;
    return e->depth == wisest->depth && e->loops_count == wisest->loops_count &&
           memcmp(e->loops, wisest->loops, e->loops_count * sizeof *e->loops) ==
               0;
}

/* Add up the shards. One that knows less than others is missing. out: *worst,
 * the shard of the worst failure */
static void
add_up(struct cli_merge *merge, struct cli_explored *whole, uint32_t *worst)
{
    const struct cli_explored *wisest = find_wisest(merge);

    for (uint32_t i = 0; i < merge->first.shard.count; i++) {
        const struct cli_explored *e = &shards[i];
        const enum cli_exit code = (enum cli_exit)e->exit_code;

        if (merge->is_done[i] && !is_up_to_date(wisest, e)) {
            merge->is_done[i] = false;
            sim_escape_line(stdout,
                            "%s: other shards have learned more of the "
                            "program: this one begins again",
                            merge->paths[i]);
        }
        if (!merge->is_done[i])
            continue;
        whole->runs += e->runs;
        whole->graphs += e->graphs;
        whole->graphs_sum += e->graphs_sum;
        whole->bounded += e->bounded;
        if (cli_exit_worse((enum cli_exit)whole->exit_code, code) !=
            (enum cli_exit)whole->exit_code) {
            whole->exit_code = code;
            whole->choices = e->choices;
            whole->strategy = e->strategy;
            whole->bound = e->bound;
            *worst = i;
        }
    }
}

/* ---- The result ---- */

/* Print the failure, and the command that runs it again: merge itself neither
 * builds nor runs a program. */
static void
print_failure(const struct cli_merge *merge, const struct cli_explored *e,
              const char *path)
{
    char *more = NULL;
    size_t bytes = 0;
    FILE *file = cli_need(open_memstream(&more, &bytes));

    if (e->strategy != NULL)
        fprintf(file, " --strategy %s", e->strategy);
    if (e->bound != 0)
        fprintf(file, " --bound %" PRIu64, e->bound - 1);
    if (e->choices != NULL)
        fprintf(file, " --replay %s", e->choices);
    cli_need(fclose(file) == 0 ? more : NULL);
    sim_escape_line(stdout, "%s: a failure, which was not run again", path);
    fputs("replay: profsim ", stdout);
    cli_merge_print(stdout, merge, more);
    putchar('\n');
    free(more);
}

/* returns: the kernel or the first source; "program": there is none */
static const char *
kernel_of(char *const *words)
{
    while (*++words != NULL && strcmp(*words, "--") != 0) {
        if (**words != '-' && strspn(*words, "0123456789") != strlen(*words))
            return *words;
    }
    return "program";
}

enum cli_exit
cli_explore_merge_end(struct cli_merge *merge)
{
    struct cli_explored whole = {.exit_code = CLI_OK};
    struct cli_result *result;
    uint32_t worst = 0;
    enum cli_exit exit_code;
    bool missing;

    add_up(merge, &whole, &worst);
    exit_code = (enum cli_exit)whole.exit_code;
    missing = cli_merge_missing(merge) > 0;
    if (exit_code == CLI_OK && (missing || whole.graphs == 0))
        exit_code = CLI_INCOMPLETE;
    cli_merge_print(stdout, merge, "");
    printf(": %" PRIu64 " runs, %" PRIu64 " graphs, log hash %016" PRIx64
           ", %s\n",
           whole.runs, whole.graphs, whole.graphs_sum,
           missing                       ? "not finished"
           : exit_code == CLI_INCOMPLETE ? "no run comes to its end"
           : exit_code != CLI_OK         ? "fails"
           : whole.bounded > 0           ? "holds, waits to a bound"
                                         : "holds");
    if (whole.exit_code != CLI_OK)
        print_failure(merge, &whole, merge->paths[worst]);
    result = cli_report_add(
        merge->report, "kernels", kernel_of(merge->first.words),
        exit_code == CLI_OK && whole.bounded > 0 ? CLI_VERDICT_BOUNDED
                                                 : cli_verdict_of(exit_code));
    cli_result_count(result, "runs", whole.runs);
    cli_result_count(result, "graphs", whole.graphs);
    return exit_code;
}

void
cli_explore_merge_free(struct cli_merge *merge)
{
    for (uint32_t i = 0; shards != NULL && i < merge->first.shard.count; i++)
        cli_explored_free(&shards[i]);
    free(shards);
    shards = NULL;
}
