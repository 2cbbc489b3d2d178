/*
 * exhaust.c -- all runs of a kernel, or many random ones.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 1 << 16 };
enum { SAMPLE_GRAPHS_MAX = 1 << 22 };
static const uint64_t states_max_default = (uint64_t)1 << 26;

static struct sim_choice choice_list[CHOICES_MAX];

enum sim_end
sim_explore_run(const struct sim_kernel *kernel,
                const struct sim_run_options *options,
                struct sim_choices *choices, struct sim_run *run)
{
    enum sim_end end;

    sim_engine_begin(kernel, options);
    end = sim_engine_run(choices, run);
    if (!sim_engine.learned || choices->backend != SIM_REPLAY)
        return end;
    /* It met a wait loop that was not known for one: now it is. */
    sim_engine.learned = false;
    sim_choices_replay(choices, choices->given, choices->given_count);
    return sim_engine_run(choices, run);
}

static void
keep_failure(struct sim_exhaust_result *result, const struct sim_run *run,
             const struct sim_choices *choices)
{
    const size_t bytes = choices->count * sizeof *choices->list;

    if (result->failures++ != 0)
        return;
    result->first_failure = *run;
    result->options = sim_engine.options;
    result->choices_count = choices->count;
    result->choices = malloc(bytes > 0 ? bytes : 1);
    if (result->choices == NULL)
        abort();
    memcpy(result->choices, choices->list, bytes);
}

/* A cut prefix, run on, must end in a graph that is already known. */
static void
judge_detour(struct sim_exhaust_result *result, struct sim_run *run,
             const struct sim_visited *graphs,
             const struct sim_choices *choices)
{
    result->rechecked++;
    if (run->end == SIM_END_BLOCKED)
        return;
    if (run->end == SIM_END_COMPLETE &&
        sim_visited_contains(graphs, run->graph))
        return;
    if (run->end == SIM_END_FAILED && result->failures > 0)
        return;
    run->end = SIM_END_FAILED;
    run->failure.kind = SIM_FAIL_PRUNING;
    snprintf(run->failure.text, sizeof run->failure.text,
             "a run beyond a cut state ended in a graph not seen before");
    keep_failure(result, run, choices);
}

/* Reduced search remembers graphs only to count them. */
static bool
run_is_known(const struct sim_run *run, struct sim_visited *graphs)
{
    return sim_engine.options.reduced && sim_visited_insert(graphs, run->graph);
}

static void
judge(const struct sim_exhaust_options *options,
      struct sim_exhaust_result *result, struct sim_run *run,
      struct sim_visited *graphs, const struct sim_choices *choices)
{
    result->runs++;
    result->bounded += run->bounded;
    if (sim_engine.detour) {
        judge_detour(result, run, graphs, choices);
        return;
    }
    switch (run->end) {
    case SIM_END_COMPLETE:
        if (run_is_known(run, graphs))
            return;
        result->graphs++;
        if (options->recheck_of_100 > 0 && !sim_engine.options.reduced)
            sim_visited_insert(graphs, run->graph);
        break;
    case SIM_END_PRUNED:
        return;
    case SIM_END_BLOCKED:
        result->blocked++;
        break;
    case SIM_END_FAILED:
        keep_failure(result, run, choices);
        break;
    }
    if (options->after_run != NULL)
        options->after_run(options->after_run_context, run);
}

static enum sim_verdict
verdict_of(const struct sim_exhaust_result *result,
           const struct sim_choices *choices, bool finished)
{
    if (choices->nondeterministic || result->difference[0] != 0)
        return SIM_VERDICT_NONDETERMINISTIC;
    if (result->failures > 0)
        return SIM_VERDICT_FAIL;
    if (!finished)
        return SIM_VERDICT_UNFINISHED;
    return result->graphs > 0 ? SIM_VERDICT_PASS : SIM_VERDICT_EMPTY;
}

/* What was explored before a wait loop was known for one counts for nothing. */
static void
begin_again(struct sim_exhaust_result *result, struct sim_visited *visited,
            struct sim_visited *graphs, struct sim_choices *choices)
{
    free(result->choices);
    memset(result, 0, sizeof *result);
    sim_visited_clear(visited);
    sim_visited_clear(graphs);
    sim_choices_odometer(choices);
    sim_engine.learned = false;
}

/* What acts between any two accesses, or is checked there, needs schedules. */
static bool
is_reducible(const struct sim_kernel *kernel,
             const struct sim_exhaust_options *options)
{
    if (options->run.bounded || options->run.lazy_start ||
        options->no_pruning || options->by_schedules ||
        kernel->invariant != NULL)
        return false;
    for (uint32_t i = 0; i < kernel->threads_count; i++) {
        if (kernel->threads[i].signal != NULL)
            return false;
    }
    return true;
}

enum sim_verdict
sim_explore_exhaust(const struct sim_kernel *kernel,
                    const struct sim_exhaust_options *options,
                    struct sim_exhaust_result *result)
{
    struct sim_visited visited;
    struct sim_visited graphs;
    struct sim_choices choices;
    struct sim_run run;
    bool more = true;

