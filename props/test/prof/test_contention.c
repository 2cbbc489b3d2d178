/*
 * test_contention.c -- the block and mutex profiles: each call, several threads
 * at once, and random worlds, whose waits must all be in the profile.
 */
#include <stdlib.h>
#include <pthread.h>
#include <string.h>

#include "aligned_block.h"
#include "generate.h"
#include "sampling_fixture.h"
#include "rng.h"
#include "unit_test.h"

/* ---- calls ---- */

TEST(a_fraction_below_0_only_reads)
{
    struct props_fixture fixture;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, -1), 1);
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, 7), 1);
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, INT64_MIN), 7);
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, 0), 7);
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, -1), 0);
    props_fixture_end(&fixture);
}

TEST(an_event_left_out_makes_no_bucket)
{
    struct props_fixture fixture;
    size_t count;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    prof_block_rate_set(fixture.prof, 100);
    (void)props_fixture_event(&fixture, PROF_BLOCK, UINT64_MAX,
                              1); /* not kept: the number drawn is 99 */
    prof_block_rate_set(fixture.prof, 0);
    (void)props_fixture_event(&fixture, PROF_BLOCK, 0, 1000);
    assert_int_equal(
        prof_contention_snapshot(fixture.prof, PROF_BLOCK, NULL, 0, &count),
        PROF_OK);
    assert_int_equal(count, 0);
    props_fixture_end(&fixture);
}

/* The value drawn is the upper half of number * rate. At a rate of 2^n that is
 * the upper n bits of the number. Its other bits only choose the code path: if
 * all are 0, the lower half of the product is 0, which is below the rate, so
 * the code must test whether to reject the number; otherwise it need not.
 * Either way the event is kept if the value is below its ticks. */
TEST(an_event_is_kept_if_the_outcome_is_below_its_ticks)
{
    static const struct {
        int64_t rate;
        uint64_t number;
        int64_t cycles;
        bool is_kept;
    } events[] = {
        {128, UINT64_C(10) << 57, 10, false},
        {128, (UINT64_C(10) << 57) + 1, 10, false},
        {128, (UINT64_C(10) << 57) - 1, 10, true},
        {128, UINT64_C(9) << 57, 10, true},
        {128, UINT64_C(1) << 57, 0, false},
        {128, (UINT64_C(1) << 57) + 1, -5, false},
        {128, 1, 0, true},
        {128, 0, INT64_MIN, true},
        {INT64_C(1) << 40, (UINT64_C(1000) << 24) + 1, INT64_C(1) << 32, true},
    };

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct props_fixture fixture;
        struct prof_contention_record record;

        assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
        prof_block_rate_set(fixture.prof, events[i].rate);
        assert_int_equal(props_fixture_event(&fixture, PROF_BLOCK,
                                             events[i].number,
                                             events[i].cycles),
                         1);
        record = props_fixture_read(&fixture, PROF_BLOCK);
        assert_int_equal(record.cycles, events[i].is_kept ? events[i].rate : 0);
        props_fixture_end(&fixture);
    }
}

/* A number n becomes the draw n * 100 >> 64. 2^64 mod 100 is 16, so a number
 * whose product has a low half below 16 is rejected, or some draws would be
 * more likely. This one has the high half 6 and the low half 4: it is rejected,
 * and another number is taken. */
TEST(a_number_of_no_use_is_followed_by_another)
{
    const uint64_t number = (uint64_t)-1 / 100 * 6 + 1;
    struct props_fixture fixture;

    assert_int_equal(number * 100, 4);
    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    prof_block_rate_set(fixture.prof, 100);
    assert_int_equal(props_fixture_event(&fixture, PROF_BLOCK, number, 1), 2);
    assert_int_equal(props_fixture_event(&fixture, PROF_BLOCK, number + 1, 1),
                     1);
    assert_int_equal(props_fixture_event(&fixture, PROF_BLOCK, number, 100), 0);
    props_fixture_end(&fixture);
}

TEST(go_1_5_has_no_mutex_profile)
{
    struct props_fixture fixture;
    size_t count;

    assert_true(props_fixture_begin(&fixture, &prof_rules_go1_5));
    assert_int_equal(props_fixture_event(&fixture, PROF_MUTEX, 1, 5), 0);
    assert_int_equal(
        prof_contention_snapshot(fixture.prof, PROF_MUTEX, NULL, 0, &count),
        PROF_OK);
    assert_int_equal(count, 0);
    assert_int_equal(prof_drops(fixture.prof).no_mutex, 1);
    /* Whatever the fraction. */
    for (int64_t fraction = 0; fraction < 3; fraction++) {
        (void)prof_mutex_fraction_set(fixture.prof, fraction);
        assert_int_equal(props_fixture_event(&fixture, PROF_MUTEX, 1, 5), 0);
        assert_int_equal(prof_drops(fixture.prof).no_mutex, 2 + fraction);
    }
    props_fixture_end(&fixture);
}

