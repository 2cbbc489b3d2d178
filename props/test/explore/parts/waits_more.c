/* waits_more.c -- see waits.h: what a round of a wait loop must not hide. */
#include "waits.h"
#include "engine.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RLX = __ATOMIC_RELAXED };

static uint32_t places[4];

static void
clear(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
}

/* ---- Newer values after a wait ---- */

static uint32_t last_stored; /* unseen by the explorer, like the next two */
static bool waited;
static bool between_seen; /* 1 was read after a wait, when there was a 2 */

static void
forget_stored(void *context)
{
    clear(context);
    last_stored = 0;
    waited = false;
}

static void
wait_for_newer(void *context, uint32_t thread)
{
    (void)context;
    while (thread == 0) {
        const uint32_t value = __tsan_atomic32_load(&places[0], RLX);

        between_seen |= waited && value == 1 && last_stored == 2;
        if (value != 0)
            return;
        waited = true;
        sim_explore_spin_wait();
    }
    for (uint32_t i = 1; i <= 2; i++) {
        __tsan_atomic32_store(&places[0], i, RLX);
        last_stored = i;
    }
}

static void
expect_whole(void *context, const struct sim_run *run)
{
    (void)context;
    assert_false(run->bounded);
}

static void
waits_newer(void)
{
    const struct sim_kernel kernel = {
        .name = "newer",
        .threads_count = 2,
        .threads = {{"w", wait_for_newer, NULL}, {"s", wait_for_newer, NULL}},
        .setup = forget_stored};
    struct sim_exhaust_result r;

    between_seen = false;
    sim_explore_sample(
        &kernel,
        &(struct sim_sample_options){.runs = 300, .after_run = expect_whole},
        &r);
    assert_int_equal(r.failures, 0);
    assert_true(between_seen);
}

static void
wait_for_both(void *context, uint32_t thread)
{
    (void)context;
    while (thread == 0) {
        const uint32_t first = __tsan_atomic32_load(&places[0], RLX);

        if (__tsan_atomic32_load(&places[1], RLX) == 1 && first == 1)
            return;
        sim_explore_spin_wait();
    }
    __tsan_atomic32_store(&places[1], 1, RLX);
    __tsan_atomic32_store(&places[0], 1, RLX);
}

/* A probe that ends in the middle of its round leaves nothing to the next. */
static void
wait_in_reverse(void)
{
    const struct sim_kernel kernel = {
        .name = "reverse",
        .threads_count = 2,
        .threads = {{"w", wait_for_both, NULL}, {"s", wait_for_both, NULL}},
        .setup = clear};
    struct sim_exhaust_result r;

    sim_explore_sample(
        &kernel,
        &(struct sim_sample_options){.runs = 300, .after_run = expect_whole},
        &r);
    assert_int_equal(r.failures, 0);
}

/* ---- Rounds that take another way ---- */

static bool longer; /* the way of the first and sixth round is longer */

/* The value 1 of the second place comes after that of the third. */
static void
take_another_way(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t n = 0; thread == 0 && n < 8; n++) {
        const bool other = n == 5 || (longer && n == 0);
        uint32_t first = 1;
        uint32_t second = 1;

        (void)__tsan_atomic32_load(&places[0], RLX);
        if (longer || !other)
            first = __tsan_atomic32_load(&places[1], RLX);
        if (!longer && other)
            first = __tsan_atomic32_load(&places[2], RLX);
        if (other)
            second = __tsan_atomic32_load(&places[longer ? 2 : 1], RLX);
        if (n == 5 && first == 1 && second == 0)
            sim_explore_fail("the new value came first");
        sim_explore_spin_wait();
    }
    if (thread == 1) {
        __tsan_atomic32_store(&places[longer ? 2 : 1], 1, RLX);
        __tsan_atomic32_store(&places[longer ? 1 : 2], 1, RLX);
    }
}

