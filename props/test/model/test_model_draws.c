/*
 * test_model_draws.c -- the parts of the oracles that draw: generators, rates,
 * samplers, and the closed forms of sampling.
 */
#include <stdarg.h>
#include <stddef.h>

#include "contention.h"
#include "heap_sampler.h"
#include "sampling.h"
#include "unit_test.h"

TEST(residues_are_counted_as_one_by_one)
{
    for (uint64_t rate = 1; rate < 7; rate++) {
        for (unsigned place = 0; place < 9 * 14 * 14; place++) {
            const uint64_t most = place % 9;
            const struct model_draws draws = {.first = place / 9 % 14,
                                              .count = place / 9 / 14};
            uint64_t count = 0;

            for (uint64_t i = 0; i < draws.count; i++)
                count += (uint64_t)(draws.first + i) % rate <= most;
            assert_int_equal(model_residues(draws, rate, most), count);
        }
    }
}

/* The number that, times an odd factor, is 1 modulo 2^64. */
static uint64_t
inverse(uint64_t factor)
{
    uint64_t number = factor; /* right in the last 3 bits; each step doubles */

    for (int i = 0; i < 5; i++)
        number *= 2 - factor * number;
    return number;
}

static uint64_t
before_xor(uint64_t z, int shift)
{
    uint64_t x = z;

    for (int i = 0; i < 64 / shift + 1; i++)
        x = z ^ x >> shift;
    return x;
}

/* The state from which splitmix64 draws a number. */
static uint64_t
state_before(uint64_t drawn)
{
    uint64_t z = before_xor(drawn, 31);

    z = before_xor(z * inverse(0x94d049bb133111ebU), 27);
    z = before_xor(z * inverse(0xbf58476d1ce4e5b9U), 30);
    return z - 0x9e3779b97f4a7c15U;
}

/* Of a seed whose first number is 0 a generator that stays at 0 starts at 1. */
TEST(no_generator_starts_where_it_would_stay)
{
    static const struct {
        enum model_era era;
        uint64_t drawn;
        uint64_t starts_at;
    } rows[] = {
        {MODEL_GO_1_5, 0, 1},
        {MODEL_GO_1_5, 1, 1},
        {MODEL_GO_1_5, 2, 2},
        {MODEL_GO_1_5, 0x80000000, 1},
        {MODEL_GO_1_5, 0x80000001, 1},
        {MODEL_GO_1_5, 0x7fffffff, 0x7fffffff},
        {MODEL_GO_1_10, 0, 1},
        {MODEL_GO_1_10, 1, 1},
        {MODEL_GO_1_10, 2, 2},
        {MODEL_GO_1_17, 0, 1},
        {MODEL_GO_1_17, 0x80000000, 0x80000000},
        {MODEL_EXACT, 0, 0},
        {MODEL_EXACT, 1, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(model_seeded(rows[i].era, state_before(rows[i].drawn)),
                         rows[i].starts_at);
}

/* The shift register of Go 1.5: twice the state, and what overflows is added
 * as the polynomial. */
TEST(a_register_overflows_at_its_highest_bit)
{
    static const uint64_t rows[][2] = {
        {1, 2},
        {0x3fffffff, 0x7ffffffe},
        {0x40000000, 0x80000000 ^ 0x88888eef},
        {0x40000001, 0x80000002 ^ 0x88888eef},
        {0x7fffffff, 0xfffffffe ^ 0x88888eef},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t at = rows[i][0];

        assert_int_equal(model_draw(MODEL_GO_1_5, &at), rows[i][1]);
        assert_int_equal(at, rows[i][1]);
    }
}

/* The draws on both sides of the edge below which they are rejected. */
TEST(a_draw_is_rejected_if_it_is_one_too_many)
{
    static const uint64_t limits[] = {
        3,         5, 1000003, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 63) + 1,
        UINT64_MAX};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t limit = limits[i];
        const uint64_t edge = (0 - limit) % limit; /* 2^64 mod limit */

        for (uint64_t rest = edge - 1; rest != edge + 2; rest++) {
            const uint64_t drawn = rest * inverse(limit);
            const uint64_t first = state_before(drawn);
            uint64_t at = first;
            uint64_t value;

            assert_true(model_draw_below(&at, limit, &value));
            assert_int_equal(at == first + 0x9e3779b97f4a7c15U, rest >= edge);
            if (rest >= edge)
                assert_int_equal(value,
                                 (uint64_t)((model_u128)drawn * limit >> 64));
        }
    }
}

