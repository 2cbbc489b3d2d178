/* places.c -- see places.h. */
#include "places.h"
#include "explore.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { BYTES = 24, RLX = __ATOMIC_RELAXED };

static _Alignas(8) uint8_t memory[BYTES];
static struct sim_rng rng;

static struct sim_exhaust_result
explore(void (*body)(void *, uint32_t), uint32_t threads, void (*setup)(void *),
        void (*finish)(void *))
{
    struct sim_kernel kernel = {.name = "places",
                                .threads_count = threads,
                                .setup = setup,
                                .finish = finish};
    struct sim_exhaust_result r;

    for (uint32_t t = 0; t < threads; t++)
        kernel.threads[t] = (struct sim_thread){"t", body, NULL};
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
    free(r.choices);
    return r;
}

static uint64_t
atomic_load(void *at, uint32_t bytes)
{
    return bytes == 1   ? __tsan_atomic8_load(at, RLX)
           : bytes == 2 ? __tsan_atomic16_load(at, RLX)
           : bytes == 4 ? __tsan_atomic32_load(at, RLX)
                        : __tsan_atomic64_load(at, RLX);
}

static void
atomic_store(void *at, uint32_t bytes, uint64_t value)
{
    if (bytes == 1)
        __tsan_atomic8_store(at, (uint8_t)value, RLX);
    else if (bytes == 2)
        __tsan_atomic16_store(at, (uint16_t)value, RLX);
    else if (bytes == 4)
        __tsan_atomic32_store(at, (uint32_t)value, RLX);
    else
        __tsan_atomic64_store(at, value, RLX);
}

/* What the bytes are as a number. */
static uint64_t
number(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* ---- Two accesses ---- */

static uint32_t offsets[2];
static uint32_t sizes[2];
static const uint64_t stored = 0xf1e2d3c4b5a69788U;

static void
fill(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < BYTES; i++)
        memory[i] = (uint8_t)(i * 37 + 11);
}

static void
pair_body(void *context, uint32_t thread)
{
    uint8_t want[BYTES];

    (void)context;
    (void)thread;
    memcpy(want, memory, BYTES);
    assert_int_equal(atomic_load(memory + offsets[0], sizes[0]),
                     number(want + offsets[0], sizes[0]));
    atomic_store(memory + offsets[0], sizes[0], stored);
    memcpy(want + offsets[0], &stored, sizes[0]);
    assert_int_equal(atomic_load(memory + offsets[1], sizes[1]),
                     number(want + offsets[1], sizes[1]));
    assert_memory_equal(memory, want, BYTES);
}

static bool
is_aligned(uint32_t i)
{
    return offsets[i] % sizes[i] == 0;
}

static void
check_pair(void)
{
    const struct sim_exhaust_result r = explore(pair_body, 1, fill, NULL);
    const struct sim_failure *f = &r.first_failure.failure;
    const bool same = offsets[0] == offsets[1] && sizes[0] == sizes[1];
    const bool apart = offsets[0] + sizes[0] <= offsets[1] ||
                       offsets[1] + sizes[1] <= offsets[0];
    const char *text = !is_aligned(0) || !is_aligned(1) ? "a misaligned atomic"
                       : !same && !apart
                           ? "atomic accesses of different size to one place"
                           : "";

    assert_int_equal(r.failures, text[0] != 0);
    if (r.failures == 0)
        return;
    assert_int_equal(f->kind, SIM_FAIL_MIXED_SIZE);
    assert_string_equal(f->text, text);
    assert_int_equal(f->other_site, 0);
}

void
places_pairs(void)
{
    for (uint32_t i = 0; i < 13 * 4 * 13 * 4; i++) {
        offsets[0] = i % 13;
        offsets[1] = i / 13 % 13;
        sizes[0] = 1U << i / 169 % 4;
        sizes[1] = 1U << i / 676;
        if (is_aligned(0) && (is_aligned(1) || offsets[0] == 8))
            check_pair();
        else if (!is_aligned(0) && offsets[1] == 0)
            check_pair();
    }
}

