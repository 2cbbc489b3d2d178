/*
 * sched_model.c -- see sched_model.h.
 *
 * A model of each strategy draws from a copy of the engine's generator.
 * test_explore_sched.c says how likely each order must be; here each number
 * must be right, also with more threads and longer runs than it can try.
 */
#include "sched_model.h"
#include "engine.h"

#include <string.h>

#include "unit_test.h"

enum { CASES = 2000, STEPS = 12, DEPTH_MOST = 5, THREADS = SIM_THREADS_MAX };

static struct sim_rng draws;

static uint32_t
draw(uint32_t bound)
{
    return sim_rng_below(&draws, bound);
}

/* What is expected of the run. */
static struct {
    struct sim_rng rng;
    uint32_t threads; /* those with steps */
    uint32_t lengths[THREADS];
    uint32_t priority[THREADS];
    uint32_t changes[DEPTH_MOST];
    uint32_t changes_count;
    uint32_t stalled, from, left;
} model;

static uint32_t
next(uint32_t bound)
{
    return sim_rng_below(&model.rng, bound);
}

/* Threads of the kernel, then some that the run before has created. */
static void
draw_threads(void)
{
    struct engine *e = &sim_engine;

    e->threads_count = 1 + draw(THREADS);
    model.threads = e->threads_count;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &e->threads[i];

        t->steps = draw(3) == 0 ? 0 : draw(6);
        t->steps_before = draw(6);
        t->priority = 99;
        t->last_site = draw(3);
        t->next_site = draw(3);
        if (i == model.threads && t->steps > 0)
            model.threads++;
        model.lengths[i] =
            t->steps > t->steps_before ? t->steps : t->steps_before;
    }
}

static void
expect_pct(uint32_t depth)
{
    if (depth == 0)
        depth = 1 + next(DEPTH_MOST);
    depth = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    /* Each takes a random place among those before it. */
    for (uint32_t i = 0; i < model.threads; i++) {
        const uint32_t place = next(i + 1);

        model.priority[i] = model.priority[place];
        model.priority[place] = DEPTH_MOST + i;
    }
    model.changes_count = depth - 1;
    for (uint32_t i = 0; i < model.changes_count; i++)
        model.changes[i] = 1 + next(STEPS);
}

static void
expect_stall(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < model.threads; i++)
        sum += model.lengths[i];
    model.stalled = next(model.threads);
    model.from = next(model.lengths[model.stalled] + 1);
    model.left = 1 + next(sum + 1);
}

static void
expect_begin(void)
{
    model.rng = sim_engine.choices->rng;
    memset(model.priority, 0, sizeof model.priority);
    sim_sched_begin();
    if (sim_engine.options.strategy == SIM_STRATEGY_PCT)
        expect_pct(sim_engine.options.pct_depth);
    if (sim_engine.options.strategy == SIM_STRATEGY_STALL)
        expect_stall();
}

/* At a change, the thread falls below all that have not fallen. */
static void
expect_step(uint32_t step)
{
    struct engine *e = &sim_engine;

    e->run->steps = step;
    e->current = draw(model.threads);
    for (uint32_t i = 0; i < model.changes_count; i++) {
        if (model.changes[i] == step)
            model.priority[e->current] = i;
    }
    sim_sched_step();
    if (e->options.strategy != SIM_STRATEGY_PCT)
        return;
    for (uint32_t i = 0; i < model.threads; i++)
        assert_int_equal(e->threads[i].priority, model.priority[i]);
}

/* A step that it stands before is counted, but still to be made. One that has
 * made more than expected may make one more. */
static uint32_t
still_to_make(const struct thread *t)
{
    return t->steps > t->steps_before ? 1 : t->steps_before + 1 - t->steps;
}

static uint32_t
wish_by_length(const uint8_t *order, uint32_t count)
{
    uint32_t lots[THREADS * 8];
    uint32_t lots_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t n = still_to_make(&sim_engine.threads[order[i]]); n > 0;
             n--)
            lots[lots_count++] = i;
    }
    return lots[next(lots_count)];
}

static bool
stands_still(void)
{
    const struct sim_run_options *o = &sim_engine.options;
    const struct thread *t = &sim_engine.threads[model.stalled];
    const bool after = o->stall_from_site == 0 || //
                       o->stall_from_site == t->last_site;
    const bool before = o->stall_to_site == 0 || //
                        o->stall_to_site == t->next_site;

    if (model.left == 0)
        return false;
    if (o->stall_from_site + o->stall_to_site > 0)
        return after && before;
    return t->steps > model.from;
}

static uint32_t
wish(const uint8_t *order, uint32_t count)
{
    uint32_t best = 0;

    switch (sim_engine.options.strategy) {
    case SIM_STRATEGY_PCT:
        for (uint32_t i = 0; i < count; i++)
            best = model.priority[order[i]] > model.priority[order[best]]
                       ? i
                       : best;
        return best;
    case SIM_STRATEGY_URW:
        return wish_by_length(order, count);
    case SIM_STRATEGY_STALL:
        best = next(count);
        if (stands_still()) {
            model.left--;
            best = order[best] == model.stalled ? (best + 1) % count : best;
        }
        return best;
    case SIM_STRATEGY_RANDOM:
    case SIM_STRATEGY_COUNT:
        break;
    }
    return next(count);
}

static void
expect_wish(void)
{
    uint8_t order[THREADS] = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < model.threads; i++) {
        const uint32_t at = draw(count + 1);

        if (draw(3) == 0 && i + 1 < model.threads)
            continue;
        order[count++] = order[at];
        order[at] = (uint8_t)i;
    }
    assert_int_equal(sim_sched_wish(order, count), wish(order, count));
    assert_true(sim_engine.choices->rng.state == model.rng.state);
}

void
sched_model_try(void)
{
    static struct engine kept;
    struct engine *e = &sim_engine;
    struct sim_choices choices = {.backend = SIM_RANDOM};
    struct sim_run run = {.steps = 0};

    kept = *e;
    e->choices = &choices;
    e->run = &run;
    e->steps_most = STEPS;
    for (uint32_t i = 0; i < CASES; i++) {
        e->options = (struct sim_run_options){
            .strategy = (enum sim_strategy)(i % SIM_STRATEGY_COUNT),
            .pct_depth = draw(8),
            .stall_from_site = draw(2) * draw(3),
            .stall_to_site = draw(2) * draw(3)};
        draw_threads();
        model.changes_count = 0;
        expect_begin();
        for (uint32_t step = 1; step <= STEPS; step++) {
            expect_step(step);
            expect_wish();
            e->threads[draw(model.threads)].steps++;
        }
    }
    *e = kept;
    assert_string_equal(sim_strategy_text(SIM_STRATEGY_RANDOM), "random");
    assert_string_equal(sim_strategy_text(SIM_STRATEGY_PCT), "pct");
    assert_string_equal(sim_strategy_text(SIM_STRATEGY_URW), "urw");
    assert_string_equal(sim_strategy_text(SIM_STRATEGY_STALL), "stall");
    assert_string_equal(sim_strategy_text(SIM_STRATEGY_COUNT), "?");
}