/* At 0 or less nothing is recorded, at 1 everything, whatever the clock. */
TEST(a_rate_of_block_events_is_told_in_ticks)
{
    static const struct {
        int64_t rate_ns;
        uint64_t ticks_per_second;
        int64_t exact; /* in ticks */
        int64_t go;
    } rows[] = {
        {INT64_MIN, 1000000000, 0, 0},
        {-1, 1000000000, 0, 0},
        {0, 3000000000, 0, 0},
        {1, 3000000000, 1, 1},
        {1, 1, 1, 1},
        {2, 3000000000, 6, 6},
        {2, 499999999, 1, 1},
        {2, 999999999, 1, 1},
        {2, 1000000000, 2, 2},
        {999, 1000000, 1, 1},
        {1000, 1000000, 1, 1},
        {1999, 1000000, 1, 1},
        {2000, 1000000, 2, 2},
        {INT64_MAX, 500000000, INT64_MAX / 2, INT64_MAX / 2 + 1},
        {INT64_MAX, 1000000000, INT64_MAX, INT64_MIN},
        {INT64_MAX, 1000000001, INT64_MAX, INT64_MIN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (enum model_era era = 0; era < MODEL_ERA_COUNT; era++) {
            struct model_contention model;

            model_contention_reset(&model, era, 1, rows[i].ticks_per_second);
            assert_int_equal(model.block_rate_ticks, 1);
            model_contention_block_rate(&model, rows[i].rate_ns);
            assert_int_equal(model.block_rate_ticks,
                             era == MODEL_EXACT ? rows[i].exact : rows[i].go);
        }
    }
}

/* Both profiles note a rate above 1, and one that is set after an event. */
TEST(it_is_noted_which_rates_have_been_in_force)
{
    for (int step = 0; step < 4 * 4; step++) {
        static const int64_t rates[] = {0, 1, 2, 1000};
        const int64_t rate = rates[step % 4];
        const bool block = step / 4 % 2 != 0;
        const bool late = step / 8 != 0;
        struct model_contention model;

        model_contention_reset(&model, MODEL_EXACT, 1, 1000000000);
        if (late && rate == 0)
            (void)model_contention_mutex(&model, 0, 5);
        else if (late)
            (void)model_contention_block(&model, 0, 5);
        if (block)
            model_contention_block_rate(&model, rate);
        else
            model_contention_mutex_fraction(&model, rate);
        assert_int_equal(model.sampled, rate > 1);
        assert_int_equal(model.changed, late);
    }
}

/* Of less than one block event one is shown; of a mutex event none. */
TEST(a_part_of_an_event_is_cut_off_but_for_the_only_block_event)
{
    const struct model_charge half = {.kept = true, .events = 0.5};
    struct model_contention model;

    model_contention_reset(&model, MODEL_GO_1_17, 1, 1000000000);
    for (int block = 0; block < 2; block++) {
        double events = 0;

        assert_int_equal(
            model_contention_count(&model, block, &half, 7, &events), block);
        for (uint64_t halves = 2; halves < 9; halves++)
            assert_int_equal(
                model_contention_count(&model, block, &half, 7, &events),
                halves / 2);
        for (events = 0x1p63; events < 0x1p66; events *= 1.5)
            assert_int_equal(
                model_contention_count(&model, block, &half, 7, &events),
                UINT64_C(1) << 63);
    }
}

/* Under exact rules whole rounds are drawn; else as many as there are. */
TEST(draws_are_taken_in_whole_rounds_under_exact_rules)
{
    for (unsigned place = 0; place < 30 * 7 * 7; place++) {
        const struct model_draws draws = {.count = place % 30};
        const uint64_t cycles = 1 + place / 30 % 7;
        const uint64_t rate = 1 + place / 30 / 7;
        const struct model_sums exact =
            model_block_sums(MODEL_EXACT, draws, cycles, rate);
        const struct model_sums go =
            model_block_sums(MODEL_GO_1_10, draws, cycles, rate);

        assert_int_equal(exact.draws, cycles >= rate
                                          ? draws.count
                                          : draws.count / rate * rate);
        assert_true(exact.cycles * exact.count_bottom ==
                    exact.draws * cycles * exact.count_bottom);
        assert_int_equal(exact.count_top, exact.draws * exact.count_bottom);
        assert_int_equal(go.draws, draws.count);
    }
}

TEST(each_allocation_counts_as_it_is_if_all_are_recorded)
{
    static const enum model_era eras[] = {MODEL_EXACT, MODEL_GO_1_10,
                                          MODEL_GO_1_17};

    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
        for (uint64_t rate = 0; rate < 3; rate++) {
            const struct model_heap_sampling sampling =
                model_heap_sampling(eras[i], rate < 2 ? 1 : 0, rate);

            assert_true(sampling.chance >= 1 && sampling.chance <= 1);
            assert_true(sampling.factor >= 1 && sampling.factor <= 1);
        }
    }
}

