/* waits.c -- see waits.h. */
#include "waits.h"
#include "explore.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE };

static uint32_t places[2];

static void
clear(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
}

/* ---- Old values ---- */

static bool stored[2];
static uint32_t old[2]; /* reads of 0 after the store */
static uint32_t most;

static void
clear_old(void *context)
{
    clear(context);
    memset(stored, 0, sizeof stored);
    memset(old, 0, sizeof old);
}

static bool
is_set(uint32_t i)
{
    const bool set = __tsan_atomic32_load(&places[i], RLX) == 1;

    old[i] += !set && stored[i];
    return set;
}

/* Thread 0 waits for both places; both are always read. */
static void
wait_for_both(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        for (;;) {
            const bool first = is_set(0);

            if (is_set(1) && first)
                return;
            sim_explore_spin_wait();
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        __tsan_atomic32_store(&places[i], 1, RLX);
        stored[i] = true;
    }
}

static void
check_old(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < 2; i++)
        most = old[i] > most ? old[i] : most;
}

void
waits_go_on(void)
{
    const struct sim_kernel kernel = {
        .name = "both",
        .threads_count = 2,
        .threads = {{"w", wait_for_both, NULL}, {"s", wait_for_both, NULL}},
        .setup = clear_old,
        .finish = check_old};

    most = 0;
    for (uint32_t i = 0; i < SIM_STRATEGY_COUNT; i++) {
        const struct sim_sample_options options = {
            .run = {.strategy = (enum sim_strategy)i}, .runs = 200};
        struct sim_exhaust_result r;

        sim_explore_sample(&kernel, &options, &r);
        assert_int_equal(r.runs, 200);
        assert_int_equal(r.failures, 0);
        assert_int_equal(r.bounded, 0);
    }
    /* In the first round, and in one that is explored like any code. */
    assert_in_range(most, 1, 2);
}

/* ---- Pauses ---- */

static uint32_t pauses;

static void
pause_only(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < pauses; i++)
        sim_explore_spin_wait();
}

void
waits_pause(void)
{
    const struct sim_kernel kernel = {.name = "pauses",
                                      .threads_count = 1,
                                      .threads = {{"t", pause_only, NULL}}};

    for (pauses = 49; pauses <= 51; pauses++) {
        struct sim_exhaust_result r;
        const struct sim_failure *f = &r.first_failure.failure;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.run = {.steps_max = 50}},
            &r);
        assert_int_equal(r.failures, pauses > 50);
        if (r.failures == 0)
            continue;
        assert_int_equal(f->kind, SIM_FAIL_LIMIT);
        assert_int_equal(f->other_site, 0);
        assert_string_equal(f->text, "a loop pauses, but reads nothing that "
                                     "another thread could change");
        free(r.choices);
    }
}

/* ---- Races ---- */

static void
wait_for_reader(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        while (__tsan_atomic32_load(&places[0], ACQ) == 0)
            sim_explore_spin_wait();
        return;
    }
    __tsan_read4(&places[0]);
    __tsan_atomic32_store(&places[1], 1, RLX);
    __tsan_atomic32_store(&places[0], 1, __ATOMIC_RELEASE);
}

void
waits_race(void)
{
    const struct sim_kernel kernel = {
        .name = "reader",
        .threads_count = 2,
        .threads = {{"w", wait_for_reader, NULL}, {"r", wait_for_reader, NULL}},
        .setup = clear};

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = i > 0}, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, 1);
        sim_explore_sample(&kernel, &(struct sim_sample_options){.runs = 50},
                           &r);
        assert_int_equal(r.failures, 0);
    }
}
