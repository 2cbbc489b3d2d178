/*
 * search.c -- see search.h.
 */
#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/search/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_RUNS = 256 };
static const uint64_t states_max_default = (uint64_t)1 << 26;

/* ---- Begin and end ---- */

static void
init_sets(struct sim_search *s)
{
    const struct sim_exhaust_options *o = s->options;
    const uint64_t states_max =
        o->states_max != 0 ? o->states_max : states_max_default;
    void (*init)(struct sim_visited *, uint64_t) =
        o->jobs > 1 ? sim_visited_init_shared : sim_visited_init;

    init(&s->visited, states_max);
    init(&s->graphs, states_max_default);
}

void
sim_search_begin(struct engine *e, struct sim_search *s)
{
    init_sets(s);
    sim_reduce_begin(e); /* a file may bring questions before the first run */
    s->rechecks = s->options->jobs <= 1;
    sim_futile_forget(e);
    e->threads_known = 0;
    s->sample_at = SLICE_RUNS;
    s->sample_seed = s->options->seed;
    sim_choices_init(&s->choices, e->search_list, SIM_CHOICES_MAX);
}

void
sim_search_end(struct engine *e, struct sim_search *s)
{
    e->visited = NULL;
    e->logged = false;
    sim_visited_close(&s->visited);
    sim_visited_close(&s->graphs);
}

void
sim_search_clear(struct engine *e, struct sim_search *s)
{
    free(s->result->choices);
    memset(s->result, 0, sizeof *s->result);
    sim_visited_clear(&s->visited);
    sim_visited_clear(&s->graphs);
    s->sample_at = SLICE_RUNS;
    s->sample_seed = s->options->seed;
    sim_futile_forget(e);
    e->learned = false;
}

void
sim_search_bind(struct engine *e, struct sim_search *s)
{
    sim_engine_begin(e, s->kernel, &s->options->run);
    e->options.reduced = s->reduced;
    e->shard = s->shard;
    e->options.drop_waiters = true;
    e->visited = s->options->no_pruning || s->reduced ? NULL : &s->visited;
    e->recheck_of_100 = s->rechecks ? s->options->recheck_of_100 : 0;
}

void
sim_search_load(struct engine *e, struct sim_search *s,
                const struct sim_step *path, uint32_t depth)
{
    s->base = depth;
    if (depth == 0) {
        sim_choices_odometer(&s->choices);
        return;
    }
    for (uint32_t i = 0; i < depth; i++) {
        s->choices.list[i] = path[i].choice;
        *sim_question_at(e, i) = path[i].question;
        sim_question_at(e, i)->enabled =
            0; /* set by what the next runs learn */
    }
    sim_choices_carry(&s->choices, depth);
}

/* ---- The results of runs ---- */

static void
keep_failure(struct engine *e, struct sim_search *s, const struct sim_run *run)
{
    sim_search_keep_failure(s->result, run, s->choices.list, s->choices.count,
                            &e->options);
}

/* A cut prefix, run on, must end in a graph that is already known. */
static void
judge_detour(struct engine *e, struct sim_search *s, struct sim_run *run)
{
    s->result->rechecked++;
    if (run->end == SIM_END_BLOCKED)
        return;
    if (run->end == SIM_END_COMPLETE &&
        sim_visited_contains(&s->graphs, run->graph))
        return;
    if (run->end == SIM_END_FAILED && s->result->failures > 0)
        return;
    run->end = SIM_END_FAILED;
    run->failure.kind = SIM_FAIL_PRUNING;
    snprintf(run->failure.text, sizeof run->failure.text,
             "a run beyond a cut state ended in a graph not seen before");
    keep_failure(e, s, run);
}

static void
judge(struct engine *e, struct sim_search *s, struct sim_run *run)
{
    struct sim_exhaust_result *result = s->result;

    if (run->end != SIM_END_FAILED && !sim_shard_owns(&s->shard, &s->choices))
        return;
    result->runs++;
    result->bounded += run->bounded;
    if (e->state.detour) {
        judge_detour(e, s, run);
        return;
    }
    switch (run->end) {
    case SIM_END_COMPLETE:
        /* Reduced search remembers graphs only to count them. */
        if (!s->options->no_pruning &&
            sim_visited_insert(&s->graphs, run->graph))
            return;
        result->graphs++;
        result->graphs_sum += run->graph[0];
        break;
    case SIM_END_PRUNED:
        return;
    case SIM_END_BLOCKED:
        result->blocked++;
        break;
    case SIM_END_FAILED:
        keep_failure(e, s, run);
        break;
    }
    if (s->options->after_run != NULL)
        s->options->after_run(s->options->after_run_context, run);
}

enum sim_verdict
sim_search_verdict(const struct sim_exhaust_result *result, bool finished)
{
    if (result->difference[0] != 0)
        return SIM_VERDICT_NONDETERMINISTIC;
    if (result->failures > 0)
        return SIM_VERDICT_FAIL;
    if (!finished)
        return SIM_VERDICT_UNFINISHED;
    return result->graphs > 0 || result->shard_depth > 0 ? SIM_VERDICT_PASS
                                                         : SIM_VERDICT_EMPTY;
}

/* ---- Random runs in between ---- */

/*
 * Make random runs, a quarter of all, by strategies that soon find what
 * depth-first search reaches late.
 *
 * returns: true if a run has failed
 */
