/*
 * compare.c -- measures one row: entrants interleaved, until their ratios are
 * stable.
 *
 * A round runs every entrant once; an extra first round warms up and is thrown
 * away. Rounds go on until the spread of every entrant is narrow, or until the
 * row's time is over. The spread is the distance between the quartiles, divided
 * by the median. If the ratios (each within one round) still spread too widely,
 * the row is noisy: its numbers are not shown, because another run would give
 * different ones.
 *
 * If an entrant has no peers in its row, its own spread decides.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

enum {
    ROUNDS_MIN = 7,
    ROUNDS_LONG = 3, /* of repetitions that take seconds */
    TRIES = 3        /* two threads may miss each other */
};

static const double SPREAD_FINE = 0.04;  /* no more rounds are needed */
static const double SPREAD_LIMIT = 0.20; /* wider is not reported */

struct result {
    double values[BENCH_ROUNDS_MAX];
    double ratios[BENCH_ROUNDS_MAX]; /* to ours, of the same round */
    double median;
    double spread;
    double ratio;
    double ratio_spread;
    bool failed;
};

void
bench_begin(struct bench *bench, const char *noun, uint32_t rows_planned)
{
    const char *quick = getenv("QUICK");
    const char *rows = getenv("BENCH_ROWS");

    bench_pin(0);
    signal(SIGPIPE, SIG_IGN); /* a peer that ends is skipped */
    *bench = (struct bench){
        .noun = noun,
        .rows_planned = rows_planned,
        .begun_ns = bench_now_ns(),
        .quick = quick != NULL && strcmp(quick, "1") == 0,
    };
    (void)bench_ns_a_tick();
    if (rows != NULL && rows[0] != '\0') {
        bench->rows = fopen(rows, "a");
        if (bench->rows == NULL) {
            perror(rows);
            exit(1);
        }
    }
}

int
bench_end(struct bench *bench)
{
    int failed = 0;

    if (bench->rows != NULL)
        failed = fclose(bench->rows) != 0;
    if (bench->noisy > 0)
        printf("%s: %u of %u numbers were too noisy to report\n", bench->noun,
               bench->noisy, bench->numbers);
    return failed || fflush(stdout) != 0;
}

void
bench_skip(const struct bench *bench, const char *name, const char *why)
{
    printf("%-10s %s takes no part: %s\n", bench->noun, name, why);
}

static void
show_progress(const struct bench *bench, const struct bench_row *row)
{
    const double elapsed = (double)(bench_now_ns() - bench->begun_ns) / 1e9;
    const uint32_t done = bench->rows_done;
    const double left =
        done == 0 ? 0 : elapsed / done * (double)(bench->rows_planned - done);

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s %u/%u %s, %.0f s left\r", bench->noun,
                done + 1, bench->rows_planned, row->operation, left);
}

static double
spread_of(const double *values, uint32_t count, double *median)
{
    double sorted[BENCH_ROUNDS_MAX];
    double low, high;

    memcpy(sorted, values, count * sizeof *values);
    *median = bench_quantile(sorted, count, 0.5);
    low = bench_quantile(sorted, count, 0.25);
    high = bench_quantile(sorted, count, 0.75);
    return *median > 0 ? (high - low) / *median : 0;
}

static void
sum_up(const struct bench_row *row, struct result *results, size_t count,
       uint32_t rounds)
{
    for (size_t i = 0; i < count; i++) {
        struct result *result = &results[i];

        if (result->failed)
            continue;
        for (uint32_t r = 0; r < rounds; r++)
            result->ratios[r] = row->more_is_better
                                    ? results[0].values[r] / result->values[r]
                                    : result->values[r] / results[0].values[r];
        result->spread = spread_of(result->values, rounds, &result->median);
        result->ratio_spread =
            spread_of(result->ratios, rounds, &result->ratio);
    }
}

static bool
is_fine(const struct result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!results[i].failed && results[i].spread > SPREAD_FINE)
            return false;
    }
    return true;
}

static void
run_round(const struct bench_entrant *entrants, size_t count, uint32_t round,
          struct result *results, uint32_t at)
{
    for (size_t i = 0; i < count; i++) {
        double value = -1;

        if (results[i].failed)
            continue;
        for (uint32_t try = 0; try < TRIES && !(value > 0); try++)
            value = entrants[i].once(entrants[i].context, round);
        results[i].values[at] = value;
        if (!(value > 0)) /* NaN, too */
            results[i].failed = true;
    }
}

static bool
is_noisy(const struct result *result, bool alone)
{
    return (alone ? result->spread : result->ratio_spread) > SPREAD_LIMIT;
}

/* Not peers: lower bounds, whose names are in parentheses; other variants of
 * ours; and the row's goal_peer (Go), for which the row has a separate goal. */
static bool
is_peer(const struct bench_row *row, const struct bench_entrant *entrant,
        const struct result *result)
{
    return entrant->name[0] != '(' && !result->failed &&
           strncmp(entrant->name, "profsim", strlen("profsim")) != 0 &&
           (row->goal_peer == NULL ||
            strcmp(row->goal_peer, entrant->name) != 0);
}

