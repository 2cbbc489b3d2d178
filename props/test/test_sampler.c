/*
 * test_sampler.c -- the heap sampler: its rates, its logarithms, and an
 * embedder that counts bytes down itself. Properties S1 and S4 compare it with
 * its model.
 */
#include <math.h>

#include "model/heap/heap_sampler.h"
#include "props/sampling/sampling_fixture.h"
#include "model/heap/sampling.h"
#include "props/sampling/stream.h"
#include "common/test/unit_test.h"

/* The cap of Go's sampler. At this mean, the largest, the gaps show most digits
 * of the logarithm. */
enum { GO_MEAN_BYTES = 0x7000000, DRAW_BITS = 26, CORNERS = 33 };

/* ---- rates ---- */

static int64_t
shown_rate(const struct props_fixture *fixture)
{
    struct prof_heap_record record;
    size_t count;

    assert_int_equal(
        prof_heap_snapshot(fixture->prof, PROF_SELECT_ALL, &record, 1, &count),
        PROF_OK);
    assert_int_equal(count, 1);
    return record.rate_bytes;
}

/* Buckets can tell apart a limited number of rates. If all are taken, gaps are
 * drawn at the last rate that found a place, and samples report that rate. */
TEST(a_rate_too_many_is_taken_for_the_last)
{
    enum { KEPT_APART = 64 };
    const int64_t last = INT64_C(1) << 40;
    const uintptr_t stack[] = {1};
    struct props_fixture fixture;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    for (int64_t rate = 2; rate <= KEPT_APART; rate++) {
        prof_heap_rate_set(fixture.prof, rate);
        (void)prof_heap_sample(fixture.proc, 0);
    }
    prof_heap_rate_set(fixture.prof, last);
    (void)prof_heap_sample(fixture.proc, 0);
    for (int64_t rate = 1000; rate < 1020; rate++) {
        prof_heap_rate_set(fixture.prof, rate);
        /* A thousand times the rate that was asked for, but far below the rate
         * used. */
        assert_false(prof_heap_sample(fixture.proc, 1000000));
    }
    assert_true(prof_heap_sample(fixture.proc, UINT64_C(1) << 62));
    (void)prof_heap_alloc(fixture.proc, stack, 1, 1);
    assert_int_equal(shown_rate(&fixture), last);
    props_fixture_end(&fixture);
}

/* ---- logarithms ---- */

static bool
library_samples(struct props_fixture *fixture, uint64_t drawn, uint64_t size)
{
    (void)props_fixture_event(fixture, PROF_BLOCK, drawn,
                              INT64_MAX); /* sets only the state */
    (void)prof_heap_sample(fixture->proc, UINT64_C(1)
                                              << 62); /* draws the gap */
    return prof_heap_sample(fixture->proc, size);
}

static bool
model_samples(const struct props_fixture *fixture, uint64_t drawn,
              uint64_t size)
{
    struct model_heap_sampler model = {.era = fixture->era};

    assert_true(props_stream_before(fixture->random, drawn, &model.state));
    return model_heap_sampler_next(&model, size, GO_MEAN_BYTES);
}

/*
 * The library and the model use the same table of logarithms, so they would
 * agree on a wrong digit. A random number q draws a gap of mean * -ln(q / 2^26)
 * bytes. At the entries of the table, q = (32 + i) 2^20, the gap is compared
 * with libm's logarithm. With this mean an error of 1.3e-8 in a binary
 * logarithm changes the gap by a byte.
 */
TEST(each_corner_of_the_table_is_a_logarithm)
{
    static const struct prof_rules *const with_table[] = {&prof_rules_go1_10,
                                                          &prof_rules_go1_17};

    for (int r = 0; r < 2; r++) {
        struct props_fixture fixture;

        assert_true(props_fixture_begin(&fixture, with_table[r]));
        prof_heap_rate_set(fixture.prof, GO_MEAN_BYTES);
        (void)prof_heap_sample(fixture.proc, 0); /* the first gap */
        for (uint64_t i = 0; i < CORNERS; i++) {
            const uint64_t q = (32 + i) << 20;
            const double bytes =
                -log(ldexp((double)q, -DRAW_BITS)) * GO_MEAN_BYTES;
            const uint64_t least = bytes < 1 ? 0 : (uint64_t)bytes - 1;
            const uint64_t most = (uint64_t)bytes + 2;

            assert_false(library_samples(&fixture, q - 1, least));
            assert_true(library_samples(&fixture, q - 1, most));
            assert_false(model_samples(&fixture, q - 1, least));
            assert_true(model_samples(&fixture, q - 1, most));
        }
        props_fixture_end(&fixture);
    }
}