static bool
sample_slice(struct engine *e, struct sim_search *s)
{
    static const enum sim_strategy strategies[] = {
        SIM_STRATEGY_PCT, SIM_STRATEGY_RANDOM, SIM_STRATEGY_STALL};
    const uint64_t runs = s->sample_at / 12;
    bool failed = false;

    s->sample_at *= 2;
    for (uint32_t i = 0; i < 3 && !failed; i++) {
        struct sim_sample_options options = {
            .run = s->options->run, .runs = runs, .seed = s->sample_seed};
        struct sim_exhaust_result r;

        options.run.strategy = strategies[i];
        sim_explore_sample(s->kernel, &options, &r);
        s->sample_seed += runs;
        s->result->sampled += r.runs;
        failed = r.failures > 0;
        if (failed) {
            sim_search_keep_failure(s->result, &r.first_failure, r.choices,
                                    r.choices_count, &r.options);
            s->result->found_by_sampling = true;
            free(r.choices);
        }
    }
    sim_search_bind(e, s);
    return failed;
}

/* ---- The search ---- */

/* returns: true if the runs so far end the search */
static bool
is_over(struct engine *e, struct sim_search *s, const struct sim_run *run)
{
    const struct sim_exhaust_options *o = s->options;
    struct sim_exhaust_result *r = s->result;

    if (!sim_repeat_check(e, &s->choices, run, r->difference,
                          sizeof r->difference))
        return true;
    if (s->choices.nondeterministic) {
        snprintf(r->difference, sizeof r->difference,
                 "question %" PRIu32 " is another one when the same run is "
                 "repeated",
                 s->choices.first_difference + 1);
        return true;
    }
    return s->choices.overflowed || s->visited.full || s->graphs.full ||
           (r->failures > 0 && !o->keep_going);
}

static bool
advance(struct engine *e, struct sim_search *s)
{
    struct sim_choices *c = &s->choices;

    for (uint32_t count = c->count; count > s->base; count--) {
        struct sim_question ordinary = {.sources = 0};
        struct sim_question *q =
            s->reduced ? sim_question_at(e, count - 1) : &ordinary;

        if (sim_question_next(q, &c->list[count - 1])) {
            sim_choices_carry(c, count);
            return true;
        }
    }
    return false;
}

enum sim_search_end
sim_search_continue(struct engine *e, struct sim_search *s)
{
    struct sim_run run;

    sim_search_bind(e, s);
    do {
        if (s->pause != NULL && s->pause(s))
            return SIM_SEARCH_PAUSED;
        if (s->options->portfolio && s->result->runs >= s->sample_at &&
            sample_slice(e, s))
            return SIM_SEARCH_OVER;
        sim_repeat_begin(e, s->result->runs);
        sim_engine_run(e, &s->choices, &run);
        if (e->late)
            return SIM_SEARCH_PAUSED; /* the run is still to be made */
        if (e->state.irreducible)
            s->reduced = false;
        s->shard.whole = e->shard.whole;
        if (e->state.irreducible || e->learned)
            return SIM_SEARCH_AGAIN;
        judge(e, s, &run);
        if (is_over(e, s, &run))
            return SIM_SEARCH_OVER;
    } while (advance(e, s));
    return SIM_SEARCH_DONE;
}

bool
sim_search_prefixes(struct engine *e, struct sim_search *s, uint64_t *prefixes)
{
    struct sim_run run;

    *prefixes = 0;
    s->base = 0;
    sim_choices_odometer(&s->choices);
    sim_search_bind(e, s);
    do {
        sim_engine_run(e, &s->choices, &run);
        if (e->state.irreducible)
            s->reduced = false;
        s->shard.whole = e->shard.whole;
        if (e->state.irreducible || e->learned || e->late)
            return false;
        *prefixes += e->state.foreign;
    } while (!s->choices.nondeterministic && advance(e, s));
    return true;
}

/* ---- While it is paused ---- */

uint32_t
sim_search_depth(const struct sim_search *s)
{
    return s->choices.fixed_count;
}

static struct sim_question
question_at(struct engine *e, const struct sim_search *s, uint32_t i)
{
    const struct sim_question ordinary = {.sources = 0};

    return s->reduced ? *sim_question_at(e, i) : ordinary;
}

uint32_t
sim_search_open(struct engine *e, const struct sim_search *s)
{
    uint32_t i = s->base;

    while (i < s->choices.fixed_count) {
        const struct sim_question q = question_at(e, s, i);

        if (sim_question_has_next(&q, &s->choices.list[i]))
            break;
        i++;
    }
    return i;
}

void
sim_search_steps(struct engine *e, const struct sim_search *s, uint32_t from,
                 uint32_t to, struct sim_step *steps)
{
    memset(steps, 0, (to - from) * sizeof *steps); /* padding goes to files */
    for (uint32_t i = from; i < to; i++) {
        steps[i - from].choice = s->choices.list[i];
        steps[i - from].question = question_at(e, s, i);
    }
}

void
sim_search_narrow(struct sim_search *s, uint32_t depth)
{
    s->base = depth;
}

void
sim_search_learned(struct engine *e, const struct sim_search *s,
                   uint8_t *enabled)
{
    for (uint32_t i = 0; i < s->base; i++)
        enabled[i] = question_at(e, s, i).enabled;
}

double
sim_search_share(struct engine *e, const struct sim_search *s)
{
    double weight = 1;
    double sum = 0;

    for (uint32_t i = s->base; i < s->choices.fixed_count; i++) {
        const struct sim_question q = question_at(e, s, i);
        const struct sim_choice *choice = &s->choices.list[i];

        weight /= sim_question_answers(&q, choice);
        sum += weight * sim_question_passed(&q, choice);
    }
    return sum < 1 ? sum : 1;
}
