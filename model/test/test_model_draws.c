/*
 * test_model_draws.c -- the parts of the oracles that draw: generators, rates,
 * samplers, and the closed forms of sampling.
 */
#include <stdarg.h>
#include <stddef.h>

#include "model/heap/contention.h"
#include "model/heap/heap_sampler.h"
#include "model/heap/sampling.h"
#include "common/test/unit_test.h"

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

static void
expect_near(double got, double want)
{
    assert_true(got > want * (1 - 1e-12) && got < want * (1 + 1e-12));
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

int
main(void)
{
    return tests_run(NULL, NULL);
}