TEST(a_scaled_event_saturates)
{
    struct props_fixture fixture;
    struct prof_contention_record record;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    assert_int_equal(prof_mutex_fraction_set(fixture.prof, INT64_C(1) << 40),
                     1);
    (void)props_fixture_event(&fixture, PROF_MUTEX, 0, INT64_C(1) << 23);
    record = props_fixture_read(&fixture, PROF_MUTEX);
    assert_true(record.count == UINT64_C(1) << 40);
    assert_true(record.cycles == INT64_MAX);
    props_fixture_end(&fixture);
}

TEST(those_who_go_on_waiting_are_charged_as_the_mean)
{
    struct prof_rules rules = prof_rules_exact;
    struct props_fixture fixture;

    assert_true(props_fixture_begin(&fixture, &rules));
    assert_int_equal(prof_mutex_cycles(fixture.prof, 10, 4, 3), 10);
    assert_int_equal(prof_mutex_cycles(fixture.prof, -5, 4, 3), -5);
    props_fixture_end(&fixture);

    rules.waiters = PROF_WAITERS_ALL;
    assert_true(props_fixture_begin(&fixture, &rules));
    assert_int_equal(prof_mutex_cycles(fixture.prof, 10, 0, 0), 10);
    assert_int_equal(prof_mutex_cycles(fixture.prof, 10, 4, 3), 10 + 3 * 7);
    assert_int_equal(prof_mutex_cycles(fixture.prof, 11, 3, 1), 11 + 7);
    assert_int_equal(prof_mutex_cycles(fixture.prof, -5, 4, 2), 2 * 2);
    assert_int_equal(prof_mutex_cycles(fixture.prof, 6, -100, 1), 6 + 3);
    assert_int_equal(
        prof_mutex_cycles(fixture.prof, INT64_MAX, INT64_MAX, UINT32_MAX),
        INT64_MAX);
    assert_int_equal(prof_mutex_cycles(fixture.prof, INT64_MAX, 0, 1),
                     INT64_MAX);
    assert_int_equal(prof_mutex_cycles(fixture.prof, INT64_MAX, INT64_MAX, 0),
                     INT64_MAX);
    props_fixture_end(&fixture);
}

/*
 * Nanoseconds become ticks, rounded down, at least 1. What does not fit becomes
 * the largest number: too many whole seconds, or an overflow in the part below
 * a second, or a result that only fits if it were unsigned. In Go 1.5 these
 * became the smallest number.
 */
TEST(a_rate_becomes_ticks_and_never_overflows)
{
    static const struct {
        uint64_t ticks_per_second;
        int64_t ns;
        int64_t want;
    } cases[] = {
        {1000000000, 1500000000, 1500000000},
        {1, 999999999, 1}, /* less than a tick */
        {UINT64_C(10000000000), 7, 70},
        {UINT64_C(10000000000), INT64_MAX, INT64_MAX},
        {UINT64_C(4000000000), INT64_C(4611686018999999999), INT64_MAX},
        {UINT64_C(2000000000), INT64_C(9000000000000000000), INT64_MAX},
        {UINT64_C(1000000000), INT64_MAX, INT64_MAX},
        /* 2^63: the first result that does not fit */
        {UINT64_C(1) << 33, (INT64_C(1) << 30) * 1000000000, INT64_MAX},
        {1000000000, 0, 0},
        {1000000000, -5, 0},
        {1, 1, 1}, /* every event is kept */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int go = 0; go < 2; go++) {
            const struct prof_config config = {
                .buckets_max = 1,
                .ticks_per_second = cases[i].ticks_per_second,
                .rules = go ? &prof_rules_go1_5 : NULL};
            const size_t bytes = prof_bytes_needed(&config);
            void *block = props_block(bytes, 0);
            struct prof *prof;

            assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
            prof_block_rate_set(prof, cases[i].ns);
            if (!go || cases[i].want != INT64_MAX)
                assert_int_equal(prof_block_rate_ticks(prof), cases[i].want);
            else
                assert_int_equal(prof_block_rate_ticks(prof), INT64_MIN);
            free(block);
        }
    }
}