/* ---- Many accesses of one thread ---- */

static void
plain_write(void *at, uint32_t bytes, uint64_t value)
{
    if (bytes == 1)
        __tsan_write1(at);
    else if (bytes == 2)
        __tsan_write2(at);
    else if (bytes == 4)
        __tsan_write4(at);
    else
        __tsan_write8(at);
    memcpy(at, &value, bytes);
}

static void
bytes_body(void *context, uint32_t thread)
{
    /* Atomics, each of one size. */
    static const uint8_t at[][2] = {{0, 1}, {1, 1}, {2, 2},
                                    {4, 4}, {8, 8}, {16, 4}};
    struct sim_rng draw = rng;
    uint8_t want[BYTES];

    (void)context;
    (void)thread;
    memcpy(want, memory, BYTES);
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t bytes = 1U << sim_rng_below(&draw, 4);
        const uint32_t offset = bytes * sim_rng_below(&draw, BYTES / bytes);
        const uint64_t value = sim_rng_next(&draw);
        const uint8_t *a = at[sim_rng_below(&draw, 6)];

        switch (sim_rng_below(&draw, 3)) {
        case 0:
            plain_write(memory + offset, bytes, value);
            memcpy(want + offset, &value, bytes);
            break;
        case 1:
            atomic_store(memory + a[0], a[1], value);
            memcpy(want + a[0], &value, a[1]);
            break;
        default:
            assert_int_equal(atomic_load(memory + a[0], a[1]),
                             number(want + a[0], a[1]));
        }
        assert_memory_equal(memory, want, BYTES);
    }
}

void
places_bytes(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rng.state = seed;
        assert_int_equal(explore(bytes_body, 1, fill, NULL).verdict,
                         SIM_VERDICT_PASS);
    }
}

/* ---- Old values ---- */

static uint64_t place;
static uint32_t told;
static uint32_t sides[2];
static bool asks;
static uint32_t outcomes;
static uint64_t got[2];

static void
clear(void *context)
{
    (void)context;
    place = told = sides[0] = sides[1] = 0;
    asks = false;
    got[0] = got[1] = 0;
}

/* T0: place = 5; plain 7; told = 1, released; place = 9 */
static void
old_body(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        __tsan_atomic64_store(&place, 5, __ATOMIC_SEQ_CST);
        __tsan_write8(&place);
        place = 7;
        __tsan_atomic32_store(&told, 1, __ATOMIC_RELEASE);
        __tsan_atomic64_store(&place, 9, RLX);
        return;
    }
    asks = __tsan_atomic32_load(&told, __ATOMIC_ACQUIRE) == 1;
    if (!asks)
        return;
    got[0] = __tsan_atomic64_load(&place, __ATOMIC_SEQ_CST);
    got[1] = __tsan_atomic64_load(&place, __ATOMIC_SEQ_CST);
}

static void
note_old(void *context)
{
    static const uint64_t may[][2] = {{0, 0}, {7, 7}, {7, 9}, {9, 9}};

    (void)context;
    for (uint32_t i = 0; i < 4; i++)
        outcomes |= (got[0] == may[i][0] && got[1] == may[i][1]) ? 1U << i : 0;
    assert_true(got[0] != 5 && got[0] <= got[1]);
}

/* seq_cst stores that a plain write came over, and then store buffering. */
static void
reuse_body(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        __tsan_atomic64_store(&place, 4, __ATOMIC_SEQ_CST);
        __tsan_atomic64_store(&place, 5, __ATOMIC_SEQ_CST);
        __tsan_write8(&place);
    }
    __tsan_atomic32_store(&sides[thread], 1, RLX);
    got[thread] = __tsan_atomic32_load(&sides[1 - thread], __ATOMIC_SEQ_CST);
}

static void
note_sides(void *context)
{
    (void)context;
    outcomes |= 1U << (got[0] * 2 + got[1]);
}

