/*
 * test_rules.c -- sampling rules of other profilers: their stated distributions
 * against their own draws, and our enumerations against brute force and random
 * runs.
 *
 * build: cflags=-O2
 */
#include <math.h>
#include <string.h>

#include "subjects/test/check_near.h"
#include "subjects/figures.h"
#include "subjects/law.h"
#include "subjects/machine.h"
#include "subjects/rules/rule_sets.h"
#include "common/test/unit_test.h"
#include "subjects/workloads.h"

/* ---- the distributions ---- */

/* P(threshold > n), computed from the pieces of a CARRIED rule set. */
static double
above_by_pieces(const struct subjects_rules *rules, uint64_t rate, uint64_t n)
{
    struct subjects_piece pieces[SUBJECTS_PIECES_MAX];
    const size_t count = rules->pieces(rate, pieces);
    double sum = 0;

    for (size_t p = 0; p < count; p++) {
        const struct subjects_piece *piece = &pieces[p];
        const uint64_t from = n + 1 > piece->from ? n + 1 : piece->from;
        const uint64_t end = piece->from + piece->length;

        if (piece->length != 0 && from >= end)
            continue;
        if (piece->length == 0)
            sum += piece->first *
                   pow(piece->ratio, (double)(from - piece->from)) /
                   (1 - piece->ratio);
        else /* ratio 0 or 1 */
            sum +=
                piece->first * (piece->ratio == 0 ? 1 : (double)(end - from));
    }
    return sum;
}

static double
law_tolerance(const struct subjects_rules *rules)
{
    if (rules == &subjects_statmemprof)
        return 7e-4; /* error of its logarithm */
    if (rules->number_bits < 53)
        return 8 / ldexp(1, (int)rules->number_bits);
    return rules->chain == SUBJECTS_CARRIED ? 1e-9 : 1e-13;
}

TEST(laws_are_those_of_the_draws)
{
    static const uint64_t rates[] = {8, 4096, 524288};

    for (size_t i = 0; subjects_rules_all[i] != NULL; i++) {
        const struct subjects_rules *rules = subjects_rules_all[i];

        if (rules->chain != SUBJECTS_RENEWAL &&
            rules->chain != SUBJECTS_CARRIED)
            continue;
        for (size_t r = 0; r < 3; r++) {
            for (uint64_t n = 0; n < 10 * rates[r]; n += 1 + n / 3) {
                const double law = rules->chain == SUBJECTS_RENEWAL
                                       ? rules->above(rates[r], n)
                                       : above_by_pieces(rules, rates[r], n);

                CHECK_NEAR(subjects_law_count(rules, rates[r], n), law,
                           law_tolerance(rules), "%s, R = %d, n = %d",
                           rules->name, (int)rates[r], (int)n);
            }
        }
    }
}

/* The random number is half of its range. So an exponential threshold is R ln 2
 * = 363408.69, rounded as each rule set does, and a uniform one is R. Worked
 * out by hand. */