    memset(result, 0, sizeof *result);
    if (!sim_visited_init(&visited, options->states_max != 0
                                        ? options->states_max
                                        : states_max_default) ||
        !sim_visited_init(&graphs, states_max_default))
        abort();
    sim_engine_begin(kernel, &options->run);
    sim_engine.options.reduced = is_reducible(kernel, options);
    sim_engine.visited =
        options->no_pruning || sim_engine.options.reduced ? NULL : &visited;
    sim_engine.recheck_of_100 = options->recheck_of_100;
    sim_engine.options.drop_waiters = true;
    sim_choices_init(&choices, choice_list, CHOICES_MAX);
    sim_choices_odometer(&choices);
    while (more) {
        sim_repeat_begin(result->runs);
        sim_engine_run(&choices, &run);
        if (sim_engine.irreducible) {
            sim_engine.options.reduced = false;
            sim_engine.visited = options->no_pruning ? NULL : &visited;
            sim_engine.learned = true;
        }
        if (sim_engine.learned) {
            begin_again(result, &visited, &graphs, &choices);
            continue;
        }
        judge(options, result, &run, &graphs, &choices);
        if (!sim_repeat_check(&choices, result->difference,
                              sizeof result->difference) ||
            choices.nondeterministic || choices.overflowed || visited.full ||
            (result->failures > 0 && !options->keep_going) ||
            (options->runs_max != 0 && result->runs == options->runs_max))
            break;
        more = sim_engine.options.reduced ? sim_reduce_next(&choices)
                                          : sim_choices_next(&choices);
    }
    result->states = visited.count;
    result->verdict = verdict_of(result, &choices, !more);
    sim_engine.visited = NULL;
    sim_engine.logged = false;
    sim_visited_close(&visited);
    sim_visited_close(&graphs);
    return result->verdict;
}

enum sim_verdict
sim_explore_sample(const struct sim_kernel *kernel,
                   const struct sim_sample_options *options,
                   struct sim_exhaust_result *result)
{
    struct sim_visited graphs;
    struct sim_choices choices;
    struct sim_run run;

    memset(result, 0, sizeof *result);
    if (!sim_visited_init(&graphs, SAMPLE_GRAPHS_MAX))
        abort();
    sim_engine_begin(kernel, &options->run);
    sim_choices_init(&choices, choice_list, CHOICES_MAX);
    while (result->runs < options->runs) {
        sim_choices_random(&choices, options->seed + result->runs);
        sim_repeat_begin(result->runs);
        sim_engine_run(&choices, &run);
        if (!sim_repeat_check(&choices, result->difference,
                              sizeof result->difference))
            break;
        result->runs++;
        if (run.end == SIM_END_COMPLETE) {
            result->graphs++;
            sim_visited_insert(&graphs, run.graph);
        } else if (run.end == SIM_END_BLOCKED) {
            result->blocked++;
        } else {
            keep_failure(result, &run, &choices);
            if (!options->keep_going)
                break;
        }
        if (options->after_run != NULL)
            options->after_run(options->after_run_context, &run);
    }
    result->states = graphs.count;
    sim_engine.logged = false;
    result->verdict = result->difference[0] != 0 ? SIM_VERDICT_NONDETERMINISTIC
                      : result->failures > 0     ? SIM_VERDICT_FAIL
                                                 : SIM_VERDICT_UNFINISHED;
    sim_visited_close(&graphs);
    return result->verdict;
}

uint32_t
sim_explore_sites(const struct sim_kernel *kernel, uint32_t runs,
                  struct sim_site *sites, uint32_t sites_max)
{
    const struct sim_sample_options options = {.runs = runs,
                                               .keep_going = true};
    struct sim_exhaust_result result;

    sim_engine.sites = sites;
    sim_engine.sites_count = 0;
    sim_engine.sites_max = sites_max;
    sim_explore_sample(kernel, &options, &result);
    free(result.choices);
    sim_engine.sites = NULL;
    return sim_engine.sites_count;
}

/* The orders one step weaker than `order` for `op`; returns how many. */
static uint32_t
weaker_orders(enum sim_op op, int order, int weaker[2])
{
    switch (order) {
    case __ATOMIC_SEQ_CST:
        weaker[0] = op == SIM_OP_LOAD    ? __ATOMIC_ACQUIRE
                    : op == SIM_OP_STORE ? __ATOMIC_RELEASE
                                         : __ATOMIC_ACQ_REL;
        return 1;
    case __ATOMIC_ACQ_REL:
        weaker[0] = __ATOMIC_ACQUIRE;
        weaker[1] = __ATOMIC_RELEASE;
        return 2;
    case __ATOMIC_RELAXED:
        return 0;
    default:
        weaker[0] = __ATOMIC_RELAXED;
        return 1;
    }
}

bool
sim_explore_weaken(struct sim_site *site, uint32_t step)
{
    int weaker[2];
    uint32_t count = weaker_orders(site->op, site->order, weaker);

    if (step < count) {
        site->order = weaker[step];
        return true;
    }
    step -= count;
    count = weaker_orders(SIM_OP_LOAD, site->order_failure, weaker);
    if (site->op != SIM_OP_CAS || step >= count)
        return false;
    site->order_failure = weaker[step];
    return true;
}