void
places_old_values(void)
{
    outcomes = 0;
    assert_int_equal(explore(old_body, 2, clear, note_old).verdict,
                     SIM_VERDICT_PASS);
    assert_int_equal(outcomes, 15);
    outcomes = 0;
    assert_int_equal(explore(reuse_body, 2, clear, note_sides).verdict,
                     SIM_VERDICT_PASS);
    assert_int_equal(outcomes, 15);
}

/* ---- Races ---- */

/* clang-format off */
#define ACCESS(name, call)                                  \
    static __attribute__((noinline)) void name(void)        \
    {                                                       \
        call;                                               \
        __asm__ volatile("");                               \
    }
/* clang-format on */

ACCESS(plain_load_it, __tsan_read8(&place))
ACCESS(plain_store_it, __tsan_write8(&place))
ACCESS(load_it, __tsan_atomic64_load(&place, RLX))
ACCESS(store_it, __tsan_atomic64_store(&place, 0, RLX))
ACCESS(exchange_it, __tsan_atomic64_exchange(&place, 0, RLX))
ACCESS(swap_it, __tsan_atomic64_compare_exchange_val(&place, 0, 0, RLX, RLX))
ACCESS(swap_not, __tsan_atomic64_compare_exchange_val(&place, 1, 2, RLX, RLX))

static const struct {
    void (*make)(void);
    bool plain;
    bool writes;
} accesses[] = {{plain_load_it, true, false}, {plain_store_it, true, true},
                {load_it, false, false},      {store_it, false, true},
                {exchange_it, false, true},   {swap_it, false, true},
                {swap_not, false, false}};

static uint32_t chosen[2];

/* Each has an access before that tells nothing of the other. */
static void
race_body(void *context, uint32_t thread)
{
    (void)context;
    __tsan_atomic32_store(&told, thread, RLX);
    accesses[chosen[thread]].make();
}

static bool
is_in(uintptr_t site, uint32_t i)
{
    return site - (uintptr_t)accesses[i].make < 128;
}

/* The last thread knows and tells as much as any. T6: place = 1; T7: reads it,
 * writes told, plain, and raises the flag; T0: told, if the flag is raised. */
static uint32_t flag;

static void
last_body(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 6) {
        __tsan_atomic64_store(&place, 1, RLX);
    } else if (thread == 7) {
        got[0] = __tsan_atomic64_load(&place, RLX);
        __tsan_write4(&told);
        __tsan_atomic32_store(&flag, 1, __ATOMIC_RELEASE);
    } else if (thread == 0 &&
               __tsan_atomic32_load(&flag, __ATOMIC_ACQUIRE) == 1) {
        __tsan_write4(&told);
        got[1] = __tsan_atomic64_load(&place, RLX);
        assert_true(got[1] >= got[0]);
    }
}

static void
clear_flag(void *context)
{
    clear(context);
    flag = 0;
}

void
places_races(void)
{
    assert_int_equal(explore(last_body, 8, clear_flag, NULL).verdict,
                     SIM_VERDICT_PASS);
    for (uint32_t i = 0; i < 49; i++) {
        struct sim_exhaust_result r;
        const struct sim_failure *f = &r.first_failure.failure;
        bool races;

        chosen[0] = i % 7;
        chosen[1] = i / 7;
        races = (accesses[chosen[0]].plain || accesses[chosen[1]].plain) &&
                (accesses[chosen[0]].writes || accesses[chosen[1]].writes);
        r = explore(race_body, 2, clear, NULL);
        assert_int_equal(r.failures > 0, races);
        if (!races)
            continue;
        assert_int_equal(f->kind, SIM_FAIL_RACE);
        assert_true(
            (is_in(f->site, chosen[0]) && is_in(f->other_site, chosen[1])) ||
            (is_in(f->site, chosen[1]) && is_in(f->other_site, chosen[0])));
    }
}
