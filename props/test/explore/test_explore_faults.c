/*
 * test_explore_faults.c -- known mistakes of Go's profiler and tracer are found
 * and shrunk; when they are corrected, the same programs pass. A run
 * records each event as its thread saw it. The tests of calls and of data races
 * are in run_calls.c, run_races.c, run_plain.c, run_engine.c, run_sites.c and
 * run_reads.c.
 */
#include "engine.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "known_faults.h"
#include "run_calls.h"
#include "run_races.h"
#include "unit_test.h"

/* Explore a program that fails. out: text, the report */
static void
find(enum fixtures_fault fault, enum sim_failure_kind kind, char *text,
     size_t text_bytes)
{
    const struct sim_kernel *kernel = fixtures_fault(fault, true);
    const struct sim_exhaust_options options = {.runs_max = 10000,
                                                .by_schedules = true};
    struct sim_exhaust_result result;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(sim_explore_exhaust(kernel, &options, &result),
                     SIM_VERDICT_FAIL);
    assert_int_equal(result.first_failure.failure.kind, kind);
    sim_explore_report(file, NULL, kernel, &result);
    assert_true(result.fewest_known);
    rewind(file);
    text[fread(text, 1, text_bytes - 1, file)] = '\0';
    fclose(file);
    free(result.choices);
}

static void
passes(enum fixtures_fault fault)
{
    const struct sim_exhaust_options options = {.runs_max = 10000};
    struct sim_exhaust_result result;

    assert_int_equal(
        sim_explore_exhaust(fixtures_fault(fault, false), &options, &result),
        SIM_VERDICT_PASS);
    assert_true(result.graphs > 1);
    free(result.choices);
}

TEST(a_cycle_read_before_the_lock_is_found)
{
    char text[8192];

    find(FIXTURES_CYCLE_BEFORE_LOCK, SIM_FAIL_CHECK, text, sizeof text);
    assert_non_null(
        strstr(text, "an allocation shows in the cycle it was made in"));
    assert_non_null(strstr(text, "preemptions: 1"));
    passes(FIXTURES_CYCLE_BEFORE_LOCK);
}

TEST(an_owner_who_is_parked_is_found)
{
    char text[8192];

    find(FIXTURES_OWNER_WHILE_PARKED, SIM_FAIL_RACE, text, sizeof text);
    assert_non_null(strstr(text, "data race"));
    passes(FIXTURES_OWNER_WHILE_PARKED);
}

/* ---- What a run records ---- */

enum { NOTES_MAX = 64, WIDTHS = 4, THREADS = 3, STEPS = 6 };

/* By width: of 1, 2, 4 and 8 bytes. */
static void *const loads[] = {
    (void *)(uintptr_t)__tsan_atomic8_load,
    (void *)(uintptr_t)__tsan_atomic16_load,
    (void *)(uintptr_t)__tsan_atomic32_load,
    (void *)(uintptr_t)__tsan_atomic64_load,
};
static void *const stores[] = {
    (void *)(uintptr_t)__tsan_atomic8_store,
    (void *)(uintptr_t)__tsan_atomic16_store,
    (void *)(uintptr_t)__tsan_atomic32_store,
    (void *)(uintptr_t)__tsan_atomic64_store,
};
static void *const exchanges[] = {
    (void *)(uintptr_t)__tsan_atomic8_exchange,
    (void *)(uintptr_t)__tsan_atomic16_exchange,
    (void *)(uintptr_t)__tsan_atomic32_exchange,
    (void *)(uintptr_t)__tsan_atomic64_exchange,
};
static void *const strong[] = {
    (void *)(uintptr_t)__tsan_atomic8_compare_exchange_strong,
    (void *)(uintptr_t)__tsan_atomic16_compare_exchange_strong,
    (void *)(uintptr_t)__tsan_atomic32_compare_exchange_strong,
    (void *)(uintptr_t)__tsan_atomic64_compare_exchange_strong,
};

static struct sim_rng rng;
static uint64_t places[2];
static char lock;
static uint32_t width; /* its number */
static uint64_t next_value;
static struct trace_event made[NOTES_MAX]; /* as the threads saw them */
static uint32_t made_count;
static struct trace_event traced[TRACE_MAX];
static uint32_t checks; /* of the invariant */
static uint32_t fails_at;

static void
note(struct trace_event event)
{
    event.thread = sim_explore_thread();
    made[made_count++] = event;
}