/* What is not in each round is read like by any code: also an old value. */
static void
waits_ways(void)
{
    const struct sim_kernel kernel = {
        .name = "ways",
        .threads_count = 2,
        .threads = {{"w", take_another_way, NULL},
                    {"s", take_another_way, NULL}},
        .setup = clear};

    for (uint32_t i = 0; i < 4; i++) {
        struct sim_exhaust_result r;

        longer = i % 2 == 1;
        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = i > 1}, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
        assert_string_equal(r.first_failure.failure.text,
                            "the new value came first");
        free(r.choices);
    }
}

/* ---- Rounds that do more than read ---- */

static uint32_t data;
static bool marks;

static void
wait_and_read(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 0) {
        if (__tsan_atomic32_load(&places[1], RLX) == 1)
            __tsan_write4(&data);
        __tsan_atomic32_store(&places[0], 1, RLX);
    }
    if (thread == 1)
        __tsan_atomic32_store(&places[1], 1, RLX);
    while (thread == 2 && __tsan_atomic32_load(&places[0], RLX) == 0) {
        if (marks)
            sim_explore_mark();
        __tsan_read4(&data);
        sim_explore_spin_wait();
    }
}

/* A round in which the thread reads data is not only a round: where it first
 * comes to one, nobody writes them; elsewhere there is a race. */
static void
waits_do_more(void)
{
    const struct sim_kernel kernel = {.name = "more",
                                      .threads_count = 3,
                                      .threads = {{"d", wait_and_read, NULL},
                                                  {"s", wait_and_read, NULL},
                                                  {"w", wait_and_read, NULL}},
                                      .setup = clear};

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_exhaust_result r;

        marks = i == 1;
        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
        assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_RACE);
        free(r.choices);
    }
}

/* ---- Rounds that try to change ---- */

static uint32_t won;  /* the round in which it could exchange */
static uint32_t wons; /* a bit for each that was seen */

static void
exchange_in_time(void *context, uint32_t thread)
{
    uint32_t late;
    uint32_t n;

    (void)context;
    for (uint32_t i = 0; thread == 1 && i < 2; i++)
        __tsan_atomic32_store(&places[i], 1, RLX);
    late = thread == 0 && __tsan_atomic32_load(&places[1], RLX) == 1;
    for (n = 0; thread == 0 && n < 4; n++) {
        uint32_t expected = 1;

        if (__tsan_atomic32_compare_exchange_strong(&places[0], &expected, 2,
                                                    RLX, RLX) != 0)
            break;
        sim_explore_spin_wait();
    }
    if (late)
        won = n;
}

static void
note_won(void *context)
{
    (void)context;
    wons |= 1U << won;
}

static void
forget_won(void *context)
{
    clear(context);
    won = 31; /* who came early is not counted */
}

/* Each round that is explored may be the first that can, also when all of them
 * come after the store. */
static void
waits_exchange(void)
{
    const struct sim_kernel kernel = {
        .name = "exchange",
        .threads_count = 2,
        .threads = {{"e", exchange_in_time, NULL},
                    {"s", exchange_in_time, NULL}},
        .setup = forget_won,
        .finish = note_won};

    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t unroll = 1 + i / 2;
        struct sim_exhaust_result r;

        wons = 0;
        sim_explore_exhaust(
            &kernel,
            &(struct sim_exhaust_options){.run.unroll = unroll,
                                          .by_schedules = i % 2 == 1},
            &r);
        assert_int_equal(r.failures, 0);
        for (uint32_t k = 0; k <= unroll; k++)
            assert_true((wons >> k & 1) != 0);
    }
}

static void
exchange_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t n = 0; n < 6; n++) {
        uint32_t expected = 0;

        (void)__tsan_atomic32_load(&places[0], RLX);
        if (n == 3)
            (void)__tsan_atomic32_compare_exchange_strong(&places[1], &expected,
                                                          1, RLX, RLX);
        sim_explore_spin_wait();
    }
}

/* An exchange that no round had before is none of its reads. */
static void
waits_exchange_once(void)
{
    const struct sim_kernel kernel = {.name = "once",
                                      .threads_count = 1,
                                      .threads = {{"e", exchange_once, NULL}},
                                      .setup = clear};
    struct round *r = &sim_engine.threads[0].round;
    struct sim_exhaust_result result;

    memset(r->reads, 0, sizeof r->reads);
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &result);
    assert_int_equal(result.failures, 0);
    assert_int_equal(result.graphs, 1);
}

