/*
 * sched.c -- which thread a guided strategy wants to run next.
 *
 * The engine asks the strategy only where there is a choice, and records the
 * answer like any other. So every run replays without its strategy.
 *
 *   PCT    random priorities, d - 1 random steps at which the running thread
 *          falls below all others; finds a bug of depth d with probability of
 *          at least 1 / (n k^(d-1)) for n threads and k steps
 *   URW    each thread with a probability proportional to its remaining steps
 *          (estimated from earlier runs): all interleavings equally likely
 *   STALL  random, but one thread stands still for a while, anywhere or
 *          between two given sites
 */
#include "engine.h"

enum { PCT_DEPTH_MAX = 5 };

/* The kernel's threads, and those that the run before has created. */
static uint32_t
threads_expected(const struct engine *e)
{
    uint32_t n = e->threads_count;

    while (n < SIM_THREADS_MAX && e->threads[n].steps > 0)
        n++;
    return n;
}

static uint32_t
steps_expected(const struct thread *t)
{
    return t->steps > t->steps_before ? t->steps : t->steps_before;
}

static void
pct_begin(struct engine *e)
{
    struct sim_rng *rng = &e->choices->rng;
    const uint32_t n = threads_expected(e);

    e->pct_depth = e->options.pct_depth != 0
                       ? e->options.pct_depth
                       : 1 + sim_rng_below(rng, PCT_DEPTH_MAX);
    if (e->pct_depth > PCT_DEPTH_MAX)
        e->pct_depth = PCT_DEPTH_MAX;
    /* Priorities above all change points, in random order. */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t j = sim_rng_below(rng, i + 1);

        e->threads[i].priority = e->threads[j].priority;
        e->threads[j].priority = PCT_DEPTH_MAX + i;
    }
    for (uint32_t i = 0; i + 1 < e->pct_depth; i++)
        e->pct_changes[i] = 1 + sim_rng_below(rng, e->steps_most);
}

static void
stall_begin(struct engine *e)
{
    struct sim_rng *rng = &e->choices->rng;
    const uint32_t n = threads_expected(e);
    uint32_t longest = 1;

    e->stall_thread = sim_rng_below(rng, n);
    e->stall_at =
        sim_rng_below(rng, steps_expected(&e->threads[e->stall_thread]) + 1);
    for (uint32_t i = 0; i < n; i++)
        longest += steps_expected(&e->threads[i]);
    e->stall_left = 1 + sim_rng_below(rng, longest);
}

void
sim_sched_begin(struct engine *e)
{
    switch (e->options.strategy) {
    case SIM_STRATEGY_PCT:
        pct_begin(e);
        break;
    case SIM_STRATEGY_STALL:
        stall_begin(e);
        break;
    case SIM_STRATEGY_RANDOM:
    case SIM_STRATEGY_URW:
    case SIM_STRATEGY_COUNT:
        break;
    }
}

static uint32_t
pct_wish(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (e->threads[order[i]].priority > e->threads[order[best]].priority)
            best = i;
    }
    return best;
}

/* Called at every point, also where only one thread can run. */
void
sim_sched_step(struct engine *e)
{
    if (e->options.strategy != SIM_STRATEGY_PCT)
        return;
    for (uint32_t i = 0; i + 1 < e->pct_depth; i++) {
        if (e->pct_changes[i] == e->run->steps)
            e->threads[e->current].priority = i; /* below all unfallen */
    }
}

static uint32_t
steps_left(const struct thread *t)
{
    /* It stands before a step already counted. */
    return t->steps_before >= t->steps ? t->steps_before - t->steps + 1 : 1;
}

static uint32_t
urw_wish(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t total = 0;
    uint32_t drawn;

    for (uint32_t i = 0; i < count; i++)
        total += steps_left(&e->threads[order[i]]);
    drawn = sim_rng_below(&e->choices->rng, total);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t weight = steps_left(&e->threads[order[i]]);

        if (drawn < weight)
            return i;
        drawn -= weight;
    }
    return count - 1;
}

static bool
in_window(const struct engine *e, const struct thread *t)
{
    if (e->options.stall_from_site == 0 && e->options.stall_to_site == 0)
        return t->steps > e->stall_at;
    return (e->options.stall_from_site == 0 ||
            e->options.stall_from_site == t->run.last_site) &&
           (e->options.stall_to_site == 0 ||
            e->options.stall_to_site == t->run.next_site);
}

static uint32_t
stall_wish(struct engine *e, const uint8_t *order, uint32_t count)
{
    uint32_t wish = sim_rng_below(&e->choices->rng, count);

    if (e->stall_left == 0 || !in_window(e, &e->threads[e->stall_thread]))
        return wish;
    if (order[wish] == e->stall_thread)
        wish = (wish + 1) % count;
    e->stall_left--;
    return wish;
}

uint32_t
sim_sched_wish(struct engine *e, const uint8_t *order, uint32_t count)
{
    switch (e->options.strategy) {
    case SIM_STRATEGY_PCT:
        return pct_wish(e, order, count);
    case SIM_STRATEGY_URW:
        return urw_wish(e, order, count);
    case SIM_STRATEGY_STALL:
        return stall_wish(e, order, count);
    case SIM_STRATEGY_RANDOM:
    case SIM_STRATEGY_COUNT:
        break;
    }
    return sim_rng_below(&e->choices->rng, count);
}

const char *
sim_strategy_text(enum sim_strategy strategy)
{
    switch (strategy) {
    case SIM_STRATEGY_RANDOM:
        return "random";
    case SIM_STRATEGY_PCT:
        return "pct";
    case SIM_STRATEGY_URW:
        return "urw";
    case SIM_STRATEGY_STALL:
        return "stall";
    case SIM_STRATEGY_COUNT:
        break;
    }
    return "?";
}