__extension__ typedef unsigned __int128 product;

static uint64_t
next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state ^ *state >> 32;
}

/* The same, for clocks of any speed and rates of any length. */
TEST(a_rate_of_any_length_becomes_its_ticks)
{
    const uint64_t limit = 10000000000;
    uint64_t seed = 1;

    for (uint64_t i = 0; i < 200; i++) {
        const struct prof_config config = {
            .buckets_max = 1,
            .ticks_per_second =
                i % 2 == 0 ? limit - i * i * i : 1 + next_word(&seed) % limit};
        const size_t bytes = prof_bytes_needed(&config);
        void *block = props_block(bytes, 0);
        struct prof *prof;

        assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
        for (int j = 1; j < 60; j++) {
            const uint64_t ns = 1 + (next_word(&seed) >> j);
            const product ticks =
                (product)ns * config.ticks_per_second / 1000000000;

            prof_block_rate_set(prof, (int64_t)ns);
            assert_int_equal(prof_block_rate_ticks(prof),
                             ticks > INT64_MAX       ? INT64_MAX
                             : ns == 1 || ticks == 0 ? 1
                                                     : (int64_t)ticks);
        }
        free(block);
    }
}

/*
 * Rule sets that scale by a quotient keep the count as a double: from 2^63
 * events on it is shown as 2^63, the result of the conversion.
 */
TEST(more_events_than_can_be_shown_are_shown_as_2_to_the_63)
{
    struct props_fixture fixture;

    assert_true(props_fixture_begin(&fixture, &prof_rules_go1_17));
    prof_block_rate_set(fixture.prof, INT64_C(1) << 62);
    for (int i = 0; i < 3; i++)
        (void)props_fixture_event(&fixture, PROF_BLOCK, 1, 1);
    assert_true(props_fixture_read(&fixture, PROF_BLOCK).count == UINT64_C(1)
                                                                      << 63);
    props_fixture_end(&fixture);
}

/* The rules of an old release also work with 64-bit random numbers: an event of
 * c ticks is kept if r mod R <= c, here with R = 10 and c = 4. */
TEST(rules_of_an_era_work_with_long_random_numbers)
{
    struct prof_rules rules = prof_rules_go1_10;

    rules.random = PROF_RANDOM_64;
    for (uint64_t r = 0; r < 10; r++) {
        struct props_fixture fixture;

        assert_true(props_fixture_begin(&fixture, &rules));
        prof_block_rate_set(fixture.prof, 10);
        (void)props_fixture_event(&fixture, PROF_BLOCK, 10000 + r, 4);
        assert_int_equal(props_fixture_read(&fixture, PROF_BLOCK).count,
                         r <= 4);
        props_fixture_end(&fixture);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, EVENTS_EACH = 50000 };

static void *
wait_often(void *context)
{
    struct prof_proc *proc = context;
    const uintptr_t stack[] = {0x401000};

    for (int i = 0; i < EVENTS_EACH; i++)
        prof_contention_event(proc, PROF_BLOCK, stack, 1, 3);
    return NULL;
}

/* Threads add to counts that are doubles in a compare-and-swap loop: no event
 * may be lost. */
TEST(counts_of_many_threads_add_up)
{
    static const struct prof_rules *const all[] = {&prof_rules_exact,
                                                   &prof_rules_go1_17};
    static _Alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 16];

    for (int i = 0; i < 2; i++) {
        /* Each thread that loses the race to make the bucket uses up a row. */
        const struct prof_config config = {
            .rules = all[i], .buckets_max = THREADS, .procs_max = THREADS};
        struct prof_contention_record record;
        pthread_t threads[THREADS];
        struct prof *prof;
        size_t count;

        memset(block, 0, sizeof block);
        assert_int_equal(prof_init(&prof, &config, block, sizeof block),
                         PROF_OK);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, wait_often,
                                            prof_proc_at(prof, t)),
                             0);
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(
            prof_contention_snapshot(prof, PROF_BLOCK, &record, 1, &count),
            PROF_OK);
        assert_int_equal(record.count, THREADS * EVENTS_EACH);
        assert_int_equal(record.cycles, 3 * THREADS * EVENTS_EACH);
    }
}

/* Set two rates in turn. Both are multiples of 5 ticks, the wait of each
 * event. */