/* ---- Last rounds ---- */

static bool marked; /* rounds end with a call */
static uint32_t kind;

static void
pause_if_marked(void)
{
    if (marked)
        sim_explore_spin_wait();
}

static uint32_t
load(uint32_t place)
{
    return __tsan_atomic32_load(&places[place], RLX);
}

/* Places 2 and 1 are set in any case, but place 0 only if thread 0 comes later.
 */
static void
wait_to_the_end(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 1) {
        const uint32_t come = __tsan_atomic32_fetch_add(&places[3], 0, RLX);

        __tsan_atomic32_store(&places[2], 1, RLX);
        __tsan_atomic32_store(&places[1], 1, RLX);
        if (come == 0)
            __tsan_atomic32_store(&places[0], 1, RLX);
        return;
    }
    __tsan_atomic32_fetch_add(&places[3], 1, RLX);
    while (kind != 1 && load(1) == 0)
        pause_if_marked();
    for (uint32_t i = 0; kind == 2 && i < 70; i++)
        (void)load(2);
    while (load(0) == 0) {
        if (kind == 1 && load(1) == 0)
            (void)load(2);
        pause_if_marked();
    }
}

/*
 * Without preemptions thread 0 waits before thread 1 begins, or comes after it.
 * Only in the first case it waits for ever, and only when it goes round once
 * more: then it comes to another loop, makes a shorter round, or comes to the
 * loop after more loads than are recorded.
 */
static void
waits_last(bool with_marks)
{
    const struct sim_kernel kernel = {
        .name = "last",
        .threads_count = 2,
        .threads = {{"w", wait_to_the_end, NULL}, {"s", wait_to_the_end, NULL}},
        .setup = clear};

    marked = with_marks;
    sim_engine.program = !marked;
    for (kind = 0; kind < 3; kind++) {
        const struct sim_exhaust_options options = {
            .run = {.bounded = true, .silent_ms = 100}};
        struct sim_exhaust_result r;

        sim_explore_exhaust(&kernel, &options, &r);
        assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_LIVELOCK);
        assert_int_equal(r.first_failure.failure.thread, 0);
        free(r.choices);
    }
    sim_engine.program = false;
}

/* ---- Loops that are not known ---- */

static void
give_up(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 5; i++) {
        if (__tsan_atomic32_load(&places[0], RLX) != 0)
            return;
        sim_explore_spin_wait();
    }
}

/* There is no room for another loop: none of its rounds is like another. */
static void
waits_unknown(void)
{
    const struct sim_kernel kernel = {.name = "unknown",
                                      .threads_count = 1,
                                      .threads = {{"w", give_up, NULL}},
                                      .setup = clear};

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_exhaust_result r;

        sim_explore_exhaust(
            &kernel, &(struct sim_exhaust_options){.by_schedules = i == 1}, &r);
        assert_int_equal(r.failures, 0);
        assert_int_equal(r.graphs, 1);
        assert_int_equal(r.bounded, 1);
    }
}

/* ---- Rounds without a load ---- */

static void
load_sometimes(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t n = 0; n < 4; n++) {
        if (n % 2 == 0)
            (void)load(0);
        sim_explore_spin_wait();
    }
}

/* Such a round waits for nothing. */
static void
waits_for_nothing(void)
{
    const struct sim_kernel kernel = {.name = "nothing",
                                      .threads_count = 1,
                                      .threads = {{"w", load_sometimes, NULL}},
                                      .setup = clear};
    struct sim_exhaust_result r;

    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
    assert_int_equal(r.failures, 0);
    assert_int_equal(r.graphs, 1);
}

/* ---- All ---- */

void
waits_try(void)
{
    waits_last(false); /* before its sites are known from marked loops */
    waits_go_on();
    waits_pause();
    waits_race();
    waits_rounds();
    waits_count();
    waits_changes();
    waits_newer();
    wait_in_reverse();
    waits_ways();
    waits_do_more();
    waits_exchange();
    waits_exchange_once();
    waits_last(true);
    waits_for_nothing();
    waits_state(); /* it fills the table of loops */
    waits_unknown();
}