TEST(draws_of_half_are_as_worked_out)
{
    static const struct {
        const struct subjects_rules *rules;
        uint64_t number;
        uint64_t threshold;
    } rows[] = {
        {&subjects_exact, UINT64_C(1) << 52, 363409},
        {&subjects_min_variance, UINT64_C(1) << 52, 262144},
        {&subjects_max_rate, UINT64_C(1) << 52, 363409},
        {&subjects_go1_5, UINT64_C(1) << 52, 524288},
        {&subjects_go1_10, (1 << 25) - 1, 363409},
        {&subjects_go1_17, (1 << 25) - 1, 363409},
        {&subjects_go1_23, (1 << 25) - 1, 363409},
        {&subjects_go1_24, (1 << 25) - 1, 363410},
        {&subjects_jemalloc, UINT64_C(1) << 52, 363409},
        {&subjects_tcmalloc, (1 << 25) - 1, 363408},
        {&subjects_gperftools, (1 << 25) - 1, 363409},
        {&subjects_heapprofd, UINT64_C(1) << 52, 363409},
        {&subjects_seastar, UINT64_C(1) << 52, 363408},
        {&subjects_v8_nodes, UINT64_C(1) << 51, 363408},
        {&subjects_v8_samples, UINT64_C(1) << 51, 363408},
        /* Its log2 is 25 + log2(1 + 0.5 / 1024): the threshold is 255.94 bytes
         * less, rounded down, and 1 more. */
        {&subjects_jep331, (1 << 25) - 1, 363153},
        {&subjects_libdatadog, 1 << 30, 363408},
        {&subjects_otel, 1 << 30, 363408},
        {&subjects_uniform2r, UINT64_C(1) << 52, 524288},
        {&subjects_count_and_force, UINT64_C(1) << 31, 100},
        {&subjects_since_last, UINT64_C(1) << 52, 363409},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NEAR((double)rows[i].rules->threshold(524288, rows[i].number),
                   (double)rows[i].threshold, 0, "%s, half",
                   rows[i].rules->name);
}

/* ---- brute force ---- */

enum { DENSE_RATE = 24, DENSE_STATES = 24 * 40 };

/* The probability of each value that the countdown may have; an allocation
 * takes it to the next such table. */
struct dense {
    double p[DENSE_STATES];
};

static void
dense_draw(const double *law, struct dense *next, int64_t left, double chance,
           const struct subjects_rules *rules, double *points)
{
    /* The probability of each value at or below 0 after a draw: from there
     * another number is drawn. */
    static double pending[DENSE_STATES];

    memset(pending, 0, sizeof pending);
    pending[-left] = chance;
    for (int64_t at = -left; at >= 0; at--) {
        const double here = pending[at];

        if (here == 0)
            continue;
        *points += here;
        for (int64_t gap = 0; gap < DENSE_STATES; gap++) {
            const int64_t after = gap - at;

            if (after > 0)
                next->p[after < DENSE_STATES ? after : DENSE_STATES - 1] +=
                    here * law[gap];
            else if (rules->draws_once)
                next->p[0] += here * law[gap];
            else
                pending[-after] += here * law[gap];
        }
        pending[at] = 0;
        if (rules->draws_once)
            return;
    }
}

/* returns: the expected estimate of one allocation */
static double
dense_step(const struct subjects_rules *rules, const double *law,
           struct dense *dense, uint64_t size_bytes)
{
    const struct subjects_sample sample = {.rate = DENSE_RATE,
                                           .size_bytes = size_bytes};
    const int64_t ticks =
        (int64_t)subjects_ticks(rules, DENSE_RATE, size_bytes);
    const double estimate = rules->estimate(&sample);
    struct dense next = {{0}};
    double sum = 0;

    if (subjects_always(rules, DENSE_RATE, size_bytes))
        return estimate;
    for (int64_t left = 0; left < DENSE_STATES; left++) {
        const double chance = dense->p[left];
        int64_t after = left - ticks;
        double points = 0;

        if (chance == 0)
            continue;
        if (after > 0) {
            next.p[after] += chance;
            continue;
        }
        if (rules->shortcut) {
            points = (double)(-after / DENSE_RATE) * chance;
            after = -(-after % DENSE_RATE);
        }
        dense_draw(law, &next, after, chance, rules, &points);
        sum += estimate * (rules->by_points ? points : chance);
    }
    *dense = next;
    return sum;
}

/* The sizes reach from less than a gap to several, so that draws and their
 * shortcuts both happen. */
TEST(carried_countdowns_are_as_brute_force_has_them)
{
    static const struct subjects_rules *const all[] = {
        &subjects_go1_5,     &subjects_libdatadog,  &subjects_otel,
        &subjects_heapprofd, &subjects_statmemprof, &subjects_count_and_force};
    static const uint64_t sizes[] = {16, 61, 5, 23};
    static double law[DENSE_STATES];

    for (size_t r = 0; r < sizeof all / sizeof *all; r++) {
        const struct subjects_rules *rules = all[r];
        struct dense dense = {{0}};
        double want[4] = {0};
        double got[4];

        for (uint64_t n = 0; n < DENSE_STATES; n++)
            law[n] = n == 0 ? 1 - above_by_pieces(rules, DENSE_RATE, 0)
                            : above_by_pieces(rules, DENSE_RATE, n - 1) -
                                  above_by_pieces(rules, DENSE_RATE, n);
        memcpy(dense.p, law, sizeof law);
        if (rules->manners.start == SUBJECTS_START_FIRST)
            dense = (struct dense){{0, 1}};
        CHECK_NEAR(subjects_short(rules, DENSE_RATE, 16, 1),
                   dense_step(rules, law, &dense, 16) / 16, 1e-9,
                   "%s, first allocation", rules->name);
        for (int period = 0; period < 400; period++) {
            for (int i = 0; i < 4; i++)
                want[i] = dense_step(rules, law, &dense, sizes[i]);
        }
        /* A count of 100 takes many samples to forget its first value. */
        subjects_mean(rules, DENSE_RATE, sizes, 4, got);
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(got[i], want[i],
                       rules == &subjects_count_and_force ? 1e-3 * want[i]
                                                          : 1e-6 * want[i],
                       "%s, %d bytes", rules->name, (int)sizes[i]);
    }
}

/* ---- at random ---- */

enum {
    RUNS_LEAST = 64,
    RUNS_MOST = 8192,
    RUN_PERIODS = 2000,
    CHANCE_RATE = 512,
    SIZES = 4
};

/* With 63 degrees of freedom |t| exceeds 7.5 with a probability below 3e-10;
 * for 23 rule sets of 4 sizes that is a false alarm in less than 3e-8 of all
 * programs. How many runs are made depends on their spread, not on their
 * mean. */
static const double t_most = 7.5;

/* A deviation of 16 % is missed once in a million: it is 5 standard errors
 * beyond the bound of 7.5 standard errors and 0.2 %. */
static const double error_most = (0.16 - 2e-3) / (7.5 + 5);

struct runs {
    uint64_t count;
    double sum[SIZES]; /* of the mean estimates of the runs */
    double squares[SIZES];
};

static void
run_thread(struct runs *runs, const struct subjects_rules *rules,
           const uint64_t *sizes)
{
    struct subjects_thread thread;
    double mean[SIZES] = {0};
    double estimate;

    subjects_thread_start(&thread, rules, CHANCE_RATE, ++runs->count);
    for (int i = 0; i < RUN_PERIODS + 100; i++) {
        for (int s = 0; s < SIZES; s++) {
            (void)subjects_thread_step(&thread, sizes[s], &estimate);
            mean[s] += i < 100 ? 0 : estimate / RUN_PERIODS;
        }
    }
    for (int s = 0; s < SIZES; s++) {
        runs->sum[s] += mean[s];
        runs->squares[s] += mean[s] * mean[s];
    }
}

/* returns: the standard error of the mean over all runs */
static double
error_of(const struct runs *runs, int s)
{
    const double n = (double)runs->count;
    const double variance =
        (runs->squares[s] - runs->sum[s] * runs->sum[s] / n) / (n - 1);

    return sqrt(fmax(variance, 0) / n);
}

/* Rules that rarely sample, or whose weights vary, need more runs. */
static bool
is_precise(const struct runs *runs, const double *want)
{
    for (int s = 0; s < SIZES; s++) {
        if (error_of(runs, s) > error_most * want[s])
            return false;
    }
    return true;
}

static void
check_by_chance(const struct subjects_rules *rules, const uint64_t *sizes)
{
    struct runs runs = {0};
    double want[SIZES];

    subjects_mean(rules, CHANCE_RATE, sizes, SIZES, want);
    while (runs.count < RUNS_LEAST ||
           (runs.count < RUNS_MOST && !is_precise(&runs, want)))
        run_thread(&runs, rules, sizes);
    for (int s = 0; s < SIZES; s++)
        CHECK_NEAR(runs.sum[s] / (double)runs.count, want[s],
                   t_most * error_of(&runs, s) + 2e-3 * want[s],
                   "%s, %d bytes by chance, %d runs", rules->name,
                   (int)sizes[s], (int)runs.count);
    if (!is_precise(&runs, want))
        fail_msg("%s: after %d runs at a rate of %d the estimates still vary "
                 "too much to notice that one is a sixth too high",
                 rules->name, RUNS_MOST, CHANCE_RATE);
}

TEST(random_runs_agree_with_the_enumerations)
{
    static const uint64_t sizes[SIZES] = {100, 1300, 40, 512};

    for (size_t i = 0; subjects_rules_all[i] != NULL; i++)
        check_by_chance(subjects_rules_all[i], sizes);
}

/* ---- the two exact rule sets ---- */

TEST(exact_rules_are_right_for_every_size)
{
    static const struct subjects_rules *const all[] = {&subjects_exact,
                                                       &subjects_min_variance};
    static const uint64_t rates[] = {8, 4096, 524288};
    uint64_t sizes[SUBJECTS_PERIOD_MAX];
    double mean[SUBJECTS_PERIOD_MAX];

    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < 3; i++) {
            for (int w = rates[i] == 8 ? 11 : 1; w <= SUBJECTS_WORKLOADS; w++) {
                const size_t count = subjects_workload(w, rates[i], sizes);

                subjects_mean(all[r], rates[i], sizes, count, mean);
                for (size_t s = 0; s < count; s++)
                    CHECK_NEAR(mean[s] / (double)sizes[s], 1, 1e-9,
                               "%s, W%d, %d bytes", all[r]->name, w,
                               (int)sizes[s]);
            }
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