/* ---- Counted down by the embedder ---- */

/* Run a sequence of sizes on two processors with the same seed. One calls
 * prof_heap_sample() for each size; the other counts down itself
 * (prof_heap_until_take()), and calls it only for a size that does not fit into
 * the bytes left. Both must sample the same allocations. */
static void
check_taken(const struct prof_rules *rules, int64_t rate)
{
    struct props_fixture each;
    struct props_fixture taken;
    uint64_t requested = 0;
    uint64_t until = 0;

    assert_true(props_fixture_begin(&each, rules));
    assert_true(props_fixture_begin(&taken, rules));
    prof_heap_rate_set(each.prof, rate);
    prof_heap_rate_set(taken.prof, rate);
    prof_proc_seed(each.proc, 5);
    prof_proc_seed(taken.proc, 5);
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t size = i * i % 131 + (i % 977 == 0 ? 5000 : 0);
        bool is_sample = false;

        if (size < until) {
            until -= size;
        } else {
            requested++;
            if (until != 0)
                prof_heap_until_give(taken.proc, until);
            is_sample = prof_heap_sample(taken.proc, size);
            until = prof_heap_until_take(taken.proc);
        }
        assert_int_equal(is_sample, prof_heap_sample(each.proc, size));
        assert_true(prof_proc_rng_state(each.proc) ==
                    prof_proc_rng_state(taken.proc));
    }
    if (rate <= 1 || rules->sampler_keeps_large)
        assert_int_equal(requested, 20000);
    else if (rate > 1000)
        assert_in_range(requested, 20, 2000);
    props_fixture_end(&each);
    props_fixture_end(&taken);
}

TEST(a_number_taken_away_samples_the_same)
{
    for (int i = 0; prof_rules_all[i] != NULL; i++) {
        check_taken(prof_rules_all[i], 4096);
        check_taken(prof_rules_all[i], 2);
        check_taken(prof_rules_all[i], 1);
        check_taken(prof_rules_all[i], 0);
        check_taken(prof_rules_all[i], -1);
    }
}

/* An embedder that counts down itself notices a new rate only when its gap is
 * used up. The allocation there is a sample at the old rate, which applied to
 * all bytes before it. */
static void
check_old_mark(bool counts_down)
{
    const uintptr_t stack[] = {1};
    struct props_fixture fixture;
    uint64_t until;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    prof_heap_rate_set(fixture.prof, 4096);
    (void)prof_heap_sample(fixture.proc, 0);
    until = prof_heap_until_take(fixture.proc);
    assert_in_range(until, 2, UINT64_MAX);
    prof_heap_rate_set(fixture.prof, INT64_C(1) << 40);
    if (counts_down)
        until = 1;
    prof_heap_until_give(fixture.proc, until);
    assert_true(prof_heap_sample(fixture.proc, until));
    (void)prof_heap_alloc(fixture.proc, stack, 1, 1);
    assert_int_equal(shown_rate(&fixture), 4096);
    /* The next gap is drawn at the new rate. */
    assert_in_range(prof_heap_until_take(fixture.proc), 1 << 20, UINT64_MAX);
    /* An allocation before the end of a gap is not a sample, whichever rate
     * applies. */
    prof_heap_rate_set(fixture.prof, INT64_C(1) << 41);
    prof_heap_until_give(fixture.proc, 2);
    assert_false(prof_heap_sample(fixture.proc, 1));
    props_fixture_end(&fixture);
}

/* Also if it gives back the number as it took it. */
TEST(the_mark_of_an_old_rate_is_still_a_sample_of_it)
{
    check_old_mark(true);
    check_old_mark(false);
}
