/*
 * test_contention.c -- the block and mutex profiles: rates, and what an event
 * counts as, from random numbers of the test's choice.
 */
#include <stdlib.h>

#include "common/test/aligned_block.h"
#include "props/sampling/sampling_fixture.h"
#include "common/test/unit_test.h"

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
