/*
 * exhaust.c -- exhaustive search: in this process, or in several.
 */
#include "explore/search/search_control.h"
#include "explore/engine/engine.h"
#include "explore/engine/need.h"
#include "explore/search/shard_plan.h"

#include <stdlib.h>
#include <string.h>

static double
share_of(struct engine *e, const struct sim_control *c)
{
    double sum;
    double *done = sim_need(calloc(c->frontier.parts_count + 1, sizeof *done));

    if (c->part != SIM_NO_PART)
        done[c->part] = sim_search_share(e, c->search);
    sum = sim_frontier_share(&c->frontier, done);
    free(done);
    return sum;
}

static bool
pause_here(struct sim_search *s)
{
    struct engine *e = &sim_engine;
    struct sim_control *c = s->context;
    const uint64_t runs = s->result->runs;

    if (e->late)
        return c->late = true;
    if (c->options->runs_max != 0 && runs >= c->options->runs_max) {
        c->late = true;
        return true;
    }
    if (runs % 32 != 0 || sim_control_now_us() < c->look_us)
        return false;
    sim_control_look(c, runs, s->result->graphs, share_of(e, c));
    return c->late || (c->hand_out && c->options->jobs > 1) ||
           sim_control_file_is_due(c);
}

/* in: f, the frontier or a copy of it */
static void
split_for(struct engine *e, const struct sim_control *c, struct sim_frontier *f)
{
    const uint32_t from = c->search->base;
    const uint32_t to = sim_search_depth(c->search);
    struct sim_step *steps = sim_need(malloc((to - from + 1) * sizeof *steps));
    uint8_t *learned = sim_need(calloc(from + 1, 1));

    sim_search_steps(e, c->search, from, to, steps);
    sim_search_learned(e, c->search, learned);
    sim_frontier_enable(f, c->part, learned, from);
    sim_frontier_split(f, c->part, steps, to - from);
    sim_frontier_return(f, c->part);
    free(steps);
    free(learned);
}

static void
give_back(struct engine *e, struct sim_control *c)
{
    split_for(e, c, &c->frontier);
    c->part = SIM_NO_PART;
}

static bool
take_part(struct engine *e, struct sim_control *c)
{
    static struct sim_step path[SIM_CHOICES_MAX];

    c->part = sim_frontier_take(&c->frontier);
    if (c->part == SIM_NO_PART)
        return false;
    sim_frontier_path(&c->frontier, c->part, path);
    sim_search_load(e, c->search, path,
                    sim_frontier_depth(&c->frontier, c->part));
    return true;
}

static void
finish_part(struct engine *e, struct sim_control *c)
{
    uint8_t *learned = sim_need(calloc(c->search->base + 1, 1));

    sim_search_learned(e, c->search, learned);
    sim_frontier_enable(&c->frontier, c->part, learned, c->search->base);
    sim_frontier_done(&c->frontier, c->part);
    c->part = SIM_NO_PART;
    free(learned);
}

/* Write the file, with the part split at the current position. The search keeps
 * its part. */
static bool
save(struct engine *e, struct sim_control *c)
{
    const uint64_t begun = sim_control_now_us();
    struct sim_frontier copy;
    bool saved;

    sim_frontier_copy(&copy, &c->frontier);
    split_for(e, c, &copy);
    saved = sim_checkpoint_save(e, c, &copy);
    sim_frontier_free(&copy);
    sim_control_saved(c, begun);
    return saved;
}

/* returns: true if the search continues */
static bool
after_pause(struct engine *e, struct sim_control *c)
{
    if (!c->late && (!c->hand_out || c->options->jobs <= 1))
        return save(e, c);
    if (c->part != SIM_NO_PART) /* jobs have none */
        give_back(e, c);
    return !c->late;
}

/* Begin the search again, because something was learned. */
static void
begin_again(struct engine *e, struct sim_control *c)
{
    sim_search_clear(e, c->search);
    sim_frontier_free(&c->frontier);
    sim_frontier_begin(&c->frontier);
    sim_estimate_begin(&c->estimate);
    c->part = SIM_NO_PART;
    c->is_idle = !sim_shard_plan(e, c->search);
}

/* returns: whether everything was searched and nothing failed */
static bool
run_here(struct engine *e, struct sim_control *c)
{
    enum sim_search_end end;

    for (;;) {
        if (c->is_idle)
            return true;
        if (c->hand_out && c->options->jobs > 1)
            end = sim_jobs_run(e, c);
        else if (c->part == SIM_NO_PART && !take_part(e, c))
            return true;
        else
            end = sim_search_continue(e, c->search);
        if (end == SIM_SEARCH_OVER)
            return false;
        c->late |= e->late;
        if (end == SIM_SEARCH_AGAIN)
            begin_again(e, c);
        else if (end == SIM_SEARCH_PAUSED && !after_pause(e, c))
            return false;
        else if (end == SIM_SEARCH_DONE && c->part == SIM_NO_PART)
            return true; /* jobs have done all parts */
        else if (end == SIM_SEARCH_DONE)
            finish_part(e, c);
    }
}

/* An invariant checked after each event needs search by schedules. */
static bool
is_reducible(const struct sim_kernel *kernel,
             const struct sim_exhaust_options *options)
{
    return !options->run.bounded && !options->run.lazy_start &&
           !options->no_pruning && !options->by_schedules &&
           kernel->invariant == NULL;
}

/* Write the file if the search is unfinished; delete it if it is complete. */
static void
leave_file(struct engine *e, struct sim_control *c, bool finished)
{
    const bool ended =
        finished || c->result->failures > 0 || c->result->difference[0] != '\0';

    if (c->options->checkpoint == NULL)
        return;
    if (!ended)
        sim_checkpoint_save(e, c, &c->frontier);
    else if (c->result->difference[0] == '\0')
        remove(c->options->checkpoint);
}

enum sim_verdict
sim_explore_exhaust(const struct sim_kernel *kernel,
                    const struct sim_exhaust_options *options,
                    struct sim_exhaust_result *result)
{
    struct engine *e = &sim_engine;
    struct sim_search search = {.kernel = kernel,
                                .options = options,
                                .result = result,
                                .reduced = is_reducible(kernel, options),
                                .shard = {.index = options->shard,
                                          .count = options->shards,
                                          .whole = options->shards_whole},
                                .pause = pause_here};
    struct sim_control control;
    bool finished = false;

    memset(result, 0, sizeof *result);
    e->late = false;
    e->end_us = options->time_ms != 0
                    ? sim_control_now_us() + options->time_ms * 1000
                    : 0;
    sim_search_begin(e, &search);
    sim_control_begin(&control, &search);
    search.context = &control;
    if (!sim_checkpoint_load(e, &control)) {
        result->verdict = SIM_VERDICT_REFUSED;
    } else {
        control.is_idle = !sim_shard_plan(e, &search);
        finished = run_here(e, &control);
        leave_file(e, &control, finished);
        result->verdict = control.is_idle && finished
                              ? SIM_VERDICT_PASS
                              : sim_search_verdict(result, finished);
    }
    result->states = sim_visited_count(&search.visited);
    sim_frontier_free(&control.frontier);
    sim_search_end(e, &search);
    return result->verdict;
}
