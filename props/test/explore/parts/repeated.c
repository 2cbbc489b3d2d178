/* repeated.c -- see repeated.h. */
#include "repeated.h"
#include "explore.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, LOGGED_MAX = 1 << 16 };

static uint32_t places[4];
static uint32_t made; /* runs */

/* ---- How many ---- */

static void
count_run(void *context)
{
    (void)context;
    places[1] = made++; /* read by one test */
}

static void
three_stores(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < 3; i++)
        __tsan_atomic32_store(&places[thread], i, RLX);
}

static uint64_t
with_repeated(uint64_t runs)
{
    uint64_t count = runs + 1;

    for (uint64_t i = 1; i < runs; i++)
        count += sim_mix64(i) % 100 == 0;
    return count;
}

void
repeated_count(void)
{
    const struct sim_kernel kernel = {
        .name = "count",
        .threads_count = 3,
        .threads = {{"t", three_stores, NULL},
                    {"t", three_stores, NULL},
                    {"t", three_stores, NULL}},
        .setup = count_run,
    };
    struct sim_exhaust_result r;

    made = 0;
    sim_explore_exhaust(
        &kernel,
        &(struct sim_exhaust_options){.by_schedules = true, .no_pruning = true},
        &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.runs, 1680); /* 9! / (3! 3! 3!) */
    assert_int_equal(made, with_repeated(r.runs));
    made = 0;
    sim_explore_sample(&kernel, &(struct sim_sample_options){.runs = 700}, &r);
    assert_int_equal(r.runs, 700);
    assert_int_equal(made, with_repeated(r.runs));
}

/* ---- What differs ---- */

enum way { SAME, MORE, LESS, VALUE, OTHER, FAILS, PASSES };

static enum way way;
static uint32_t before; /* accesses that are the same */

static __attribute__((noinline)) void
look(uint32_t place)
{
    (void)__tsan_atomic32_load(&places[place], RLX);
    __asm__ volatile("");
}

static __attribute__((noinline)) void
change(uint32_t place, uint32_t value)
{
    __tsan_atomic32_store(&places[place], value, RLX);
    __asm__ volatile("");
}

static void
differ(void *context, uint32_t thread)
{
    const bool again = made == 2;

    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < before; i++)
        look(0);
    if (way == VALUE && before == 1)
        look(1);
    else if (way == VALUE)
        change(2, again);
    if (way == OTHER && again)
        look(2);
    else if (way == OTHER)
        change(2, 0);
    if (way == VALUE || way == OTHER)
        look(3); /* the first difference counts */
    if ((way == MORE && again) || (way == LESS && !again))
        look(3);
    if ((way == FAILS && again) || (way == PASSES && !again))
        sim_explore_fail("it fails");
}

static struct sim_exhaust_result
explore(void (*body)(void *, uint32_t))
{
    const struct sim_kernel kernel = {.name = "differs",
                                      .threads_count = 1,
                                      .threads = {{"t", body, NULL}},
                                      .setup = count_run};
    struct sim_exhaust_result r;

    made = 0;
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){.runs_max = 1},
                        &r);
    free(r.choices);
    return r;
}

static void
check_way(const char *how)
{
    const struct sim_exhaust_result r = explore(differ);
    char start[64];

    assert_int_equal(r.verdict, how == NULL ? SIM_VERDICT_PASS
                                            : SIM_VERDICT_NONDETERMINISTIC);
    if (how == NULL)
        return;
    snprintf(start, sizeof start, "access %u, at ", before + 1);
    if (way < FAILS)
        assert_memory_equal(r.difference, start, strlen(start));
    assert_true(strlen(r.difference) >= strlen(how));
    assert_string_equal(r.difference + strlen(r.difference) - strlen(how), how);
}

/* Plain reads are compared, too, if there are fewer than 65,536 accesses. */
static void
read_often(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 1; i < before; i++)
        __tsan_read4(&places[0]);
    __tsan_read4(&places[made == 2]);
}

/* Another order of the threads is not tried any more. */
static void
check_ends(void)
{
    const struct sim_kernel kernel = {
        .name = "ends",
        .threads_count = 2,
        .threads = {{"t", three_stores, NULL}, {"t", differ, NULL}},
        .setup = count_run};
    struct sim_exhaust_result r;

    made = 0;
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    assert_int_equal(made, 2);
    made = 0;
    sim_explore_sample(&kernel, &(struct sim_sample_options){.runs = 9}, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_NONDETERMINISTIC);
    assert_int_equal(made, 2);
}

void
repeated_differs(void)
{
    static const char *const hows[] = {
        [SAME] = NULL,
        [MORE] = " comes in addition when the same run is repeated",
        [LESS] = " is missing when the same run is repeated",
        [VALUE] = " has another value or place when the same run is repeated",
        [OTHER] = " is another one when the same run is repeated",
        [FAILS] = "the run passes, and fails when it is repeated",
        [PASSES] = "the run fails, and passes when it is repeated"};

    for (way = SAME; way <= PASSES; way++) {
        for (before = 0; before < 3; before++)
            check_way(hows[way]);
    }
    before = 1;
    for (way = MORE; way <= FAILS; way++)
        check_ends();
    for (before = LOGGED_MAX - 2; before <= LOGGED_MAX + 1; before++)
        assert_int_equal(explore(read_often).verdict,
                         before < LOGGED_MAX ? SIM_VERDICT_NONDETERMINISTIC
                                             : SIM_VERDICT_PASS);
}
