/* barriers.c -- see barriers.h. */
#include "barriers.h"
#include "explore.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE, ORDERS_MAX = 100 };

static struct sim_exhaust_result
explore(struct sim_kernel *kernel, struct sim_exhaust_options options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    free(r.choices);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    return r;
}

/* ---- How many graphs ---- */

/* What each thread does: s a store to a place of its own, b a barrier. */
static const char *const *program;
static uint32_t own[SIM_THREADS_MAX];

static void
count_thread(void *context, uint32_t thread)
{
    (void)context;
    for (const char *step = program[thread]; *step != 0; step++) {
        if (*step == 's')
            __tsan_atomic32_store(&own[thread], 1, RLX);
        else
            sim_explore_barrier();
    }
}

/* Orders are the same if the barriers have one order, and each store has as
 * many of them before it. */
static uint64_t orders[ORDERS_MAX];
static uint32_t orders_count;

static void
add_order(uint64_t order)
{
    for (uint32_t i = 0; i < orders_count; i++) {
        if (orders[i] == order)
            return;
    }
    assert_true(orders_count < ORDERS_MAX);
    orders[orders_count++] = order;
}

/* in: seen, a number of base 4 for each step of each thread */
static void
try_orders(uint32_t threads, uint32_t *at, uint32_t barriers, uint64_t seen)
{
    bool over = true;

    for (uint32_t t = 0; t < threads; t++) {
        const char step = program[t][at[t]];

        if (step == 0)
            continue;
        over = false;
        at[t]++;
        try_orders(threads, at, barriers + (step == 'b'),
                   seen | (uint64_t)barriers << (t * 8 + at[t] * 2));
        at[t]--;
    }
    if (over)
        add_order(seen);
}

static void
check_count(const char *const *steps, uint32_t threads)
{
    struct sim_kernel kernel = {.name = "count", .threads_count = threads};
    uint32_t at[SIM_THREADS_MAX] = {0};
    uint64_t shards = 0;

    program = steps;
    orders_count = 0;
    try_orders(threads, at, 0, 0);
    for (uint32_t t = 0; t < threads; t++)
        kernel.threads[t] = (struct sim_thread){"t", count_thread, NULL};
    for (uint32_t way = 0; way < 3; way++) {
        kernel.barriers = way != 2; /* if not, a search finds it out */
        assert_int_equal(
            explore(&kernel,
                    (struct sim_exhaust_options){.by_schedules = way == 1})
                .graphs,
            orders_count);
    }
    kernel.barriers = true;
    for (uint32_t i = 1; i <= 2; i++)
        shards += explore(&kernel,
                          (struct sim_exhaust_options){.shard = i, .shards = 2})
                      .graphs;
    assert_int_equal(shards, orders_count);
}

void
barriers_count(void)
{
    static const char *const steps[][3] = {
        {"s", "b", ""},    {"sss", "b", "ss"}, {"ss", "bb", ""},
        {"s", "b", "b"},   {"bs", "bs", ""},   {"sb", "sb", "s"},
        {"sbs", "bs", ""}, {"b", "bs", "sb"},  {"sbs", "s", "b"}};
    static const char *const all[SIM_THREADS_MAX] = {"s", "b", "", "",
                                                     "",  "",  "", "s"};

    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        check_count(steps[i], 3);
    check_count(all, SIM_THREADS_MAX);
}

/* ---- What is told ---- */

static uint32_t data;
static uint32_t flag;
static uint32_t stage;
static uint32_t plain;
static uint32_t
    early; /* 2 at the end: thread 2's store was before the barrier */
static uint32_t got[2];
static uint32_t found; /* in data */
static uint32_t shape;
static uint32_t seen_of[2]; /* old, new, where the barrier is known to matter */
static uint32_t old_else;   /* old, where it is not */

static void
setup(void *context)
{
    (void)context;
    data = flag = stage = early = found = 0;
    memset(got, 0, sizeof got);
}

static uint32_t
load(uint32_t *place, int order)
{
    return __tsan_atomic32_load(place, order);
}

static void
store(uint32_t *place, uint32_t value)
{
    __tsan_atomic32_store(place, value, RLX);
}

/* Thread 0 makes the barrier. */
static void
tell_barrier(void)
{
    if (shape < 2)
        store(&early, 2);
    if (shape == 2)
        got[0] = load(&flag, RLX);
    if (shape == 3) {
        store(&data, 1);
        __tsan_write4(&plain);
    }
    sim_explore_barrier();
    if (shape == 2)
        found = load(&data, RLX);
    else
        store(shape == 1 ? &flag : &stage, 1);
}

/*
 * The shapes, with what must be found as 1 if all else is:
 *
 *   0  T0: early = 2; barrier; stage = 1
 *      T1: read flag, acquire; read DATA     the other's fence releases
 *      T2: data = 1; early = 1; read stage; flag = 1
 *   1  T0: early = 2; barrier; flag = 1
 *      T1: read flag, acquire; read DATA     its own fence releases
 *      T2: data = 1; early = 1
 *   2  T0: read flag; barrier; read DATA     it learns what others know
 *      T2: data = 1; flag = 1
 *   3  T0: data = 1; plain; barrier; stage = 1
 *      T2: read stage; read DATA; plain      others learn what it knows
 */
static void
tell_thread(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        tell_barrier();
    } else if (thread == 1 && shape < 2) {
        got[0] = load(&flag, ACQ);
        found = load(&data, RLX);
    } else if (thread == 2) {
        if (shape < 3)
            store(&data, 1);
        if (shape < 2)
            store(&early, 1);
        if (shape == 0 || shape == 3)
            got[1] = load(&stage, RLX);
        if (shape == 0 || shape == 2)
            store(&flag, 1);
        if (shape == 3)
            found = load(&data, RLX);
        if (shape == 3 && got[1] == 1)
            __tsan_read4(&plain);
    }
}

static void
note(void *context)
{
    const bool matters = (shape > 1 || early == 2) &&
                         (shape == 3 || got[0] == 1) &&
                         (shape == 1 || shape == 2 || got[1] == 1);

    (void)context;
    if (matters)
        seen_of[found]++;
    else
        old_else += found == 0;
}

void
barriers_tell(void)
{
    struct sim_kernel kernel = {
        .name = "tell", .threads_count = 3, .setup = setup, .finish = note};

    for (uint32_t t = 0; t < 3; t++)
        kernel.threads[t] = (struct sim_thread){"t", tell_thread, NULL};
    for (shape = 0; shape < 4; shape++) {
        for (uint32_t way = 0; way < 3; way++) {
            seen_of[0] = seen_of[1] = old_else = 0;
            kernel.barriers = way != 2;
            explore(&kernel,
                    (struct sim_exhaust_options){.by_schedules = way == 1});
            assert_true(seen_of[1] > 0 && old_else > 0);
            assert_int_equal(seen_of[0], 0);
        }
    }
}