/* returns: the peer with the least ratio; 0, us, if there is none */
static size_t
best_peer(const struct bench_row *row, const struct bench_entrant *entrants,
          const struct result *results, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++) {
        if (is_peer(row, &entrants[i], &results[i]) &&
            (best == 0 || results[i].ratio < results[best].ratio))
            best = i;
    }
    return best;
}

struct goal {
    const char *verdict; /* "met", "missed"; "" without a goal */
    double value;
};

static struct goal
judge(double reached, double wanted)
{
    return (struct goal){reached >= wanted ? "met" : "missed", wanted};
}

static struct goal
goal_of(const struct bench_row *row, const struct bench_entrant *entrant,
        const struct result *result, bool is_ours, bool is_best)
{
    if (!is_ours && row->goal_ratio > 0 && row->goal_peer != NULL &&
        strcmp(row->goal_peer, entrant->name) == 0)
        return judge(result->ratio, row->goal_ratio);
    if (is_best && row->goal_best > 0)
        return judge(result->ratio, row->goal_best);
    if (is_ours && row->goal_at_most > 0)
        return (struct goal){result->median <= row->goal_at_most ? "met"
                                                                 : "missed",
                             row->goal_at_most};
    if (is_ours && row->goal_at_least > 0)
        return judge(result->median, row->goal_at_least);
    return (struct goal){"", 0};
}

static void
say(struct bench *bench, const struct bench_row *row,
    const struct bench_entrant *entrant, const struct result *result,
    uint32_t rounds, struct goal goal, bool alone)
{
    const bool noisy = is_noisy(result, alone);
    char point[64];
    char goal_text[32] = "";

    snprintf(point, sizeof point, "d=%u n=%u %s T=%u", row->depth, row->n,
             row->order != NULL ? row->order : "-",
             row->threads == 0 ? 1 : row->threads);
    if (goal.verdict[0] != '\0')
        snprintf(goal_text, sizeof goal_text, "%s %.4g", goal.verdict,
                 goal.value);
    if (noisy)
        printf("%-10s %-16s %-28s %-18s %10s  noisy, spread %.0f %%\n",
               bench->noun, row->operation, point, entrant->name, "-",
               100 * (alone ? result->spread : result->ratio_spread));
    else
        printf("%-10s %-16s %-28s %-18s %10.2f %-9s %7.2f  %s\n", bench->noun,
               row->operation, point, entrant->name, result->median, row->unit,
               result->ratio, goal_text);
    bench->noisy += noisy;
    bench->numbers++;
    if (bench->rows == NULL)
        return;
    fprintf(bench->rows, "%s\t%s\t%u\t%u\t%s\t%u\t%s\t%s\t", bench->noun,
            row->operation, row->depth, row->n,
            row->order != NULL ? row->order : "",
            row->threads == 0 ? 1 : row->threads, entrant->name, row->unit);
    if (noisy)
        fprintf(bench->rows, "\t%.3f\t\t%u\tnoisy\t\t\n", result->spread,
                rounds);
    else
        fprintf(bench->rows, "%.3f\t%.3f\t%.3f\t%u\tok\t%s\t%.4g\n",
                result->median, result->spread, result->ratio, rounds,
                goal.verdict, goal.value);
}

static void
skip_row(const struct bench *bench, const struct bench_row *row,
         const char *name)
{
    char why[64];

    snprintf(why, sizeof why, "%s gave no measure", row->operation);
    bench_skip(bench, name, why);
}

void
bench_compare(struct bench *bench, const struct bench_row *row,
              const struct bench_entrant *entrants, size_t count)
{
    static struct result results[BENCH_ENTRANTS_MAX];
    const uint64_t patience_ns = bench->quick ? 400000000U : 1500000000U;
    uint64_t begun_ns;
    uint32_t rounds = 0;
    size_t there = 0;
    size_t best;

    if (count > BENCH_ENTRANTS_MAX)
        count = BENCH_ENTRANTS_MAX;
    memset(results, 0, sizeof results);
    show_progress(bench, row);
    run_round(entrants, count, 0, results, 0); /* warm-up */
    begun_ns = bench_now_ns();
    while (rounds < BENCH_ROUNDS_MAX) {
        run_round(entrants, count, rounds + 1, results, rounds);
        if (results[0].failed)
            break;
        sum_up(row, results, count, ++rounds);
        if (row->exact)
            break;
        if (rounds >= ROUNDS_MIN && (is_fine(results, count) ||
                                     bench_now_ns() - begun_ns > patience_ns))
            break;
        if (rounds >= ROUNDS_LONG &&
            bench_now_ns() - begun_ns > 6 * patience_ns)
            break; /* long repetitions: fewer of them */
    }
    bench->rows_done++;
    for (size_t i = 0; i < count; i++)
        there += !results[i].failed;
    best = best_peer(row, entrants, results, count);
    for (size_t i = 0; i < count; i++) {
        if (results[i].failed || results[0].failed)
            skip_row(bench, row, entrants[i].name);
        else
            say(bench, row, &entrants[i], &results[i], rounds,
                goal_of(row, &entrants[i], &results[i], i == 0,
                        i == best && i > 0),
                there == 1);
    }
    fflush(stdout);
}