static void *
change_rates(void *context)
{
    struct prof *prof = context;

    for (int i = 0; i < EVENTS_EACH; i++)
        prof_block_rate_set(prof, i % 2 == 0 ? 10 : 1000);
    return NULL;
}

/*
 * At a rate of 10 ticks a kept wait of 5 ticks counts as 2 events and 10 ticks,
 * at 1000 as 200 events and 1000 ticks. Either is 5 ticks an event. A mixture
 * would show that one rate decided whether the event is kept, and another one
 * scaled it.
 */
TEST(a_rate_that_changes_meanwhile_is_one_rate_per_event)
{
    struct props_fixture fixture;
    struct prof_contention_record record;
    const uintptr_t stack[] = {0x401000};
    pthread_t thread;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    assert_int_equal(pthread_create(&thread, NULL, change_rates, fixture.prof),
                     0);
    for (int i = 0; i < 4 * EVENTS_EACH; i++)
        prof_contention_event(fixture.proc, PROF_BLOCK, stack, 1, 5);
    assert_int_equal(pthread_join(thread, NULL), 0);
    record = props_fixture_read(&fixture, PROF_BLOCK);
    assert_true(record.count > 0);
    assert_true(record.cycles == 5 * record.count);
    props_fixture_end(&fixture);
}

/* ---------------------------------------------------------------------- worlds
 *
 * These tests do without the model: they compare the sums over all stacks with
 * the log alone. */

enum { WORLDS = 100000 };

struct sums {
    uint64_t events;
    uint64_t cycles;
};

/* Add up block events; each wait is the difference of its task's readings. */
static void
add_waits(const struct truth_log *log, struct sums *sums)
{
    int64_t began[SIM_TASKS_MAX] = {0};

    for (uint32_t i = 0; i < log->entries_count; i++) {
        const struct truth_entry *e = &log->entries[i];
        int64_t cycles = e->cycles;

        if (e->kind == TRUTH_WAIT)
            began[e->task] = e->at_ticks;
        if (e->kind == TRUTH_WOKEN)
            cycles = e->at_ticks - began[e->task];
        if (e->kind == TRUTH_WOKEN || e->kind == TRUTH_BLOCK) {
            sums->events++;
            sums->cycles += (uint64_t)(cycles < 1 ? 1 : cycles);
        }
    }
}

static uint64_t
releases(const struct truth_log *log)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < log->entries_count; i++)
        count += log->entries[i].kind == TRUTH_RELEASED ||
                 log->entries[i].kind == TRUTH_MUTEX;
    return count;
}

static struct sums
recorded(struct prof *prof, enum prof_contention kind)
{
    struct prof_contention_record records[SIM_BUCKETS_MAX];
    struct sums sums = {0, 0};
    size_t count;

    assert_int_equal(
        prof_contention_snapshot(prof, kind, records, SIM_BUCKETS_MAX, &count),
        PROF_OK);
    for (size_t i = 0; i < count; i++) {
        sums.events += records[i].count;
        sums.cycles += records[i].cycles;
    }
    return sums;
}

/* Run the world of a seed. returns: does it have waits that the profile must
 * all show? */
static bool
run_world(struct sim_world *world, uint64_t seed)
{
    static struct sim_generator g;
    static struct sim_choice list[1 << 14];
    static struct sim_choices choices;
    struct sim_event event;
    struct prof_drops drops;

    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    sim_choices_random(&choices, seed);
    sim_generator_begin(&g, &choices, &prof_rules_exact, SIM_WORLDS_HEAPS);
    assert_null(sim_world_reset(world, &g.config));
    while (sim_generator_next(&g, world, &event))
        assert_null(sim_world_apply(world, &event));
    drops = prof_drops(sim_world_prof(world));
    return g.features.locks && !g.features.sampling &&
           drops.no_bucket + drops.no_frames == 0;
}

TEST(every_wait_of_a_world_is_in_its_profile_to_the_tick)
{
    struct sim_world *world = sim_world_new(&sim_generator_limits);
    uint64_t waits = 0;

    assert_non_null(world);
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct sums told = {0, 0};
        struct sums got;

        if (!run_world(world, seed))
            continue;
        add_waits(sim_world_truth(world), &told);
        got = recorded(sim_world_prof(world), PROF_BLOCK);
        assert_true(got.events == told.events && got.cycles == told.cycles);
        got = recorded(sim_world_prof(world), PROF_MUTEX);
        assert_true(got.events == releases(sim_world_truth(world)));
        waits += told.events;
    }
    assert_true(waits > WORLDS / 10);
    sim_world_delete(world);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