static void
access_place(void *at)
{
    static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_SEQ_CST};
    const uint32_t kind = sim_rng_below(&rng, 4);
    const int order = orders[sim_rng_below(&rng, 2)];
    const int failure = orders[sim_rng_below(&rng, 2)];
    const uint64_t mine = ++next_value;
    struct trace_event e = {.address = (uintptr_t)at,
                            .bytes = 1U << width,
                            .order = order,
                            .value = mine};
    const uint64_t mask = UINT64_MAX >> (64 - 8 * e.bytes);
    uint64_t expected = sim_rng_below(&rng, (uint32_t)mine);

    switch (kind) {
    case 0:
        e.op = SIM_OP_LOAD;
        e.value = CALL(loads[width], at, order) & mask;
        break;
    case 1:
        e.op = SIM_OP_STORE;
        CALL(stores[width], at, mine, order);
        break;
    case 2:
        e.op = SIM_OP_RMW;
        e.written = mine;
        e.value = CALL(exchanges[width], at, mine, order) & mask;
        e.ok = true;
        break;
    default:
        e.op = SIM_OP_CAS;
        e.value = expected;
        e.ok =
            (CALL(strong[width], at, &expected, mine, order, failure) & 1) != 0;
        e.written = e.ok ? mine : 0;
        if (!e.ok) {
            e.order = failure;
            e.value = expected;
        }
        break;
    }
    note(e);
}

static void
make_steps(void *context, uint32_t thread)
{
    struct trace_event e = {.address = (uintptr_t)&lock, .ok = true};

    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < STEPS; i++) {
        switch (sim_rng_below(&rng, 12)) {
        case 0:
            CALL(__tsan_atomic_thread_fence, __ATOMIC_RELAXED); /* no event */
            CALL(__tsan_atomic_thread_fence, __ATOMIC_ACQ_REL);
            note((struct trace_event){.op = SIM_OP_FENCE,
                                      .order = __ATOMIC_ACQ_REL});
            break;
        case 1:
            CALL(sim_explore_barrier);
            note((struct trace_event){.op = SIM_OP_BARRIER});
            break;
        case 2:
        case 3:
            e.op = SIM_OP_LOCK;
            e.ok = (CALL(sim_explore_trylock, &lock, 0) & 1) != 0;
            note(e);
            if (!e.ok)
                break;
            access_place(&places[0]);
            e.op = SIM_OP_UNLOCK;
            CALL(sim_explore_unlock, &lock);
            note(e);
            break;
        default:
            access_place(&places[sim_rng_below(&rng, 2)]);
            break;
        }
    }
}

static void
begin_steps(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
    next_value = made_count = checks = 0;
}

/* Called after each event, and what it reads is none. */
static void
check_events(void *context)
{
    (void)context;
    checks++;
    assert_int_equal(sim_engine.trace_count, checks);
    (void)__tsan_atomic64_load(&places[0], __ATOMIC_SEQ_CST);
    sim_explore_check(checks != fails_at, "it is the one that fails");
}

/* Of a place: its stores in modification order, as indices of events. */
struct history {
    uint32_t stores[NOTES_MAX];
    uint32_t count;
};

static uint32_t
place_in(const struct history *h, uint32_t event)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->stores[i] == event)
            return i;
    }
    fail_msg("no such store");
    return 0;
}

static void
insert(struct history *h, uint32_t at, uint32_t event)
{
    for (uint32_t i = h->count++; i > at; i--)
        h->stores[i] = h->stores[i - 1];
    h->stores[at] = event;
}

/* The event that wrote a value; each store has one of its own. */
static uint32_t
writer_of(uint64_t value, uint32_t before)
{
    for (uint32_t i = 0; value != 0 && i < before; i++) {
        if (made[i].op == SIM_OP_STORE ? made[i].value == value
                                       : made[i].written == value)
            return i;
    }
    assert_int_equal(value, 0);
    return TRACE_MAX;
}

/* Compare an event with what its thread saw. returns: is it a stale read? */
static bool
compare_event(struct history *h, uint32_t i)
{
    const struct trace_event *want = &made[i];
    const struct trace_event *e = &traced[i];
    uint32_t at;

    assert_int_equal(e->op, want->op);
    assert_int_equal(e->thread, want->thread);
    assert_int_equal(e->order, want->order);
    assert_int_equal(e->ok, e->op != SIM_OP_BARRIER && want->ok);
    assert_int_equal(e->site, HERE);
    assert_int_equal(e->address, want->address);
    assert_int_equal(e->bytes, want->bytes);
    assert_int_equal(e->value, want->value);
    assert_int_equal(e->written, want->written);
    assert_null(e->what);
    if (e->op == SIM_OP_STORE) {
        at = e->before == TRACE_MAX ? h->count : place_in(h, e->before);
        insert(h, at, i);
    }
    if (e->op > SIM_OP_CAS || e->op == SIM_OP_STORE) {
        assert_int_equal(e->from, TRACE_MAX);
        assert_int_equal(e->newest, TRACE_MAX);
        return false;
    }
    assert_int_equal(e->before, TRACE_MAX);
    assert_int_equal(e->from, writer_of(e->value, i));
    assert_int_equal(e->newest, h->stores[h->count - 1]);
    at = place_in(h, e->from);
    assert_int_equal(e->behind, h->count - 1 - at);
    if (e->written != 0)
        insert(h, at + 1, i);
    return e->behind > 0;
}

