/*
 * sample.c -- one run of a kernel, or many random ones; its sites.
 */
#include "explore/search/search_control.h"
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE_GRAPHS_MAX = 1 << 22 };

enum sim_end
sim_explore_run(const struct sim_kernel *kernel,
                const struct sim_run_options *options,
                struct sim_choices *choices, struct sim_run *run)
{
    struct engine *e = &sim_engine;
    enum sim_end end;

    sim_engine_begin(e, kernel, options);
    end = sim_engine_run(e, choices, run);
    /* A run that meets a new wait loop is made again, now that it is known. */
    while (e->learned && choices->backend == SIM_REPLAY) {
        e->learned = false;
        sim_choices_replay(choices, choices->given, choices->given_count);
        end = sim_engine_run(e, choices, run);
    }
    return end;
}

/* Run with this seed, and again if the run met a new wait loop. */
static void
run_at_random(struct engine *e, struct sim_choices *choices, uint64_t seed,
              uint64_t number, struct sim_run *run)
{
    do {
        e->learned = false;
        sim_choices_random(choices, seed);
        sim_repeat_begin(e, number);
        sim_engine_run(e, choices, run);
    } while (e->learned);
}

enum sim_verdict
sim_explore_sample(const struct sim_kernel *kernel,
                   const struct sim_sample_options *options,
                   struct sim_exhaust_result *result)
{
    struct engine *e = &sim_engine;
    const uint64_t end_us = options->time_ms != 0
                                ? sim_control_now_us() + options->time_ms * 1000
                                : 0;
    struct sim_visited graphs;
    struct sim_choices choices;
    struct sim_run run;

    memset(result, 0, sizeof *result);
    if (end_us != 0) {
        e->end_us = end_us;
        e->late = false;
    }
    sim_visited_init(&graphs, SAMPLE_GRAPHS_MAX);
    sim_engine_begin(e, kernel, &options->run);
    sim_choices_init(&choices, e->sample_list, SIM_CHOICES_MAX);
    while (result->runs < options->runs) {
        if (end_us != 0 && result->runs % 32 == 0 &&
            sim_control_now_us() >= end_us)
            break;
        run_at_random(e, &choices, options->seed + result->runs, result->runs,
                      &run);
        if (e->late)
            break;
        if (!sim_repeat_check(e, &choices, &run, result->difference,
                              sizeof result->difference))
            break;
        result->runs++;
        if (run.end == SIM_END_COMPLETE) {
            result->graphs++;
            sim_visited_insert(&graphs, run.graph);
        } else if (run.end == SIM_END_BLOCKED) {
            result->blocked++;
        } else {
            sim_search_keep_failure(result, &run, choices.list, choices.count,
                                    &e->options);
            if (!options->keep_going)
                break;
        }
        if (options->after_run != NULL)
            options->after_run(options->after_run_context, &run);
    }
    result->states = graphs.count;
    e->logged = false;
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
    struct engine *e = &sim_engine;
    const struct sim_sample_options options = {.runs = runs,
                                               .keep_going = true};
    struct sim_exhaust_result result;

    e->sites = sites;
    e->sites_count = 0;
    e->sites_max = sites_max;
    sim_explore_sample(kernel, &options, &result);
    free(result.choices);
    e->sites = NULL;
    return e->sites_count;
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