static void
expect_near(double got, double want)
{
    assert_true(got > want * (1 - 1e-12) && got < want * (1 + 1e-12));
}

/* The draws of a generator are all its numbers. */
TEST(all_numbers_are_drawn)
{
    assert_true(model_era_draws(MODEL_GO_1_5).first == 1);
    assert_true(model_era_draws(MODEL_GO_1_5).count == 0x7fffffff);
    assert_true(model_era_draws(MODEL_GO_1_10).first == 0);
    assert_true(model_era_draws(MODEL_GO_1_10).count == 0x100000000);
    assert_true(model_era_draws(MODEL_GO_1_17).count == 0x100000000);
    assert_true(model_era_draws(MODEL_EXACT).first == 0);
    assert_true(model_era_draws(MODEL_EXACT).count == (model_u128)1 << 64);
}

/* The factors that are told, of an event of 3 ticks at a rate of 7. */
TEST(factors_are_the_means_of_all_draws)
{
    static const enum model_era eras[] = {MODEL_EXACT, MODEL_GO_1_10,
                                          MODEL_GO_1_17};

    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
        const bool exact = eras[i] == MODEL_EXACT;
        const struct model_draws draws = {.count = 70};
        const struct model_sums block = model_block_sums(eras[i], draws, 3, 7);
        const struct model_sums mutex = model_mutex_sums(eras[i], draws, 3, 7);
        const struct model_factors of_block = model_factors_of(&block, 3);
        const struct model_factors of_mutex = model_factors_of(&mutex, 3);
        const double kept = exact ? 3 / 7.0 : 4 / 7.0;
        const double times = exact || eras[i] == MODEL_GO_1_17 ? 7 / 3.0 : 1;

        expect_near(of_block.kept, kept);
        expect_near(of_block.count, kept * times);
        expect_near(of_block.cycles, kept * times);
        expect_near(of_mutex.kept, 1 / 7.0);
        expect_near(of_mutex.count, exact ? 1 : 1 / 7.0);
        expect_near(of_mutex.cycles, exact ? 1 : 1 / 7.0);
    }
}

/* The chance that at least one byte of those allocated is drawn. */
TEST(a_chance_is_that_of_at_least_one_byte)
{
    static const struct {
        uint64_t size_bytes;
        uint64_t rate_bytes;
        double chance; /* 1 - e^-(size/rate) */
    } rows[] = {
        {1, 1000000000000, 9.999999999995e-13},
        {1, 1000, 0.00099950016662500833},
        {1, 2, 0.39346934028736657},
        {3, 4, 0.52763344725898531},
        {8, 8, 0.63212055882855768},
        {16, 8, 0.86466471676338731},
        {30, 2, 0.99999969409767953},
        {UINT64_MAX, 2, 1},
        {UINT64_MAX, UINT64_MAX, 0.63212055882855768},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct model_heap_sampling exact = model_heap_sampling(
            MODEL_EXACT, rows[i].size_bytes, rows[i].rate_bytes);

        expect_near(exact.chance, rows[i].chance);
        expect_near(exact.factor, 1);
    }
}

/* At the highest rate half of the gaps are beyond 64 bits, and cut. */
TEST(a_gap_is_cut_to_64_bits)
{
    uint32_t cut = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        struct model_heap_sampler sampler = {.era = MODEL_EXACT, .state = seed};

        bool is_cut;

        assert_false(model_heap_sampler_next(&sampler, 0, INT64_MAX));
        is_cut = sampler.gap == UINT64_MAX;
        cut += is_cut;
        assert_int_equal(
            model_heap_sampler_next(&sampler, UINT64_MAX - 1, INT64_MAX),
            !is_cut);
    }
    assert_true(cut > 5 && cut < 50);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
