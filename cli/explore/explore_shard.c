/* explore_shard.c -- see explore_shard.h. */
#include "explore_shard.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complaint.h"
#include "explore_result.h"
#include "prof/version.h"
#include "result_path.h"

static char result_path[PATH_MAX];
static char checkpoint_path[PATH_MAX + 16];

/* Fill in what the execution graphs depend on. */
static bool
begin_result(const struct cli_explore_words *w, struct cli_explored *e)
{
    const struct sim_run_options *run = &w->run;
    int bytes;

    e->shard = w->shard;
    snprintf(e->version, sizeof e->version, "%s", PROF_VERSION);
    bytes = snprintf(e->asked, sizeof e->asked, "explore %s", w->kernel);
    if (w->bound_given)
        bytes += snprintf(&e->asked[bytes], 40, " --bound %" PRIu32,
                          run->preemptions_max);
    if (run->unroll != 0)
        bytes +=
            snprintf(&e->asked[bytes], 40, " --unroll %" PRIu32, run->unroll);
    if (run->spurious_max != 0)
        snprintf(&e->asked[bytes], 40, " --spurious %" PRIu32,
                 run->spurious_max);
    return cli_program_id(e->program);
}

/* May the file be replaced? Only if it is an older result of the same search.
 */
static bool
may_replace(const struct cli_explored *mine)
{
    struct cli_explored old;
    struct stat like;
    bool same;

    if (lstat(result_path, &like) != 0 && errno == ENOENT)
        return true;
    if (!cli_explored_read(&old, result_path))
        return false;
    same = strcmp(old.version, mine->version) == 0 &&
           strcmp(old.program, mine->program) == 0 &&
           strcmp(old.asked, mine->asked) == 0 &&
           old.shard.index == mine->shard.index &&
           old.shard.count == mine->shard.count;
    cli_explored_free(&old);
    return same || cli_complain("%s: it is the result of another search, shard "
                                "or build; write another file",
                                result_path);
}

bool
cli_explore_shard_begin(struct cli_explore_words *w)
{
    struct cli_explored mine;

    if (strlen(w->kernel) > 128)
        return cli_complain("--result: the name is too long");
    if (!cli_result_path(w->result, w->shard, result_path,
                         sizeof result_path) ||
        !begin_result(w, &mine) || !may_replace(&mine))
        return false;
    w->shards_whole = cli_explored_learn(&mine, result_path);
    w->result = result_path;
    if (w->checkpoint == NULL) {
        snprintf(checkpoint_path, sizeof checkpoint_path, "%s.checkpoint",
                 result_path);
        w->checkpoint = checkpoint_path;
    }
    return true;
}

static char *
list_of(const struct sim_exhaust_result *r)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = cli_need(open_memstream(&text, &bytes));

    fputs(r->options.reduced ? "g" : "", file);
    for (uint32_t i = 0; i < r->choices_count; i++)
        fprintf(file, "%s%" PRIu32, i == 0 ? "" : ",", r->choices[i].value);
    cli_need(fclose(file) == 0 ? text : NULL);
    if (bytes < CLI_EXPLORED_LIST)
        return text;
    free(text);
    return NULL;
}

enum cli_exit
cli_explore_shard_end(const struct cli_explore_words *w,
                      const struct sim_exhaust_result *r, uint64_t spent_ms,
                      enum cli_exit exit_code)
{
    struct cli_explored e;
    const char *reason;

    if (w->result == NULL || exit_code == CLI_USAGE ||
        exit_code == CLI_INCOMPLETE)
        return exit_code;
    if (!begin_result(w, &e))
        return CLI_USAGE;
    e.spent_ms = spent_ms;
    e.depth = r->shard_depth;
    e.loops_count = sim_explore_loops(e.loops);
    e.runs = r->runs;
    e.graphs = r->graphs;
    e.graphs_sum = r->graphs_sum;
    e.bounded = r->bounded;
    e.exit_code = exit_code;
    e.choices = r->failures > 0 ? list_of(r) : NULL;
    reason = cli_explored_write(&e, w->result);
    cli_explored_free(&e);
    return reason == NULL ? exit_code : cli_usage("%s: %s", w->result, reason);
}
