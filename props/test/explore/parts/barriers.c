/* barriers.c -- see barriers.h. */
#include "barriers.h"
#include "explore.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE };

static struct sim_exhaust_result
explore(struct sim_kernel *kernel, uint32_t way)
{
    const struct sim_exhaust_options options = {.by_schedules = way == 1};
    struct sim_exhaust_result r;

    kernel->barriers = way != 2; /* not said: it is found out */
    sim_explore_exhaust(kernel, &options, &r);
    free(r.choices);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    return r;
}

/* ---- How many graphs ---- */

static uint32_t stores[3];
static uint32_t barriers[3];
static uint32_t own[3];

static void
count_thread(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < stores[thread]; i++)
        __tsan_atomic32_store(&own[thread], i, RLX);
    for (uint32_t i = 0; i < barriers[thread]; i++)
        sim_explore_barrier();
}

static void
check_count(uint32_t threads, uint64_t want)
{
    struct sim_kernel kernel = {.name = "count", .threads_count = threads};

    for (uint32_t t = 0; t < threads; t++)
        kernel.threads[t] = (struct sim_thread){"t", count_thread, NULL};
    for (uint32_t way = 0; way < 3; way++)
        assert_int_equal(explore(&kernel, way).graphs, want);
}

void
barriers_count(void)
{
    static const uint32_t choose[][4] = {{1, 1, 1, 1}, {1, 2, 3, 4}};

    for (uint32_t k = 0; k <= 3; k++) {
        for (uint32_t j = 0; j <= 2; j++) {
            stores[0] = k;
            stores[1] = 0;
            stores[2] = j;
            barriers[0] = barriers[2] = 0;
            barriers[1] = 1;
            check_count(3, choose[1][k] * choose[1][j]);
        }
        barriers[1] = 2; /* k stores among two barriers */
        check_count(2, (k + 1) * (k + 2) / 2);
        /* Its store comes before both barriers, in between, or behind. Of two
         * threads' barriers either one is first. */
        stores[0] = k;
        barriers[1] = barriers[2] = 1;
        stores[2] = 0;
        check_count(3, 2 * (k + 1) * (k + 2) / 2);
    }
    barriers[2] = 0;
}

/* ---- What is told ---- */

static uint32_t data;
static uint32_t flag;
static uint32_t stage;
static uint32_t got[4];
static uint32_t shape;
static uint32_t seen_of[2]; /* old, new, where the barrier is known to matter */
static uint32_t old_else;   /* old, where it is not */

static void
setup(void *context)
{
    (void)context;
    data = flag = stage = 0;
    memset(got, 0, sizeof got);
}

static uint32_t
load(uint32_t *place, int order)
{
    return __tsan_atomic32_load(place, order);
}

static void
store(uint32_t *place)
{
    __tsan_atomic32_store(place, 1, RLX);
}

/*
 * The shapes, with what must be read as 1 if all else is:
 *
 *   0  T0: data = 1; read stage; flag = 1
 *      T1: read flag, acquire; read DATA     the other's fence releases
 *      T2: read data; barrier; stage = 1
 *   1  T0: data = 1
 *      T1: read flag, acquire; read DATA     its own fence releases
 *      T2: read data; barrier; flag = 1
 *   2  T0: data = 1; flag = 1
 *      T2: read flag; barrier; read DATA     it learns what others know
 *   3  T0: read stage; read DATA             others learn what it knows
 *      T2: data = 1; barrier; stage = 1
 */
static void
tell_thread(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 1 && shape < 2) {
        got[2] = load(&flag, ACQ);
        got[3] = load(&data, RLX);
    } else if (thread == 0) {
        if (shape < 3)
            store(&data);
        if (shape == 0)
            got[0] = load(&stage, RLX);
        if (shape == 0 || shape == 2)
            store(&flag);
        if (shape == 3) {
            got[0] = load(&stage, RLX);
            got[3] = load(&data, RLX);
        }
    } else if (thread == 2) {
        if (shape < 2)
            got[1] = load(&data, RLX);
        if (shape == 2)
            got[1] = load(&flag, RLX);
        if (shape == 3)
            store(&data);
        sim_explore_barrier();
        if (shape == 2)
            got[3] = load(&data, RLX);
        else
            store(shape == 1 ? &flag : &stage);
    }
}

static void
note(void *context)
{
    /* Which reads must be 1 for the barrier to matter. */
    static const uint32_t must[][3] = {
        {1, 1, 1}, {0, 1, 1}, {0, 1, 0}, {1, 0, 0}};
    bool all = true;

    (void)context;
    for (uint32_t i = 0; i < 3; i++)
        all &= got[i] >= must[shape][i];
    if (all)
        seen_of[got[3]]++;
    else
        old_else += got[3] == 0;
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
            explore(&kernel, way);
            assert_true(seen_of[1] > 0 && old_else > 0);
            assert_int_equal(seen_of[0], 0);
        }
    }
}
