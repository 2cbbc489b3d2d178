/* explore_shard.c -- see explore_shard.h. */
#include "explore/command/explore_shard.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"

static struct cli_shard_file mine;
static char result_path[PATH_MAX];
static char checkpoint_path[PATH_MAX + 16];

/* ---- The file ---- */

static void
pass(struct cli_shard_file *file, struct cli_explored *e)
{
    cli_shard_pass(file, &e->elapsed_ms, "spent");
    cli_shard_pass(file, &e->depth, "depth");
    cli_shard_pass(file, &e->loops_count, "loops");
    for (uint64_t i = 0; i < e->loops_count && i < SIM_LOOPS_MAX; i++)
        cli_shard_pass(file, &e->loops[i], "loop.%" PRIu64, i);
    cli_shard_pass(file, &e->runs, "runs");
    cli_shard_pass(file, &e->graphs, "graphs");
    cli_shard_pass(file, &e->graphs_sum, "hash");
    cli_shard_pass(file, &e->bounded, "bounded");
    cli_shard_pass(file, &e->exit_code, "exit");
    cli_shard_pass_text(file, &e->choices, "choices");
    cli_shard_pass_text(file, &e->strategy, "strategy");
    cli_shard_pass(file, &e->bound, "bound");
}

static bool
is_strategy(const char *text)
{
    bool is_known = false;

    for (uint32_t i = 0; i < SIM_STRATEGY_COUNT; i++)
        is_known |= strcmp(text, sim_strategy_text((enum sim_strategy)i)) == 0;
    return is_known;
}

bool
cli_explored_read(struct cli_explored *e, struct cli_shard_file *file)
{
    pass(file, e);
    cli_shard_claims(file, e->loops_count <= SIM_LOOPS_MAX, "too many loops");
    for (uint64_t i = 1; !file->wrong && i < e->loops_count; i++)
        cli_shard_claims(file, e->loops[i - 1] < e->loops[i],
                         "the loops are not in order");
    cli_shard_claims(file,
                     e->exit_code != CLI_USAGE &&
                         e->exit_code <= CLI_NONDETERMINISM &&
                         (e->exit_code != CLI_OK || e->choices == NULL),
                     "not the verdict of a finished shard");
    return cli_shard_claims(
        file,
        (e->choices == NULL ||
         strspn(e->choices, "0123456789,g") == strlen(e->choices)) &&
            (e->strategy == NULL || is_strategy(e->strategy)),
        "not the choices of a failure");
}

void
cli_explored_free(struct cli_explored *e)
{
    free(e->choices);
    free(e->strategy);
}

/* ---- Before the search ---- */

bool
cli_explore_shard_file(struct cli_shard_file *file,
                       const struct cli_explore_words *w, int argc,
                       char *const *argv, char *path, size_t room)
{
    static const char *const dropped[] = {"checkpoint", "time", "runs", NULL};

    return cli_shard_begin(file, w->shard, argc, argv, dropped, w->result, path,
                           room);
}

/* returns: has that shard found that the search cannot be split? */
static bool
learn_from(const char *path)
{
    struct cli_explored other;
    struct cli_shard_file file;
    bool whole = false;

    /* `merge` refuses what is not read here. */
    if (cli_shard_read(&file, path) &&
        cli_shard_difference(&mine, &file) == NULL &&
        cli_explored_read(&other, &file)) {
        for (uint64_t i = 0; i < other.loops_count; i++)
            sim_explore_learn_loop(other.loops[i]);
        whole = other.depth == 0;
        cli_explored_free(&other);
    }
    cli_shard_close(&file);
    return whole;
}

static bool
learn(void)
{
    const char *slash = strrchr(mine.path, '/');
    char folder[PATH_MAX] = ".";
    char **paths;
    bool whole = false;
    int count;

    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - mine.path),
                 mine.path);
    count = cli_shard_list(folder, &paths);
    for (int i = 0; i < count; i++)
        whole |= learn_from(paths[i]);
    if (count >= 0)
        cli_shard_list_free(paths, count);
    return whole;
}

bool
cli_explore_shard_begin(struct cli_explore_words *w, int argc,
                        char *const *argv)
{
    struct cli_shard_file old;
    bool exists;

    if (!cli_explore_shard_file(&mine, w, argc, argv, result_path,
                                sizeof result_path) ||
        !cli_shard_resume(&mine, &old, &exists))
        return false;
    if (exists)
        cli_shard_close(&old); /* to be replaced */
    w->shards_whole = learn();
    if (w->checkpoint == NULL) {
        snprintf(checkpoint_path, sizeof checkpoint_path, "%s.checkpoint",
                 result_path);
        w->checkpoint = checkpoint_path;
    }
    return true;
}

/* ---- After it ---- */

static char *
list_of(const struct sim_exhaust_result *r)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = cli_need(open_memstream(&text, &bytes));

    fputs(r->options.reduced ? "g" : "", file);
    for (uint32_t i = 0; i < r->choices_count; i++)
        fprintf(file, "%s%" PRIu32, i == 0 ? "" : ",", r->choices[i].value);
    if (r->choices_count == 0)
        fputc('0', file);
    cli_need(fclose(file) == 0 ? text : NULL);
    return text;
}

enum cli_exit
cli_explore_shard_end(const struct cli_explore_words *w,
                      const struct sim_exhaust_result *r, uint64_t elapsed_ms,
                      enum cli_exit exit_code)
{
    struct cli_explored e = {
        .elapsed_ms = elapsed_ms,
        .depth = r->shard_depth,
        .runs = r->runs,
        .graphs = r->graphs,
        .graphs_sum = r->graphs_sum,
        .bounded = r->bounded,
        .exit_code = exit_code,
    };

    if (w->result == NULL || exit_code == CLI_USAGE ||
        exit_code == CLI_INCOMPLETE)
        return exit_code;
    e.loops_count = sim_explore_loops(e.loops);
    if (r->failures > 0) {
        e.choices = list_of(r);
        if (r->found_by_sampling)
            e.strategy =
                cli_need(strdup(sim_strategy_text(r->options.strategy)));
        if (r->options.bounded)
            e.bound = (uint64_t)r->options.preemptions_max + 1;
    }
    cli_shard_write(&mine);
    pass(&mine, &e);
    cli_explored_free(&e);
    if (!cli_shard_written(&mine))
        exit_code = CLI_USAGE;
    cli_shard_close(&mine);
    return exit_code;
}