static const struct sim_kernel steps_kernel = {
    .name = "steps",
    .about = "any",
    .setup = begin_steps,
    .invariant = check_events,
    .threads = {{.name = "a", .body = make_steps},
                {.name = "b", .body = make_steps},
                {.name = "c", .body = make_steps}},
    .threads_count = THREADS,
};

static struct sim_run
run_steps(uint64_t seed)
{
    static struct sim_choice list[1024];
    struct sim_choices choices;
    struct sim_run run;

    rng.state = seed;
    width = (uint32_t)seed % WIDTHS;
    sim_choices_init(&choices, list, 1024);
    sim_choices_random(&choices, seed);
    sim_engine.trace = traced;
    sim_explore_run(&steps_kernel, &(struct sim_run_options){0}, &choices,
                    &run);
    sim_engine.trace = NULL;
    return run;
}

TEST(each_event_is_recorded_as_its_thread_saw_it)
{
    fails_at = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct history histories[3] = {{.stores = {TRACE_MAX}, .count = 1},
                                       {.stores = {TRACE_MAX}, .count = 1}};
        const struct sim_run run = run_steps(seed);
        uint32_t stale = 0;

        assert_int_equal(run.end, SIM_END_COMPLETE);
        assert_int_equal(sim_engine.trace_count, made_count);
        assert_int_equal(checks, made_count);
        for (uint32_t i = 0; i < made_count; i++) {
            const bool first = made[i].address == (uintptr_t)&places[0];
            const bool second = made[i].address == (uintptr_t)&places[1];

            stale += compare_event(&histories[first ? 0 : second ? 1 : 2], i);
        }
        assert_int_equal(run.stale, stale);
        for (uint32_t i = 0; i < 2; i++) {
            const struct history *h = &histories[i];
            const uint32_t last = h->stores[h->count - 1];
            const uint64_t value = last == TRACE_MAX ? 0
                                   : made[last].op == SIM_OP_STORE
                                       ? made[last].value
                                       : made[last].written;

            assert_int_equal(places[i], value);
        }
    }
}

TEST(an_invariant_ends_the_run_at_the_event_that_breaks_it)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct sim_run run;

        fails_at = 1 + (uint32_t)seed % 18;
        run = run_steps(seed);
        assert_int_equal(run.end, SIM_END_FAILED);
        assert_int_equal(run.failure.kind, SIM_FAIL_CHECK);
        assert_string_equal(run.failure.text, "it is the one that fails");
        assert_int_equal(checks, fails_at);
        assert_int_equal(sim_engine.trace_count, fails_at);
        assert_int_equal(run.failure.thread, traced[fails_at - 1].thread);
    }
}

/* A debugger that stops before an event finds every thread's stack. */
TEST(a_stop_before_an_event_shows_where_each_thread_is)
{
    const uint64_t *view = sim_trace_view;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        static struct sim_choice list[1024];
        static struct trace_event events[TRACE_MAX];
        struct sim_choices choices;
        struct sim_run run;
        uint32_t stop;
        uint32_t end;

        fails_at = seed % 3 == 0 ? 9 : 0;
        run_steps(seed);
        end = sim_engine.trace_count;
        memcpy(events, traced, end * sizeof events[0]);
        stop = (uint32_t)(seed * 7) % (end + 1);
        rng.state = seed;
        sim_choices_init(&choices, list, 1024);
        sim_choices_random(&choices, seed);
        memset(sim_trace_view, 0xff, 16);
        sim_trace_stop_before(stop);
        sim_explore_run(&steps_kernel, &(struct sim_run_options){0}, &choices,
                        &run);
        sim_engine.trace = NULL;
        assert_int_equal(sim_engine.trace_count, end);
        if (stop == end && fails_at == 0) {
            assert_int_not_equal(sim_engine.trace_stop, 0); /* not met */
            sim_engine.trace_stop = 0;
            continue;
        }
        assert_int_equal(sim_engine.trace_stop, 0);
        assert_int_equal(view[0], stop);
        assert_int_equal(view[1], THREADS);
        for (uint32_t t = 0; t < THREADS; t++) {
            const uint64_t *row = &view[view[2] + 4 * t];
            const uintptr_t stack =
                (uintptr_t)sim_engine.threads[t].fiber.stack;
            bool goes_on = false;

            for (uint32_t i = stop; i < end; i++)
                goes_on |= events[i].thread == t;
            assert_int_equal(row[1], stack);
            assert_int_equal(row[2], stack + SIM_FIBER_STACK_BYTES);
            assert_true(row[0] > row[1] && row[0] < row[2]);
            if (goes_on || fails_at == 0)
                assert_int_equal(row[3], !goes_on);
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL) + run_calls_tests() + run_races_tests() +
           run_plain_tests() + run_engine_tests() + run_sites_tests() +
           run_locks_tests() + run_ends_tests() + run_stops_tests() +
           run_reads_tests();
}
