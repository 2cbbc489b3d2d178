/*
 * test_cores.c -- the machine of cores.h agrees with exact results of queueing
 * theory: all cores share one cache line, in rounds and as a birth-death
 * process; with many lines, the most used one sets the bound.
 */
#include <math.h>
#include "cores.h"
#include "unit_test.h"

enum { ROWS = 64 };

/* returns: how many additions a microsecond are made */
static double
rate_of(const struct sim_cores_config *config, uint64_t additions,
        double *handovers)
{
    struct sim_cores_result result;

    assert_true(sim_cores_run(&result, config, additions));
    assert_int_equal(result.additions, additions - additions / 4);
    *handovers = (double)result.handovers * 1e6 / (double)result.span_ps;
    return (double)result.additions * 1e6 / (double)result.span_ps;
}

static void
assert_near(double got, double want, double share)
{
    if (fabs(got - want) > share * want)
        fail_msg("%g, expected %g within %g of it", got, want, share);
}

static const uint32_t one_row[] = {UINT32_MAX};

/* Each of n cores works for w, then needs the one cache line for h. The rate of
 * additions is n / (w + h) for few cores; with more the line is always busy,
 * and the rate stays at 1 / h. */
TEST(one_line_of_fixed_times_goes_round)
{
    static const struct {
        uint64_t work_ps;
        uint64_t handover_ps;
    } machines[] = {{30000, 11000}, {30000, 150000}, {1000, 999}};

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        for (uint32_t n = 2; n <= 12; n++) {
            const struct sim_cores_config config = {
                .cores = n,
                .cores_of_die = n,
                .work_ps = machines[i].work_ps,
                .near_ps = machines[i].handover_ps,
                .row_ends = one_row,
                .rows = 1,
                .seed = n,
            };
            const double w = (double)machines[i].work_ps * 1e-6;
            const double h = (double)machines[i].handover_ps * 1e-6;
            double handovers;
            const double rate = rate_of(&config, 40000, &handovers);

            assert_near(rate, fmin(n / (w + h), 1 / h), 1e-3);
            assert_near(handovers, rate, 1e-9); /* from another core */
        }
    }
}

TEST(a_line_costs_more_from_another_die)
{
    struct sim_cores_config config = {
        .cores = 2,
        .cores_of_die = 1,
        .work_ps = 30000,
        .near_ps = 11000,
        .far_ps = 150000,
        .row_ends = one_row,
        .rows = 1,
    };
    double handovers;

    assert_near(rate_of(&config, 4000, &handovers), 1 / 0.150, 1e-2);
    config.cores_of_die = 2;
    assert_near(rate_of(&config, 4000, &handovers), 2 / 0.041, 1e-2);
}

/*
 * All times are exponential: w the mean time of work, h that of handing over
 * the line. The state q says how many of the n processors are waiting for the
 * line. At q = 0 one of those at work owns it, and its own additions are free,
 * so only n - 1 can raise q to 1. Births have the rate (n - q) / w, from 0 the
 * rate (n - 1) / w; deaths 1 / h. So the share of each state is a product.
 */
static void
repairman(uint32_t n, double w, double h, double *rate, double *handovers)
{
    double weight = 1;
    double sum = 1;

    for (uint32_t q = 0; q + 1 <= n; q++) {
        weight *= (q == 0 ? n - 1 : n - q) / w * h;
        sum += weight;
    }
    *handovers = (1 - 1 / sum) / h;
    *rate = *handovers + 1 / sum / w;
}

TEST(one_line_of_exponential_times_is_the_repairman)
{
    static const uint32_t counts[] = {1, 2, 3, 5, 8, 16, 64};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct sim_cores_config config = {
            .cores = counts[i],
            .cores_of_die = counts[i],
            .work_ps = 300000,
            .near_ps = 50000,
            .row_ends = one_row,
            .rows = 1,
            .spread = SIM_CORES_EXPONENTIAL,
            .seed = 1,
        };
        double want, want_handovers, handovers;
        const double rate = rate_of(&config, 400000, &handovers);

        repairman(counts[i], 0.3, 0.05, &want, &want_handovers);
        /* 300,000 additions: within six standard deviations. */
        assert_near(rate, want, 6 / sqrt(300000));
        if (want_handovers > 0)
            assert_near(handovers, want_handovers, 6 / sqrt(300000));
    }
}

/* Row 0 gets a third of the additions, the others equal parts. */
static void
make_ends(uint32_t *ends)
{
    for (uint32_t i = 0; i < ROWS; i++)
        ends[i] =
            UINT32_MAX / 3 + (UINT32_MAX - UINT32_MAX / 3) / (ROWS - 1) * i;
    ends[ROWS - 1] = UINT32_MAX;
}

TEST(the_hottest_line_bounds_them_all)
{
    uint32_t ends[ROWS];
    struct sim_cores_config config = {
        .cores_of_die = SIM_CORES_MAX,
        .work_ps = 30000,
        .near_ps = 20000,
        .row_ends = ends,
        .rows = ROWS,
        .spread = SIM_CORES_UNIFORM,
        .seed = 1,
    };
    const double third = 1.0 / 3;
    const double line = third + (1 - third) * 7 / (ROWS - 1);
    double handovers;

    make_ends(ends);
    for (uint32_t n = 1; n <= 128; n *= 2) {
        const double bound = 1 / (0.020 * line);
        double rate;

        config.cores = n;
        config.layout = SIM_CORES_SHARED;
        rate = rate_of(&config, 100000, &handovers);
        assert_true(rate < n / 0.030 * 1.01);
        /* A core that adds twice in a row pays once; with many cores that is
         * rare. */
        if (n >= 8)
            assert_true(rate < bound * 1.03);
        if (n >= 64)
            assert_true(rate > bound * 0.9);
        config.layout = SIM_CORES_APART;
        rate = rate_of(&config, 100000, &handovers);
        if (n >= 64)
            assert_near(rate, 1 / (0.020 * third), 0.1);
        config.layout = SIM_CORES_OWN;
        rate = rate_of(&config, 100000, &handovers);
        assert_near(rate, n / 0.030, 0.01);
        assert_true(handovers < 1e-9);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
