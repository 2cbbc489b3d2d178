/* renewal.c -- what RENEWAL rule sets report on average, enumerated. */
#include "subjects/renewal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/no_memory.h"

static const double negligible = 1e-15;

/* A table of P(threshold > n), by n, for rule sets whose estimate depends on
 * where in the allocation the threshold lies. */
struct table {
    const struct subjects_rules *rules;
    uint64_t rate;
    double *above;
    uint64_t count;
};

struct chain {
    const struct subjects_rules *rules;
    uint64_t rate;
    const uint64_t *sizes;
    size_t count;
    const struct table *table; /* NULL: not needed */
};

/* What is known when the next sample is at one allocation. */
struct outcome {
    double chance;
    double first;  /* chance times estimate */
    double second; /* chance times its square */
};

/* The last table is kept, as callers try one workload after another. */
static const struct table *
table_of(const struct subjects_rules *rules, uint64_t rate)
{
    static struct table table;
    uint64_t low = 0;
    uint64_t limit = 1;

    if (!rules->needs_threshold)
        return NULL;
    if (table.rules == rules && table.rate == rate)
        return &table;
    free(table.above);
    while (rules->above(rate, limit) >= negligible)
        limit *= 2;
    for (low = limit / 2; low + 1 < limit;) {
        const uint64_t middle = low + (limit - low) / 2;

        if (rules->above(rate, middle) >= negligible)
            low = middle;
        else
            limit = middle;
    }
    table = (struct table){rules, rate, NULL, limit + 1};
    table.above = malloc(table.count * sizeof *table.above);
    if (table.above == NULL)
        subjects_no_memory();
    for (uint64_t n = 0; n < table.count; n++)
        table.above[n] = rules->above(rate, n);
    return &table;
}

static double
table_at(const struct table *table, uint64_t n)
{
    return n < table->count ? table->above[n] : 0;
}

/*
 * The threshold lies in (before, sum]. At threshold = sum the estimate is
 * `end`, and it grows by `slope` for each tick that the threshold lies earlier.
 * Adds over all d = sum - threshold, using summation by parts.
 */
static void
weigh_by_threshold(const struct chain *chain, struct subjects_sample *sample,
                   uint64_t before, struct outcome *outcome)
{
    const double start = table_at(chain->table, before);
    double end;
    double slope;
    double d1 = 0; /* sum of d P(d) */
    double d2 = 0; /* sum of d^2 P(d) */

    sample->threshold = (double)sample->sum_ticks;
    end = chain->rules->estimate(sample);
    sample->threshold -= 1;
    slope = chain->rules->estimate(sample) - end;
    for (uint64_t n = before; n < sample->sum_ticks; n++) {
        const double rest = start - table_at(chain->table, n);

        d1 += rest;
        d2 += rest * (2 * (double)(sample->sum_ticks - n) - 1);
    }
    outcome->first = outcome->chance * end + slope * d1;
    outcome->second =
        outcome->chance * end * end + 2 * end * slope * d1 + slope * slope * d2;
}

/* The case that the next sample falls on an allocation of `size_bytes`,
 * `before` ticks after the last sample. `left` is the chance that it fell on no
 * earlier one. */
static struct outcome
outcome_of(const struct chain *chain, uint64_t size_bytes, uint64_t before,
           double left, double *left_after)
{
    const struct subjects_rules *rules = chain->rules;
    struct subjects_sample sample = {
        .rate = chain->rate,
        .size_bytes = size_bytes,
        .sum_ticks = before + subjects_ticks(rules, chain->rate, size_bytes),
    };
    struct outcome outcome;

    *left_after = subjects_always(rules, chain->rate, size_bytes)
                      ? 0
                      : rules->above(chain->rate, sample.sum_ticks);
    outcome.chance = left - *left_after;
    if (rules->needs_threshold) {
        weigh_by_threshold(chain, &sample, before, &outcome);
    } else {
        const double estimate = rules->estimate(&sample);

        outcome.first = outcome.chance * estimate;
        outcome.second = outcome.first * estimate;
    }
    return outcome;
}

/* Where the next sample falls if the last one was at one position. */
struct row {
    double to[SUBJECTS_SIZES_MAX];
    double estimate[SUBJECTS_SIZES_MAX];
    double steps; /* allocations to the next sample, expected */
};

static void
row_make(const struct chain *chain, size_t from, struct row *row)
{
    uint64_t sum = 0;
    double left = 1;

    memset(row, 0, sizeof *row);
    for (size_t k = 1; left > negligible; k++) {
        const size_t at = (from + k) % chain->count;
        double after;
        const struct outcome outcome =
            outcome_of(chain, chain->sizes[at], sum, left, &after);

        row->to[at] += outcome.chance;
        row->estimate[at] += outcome.first;
        row->steps += left;
        sum += subjects_ticks(chain->rules, chain->rate, chain->sizes[at]);
        left = after;
    }
}

/* Iterate a chain that, with chance 1/2, stays where it is at each step: it has
 * the same stationary vector, but no period, so this converges. */
static void
stationary(const struct row *rows, size_t count, double *share)
{
    double next[SUBJECTS_SIZES_MAX];
    double change = 1;

    for (size_t i = 0; i < count; i++)
        share[i] = 1 / (double)count;
    for (int round = 0; round < 100000 && change > 1e-17; round++) {
        memset(next, 0, sizeof next);
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < count; j++)
                next[j] += share[i] * rows[i].to[j];
        }
        change = 0;
        for (size_t i = 0; i < count; i++) {
            change += fabs(next[i] - share[i]);
            share[i] = (next[i] + share[i]) / 2;
        }
    }
}

static void
credit_next(const struct chain *chain, size_t at, double chance, double *mean)
{
    const size_t next = (at + 1) % chain->count;
    const struct subjects_sample sample = {.rate = chain->rate,
                                           .size_bytes = chain->sizes[next]};

    mean[next] += chance * chain->rules->estimate(&sample);
}

void
subjects_renewal_mean(const struct subjects_rules *rules, uint64_t rate,
                      const uint64_t *sizes, size_t count, double *mean)
{
    const struct chain chain = {rules, rate, sizes, count,
                                table_of(rules, rate)};
    struct row *rows = malloc(count * sizeof *rows);
    double share[SUBJECTS_SIZES_MAX];
    double steps = 0;

    if (rows == NULL)
        subjects_no_memory();
    for (size_t i = 0; i < count; i++)
        row_make(&chain, i, &rows[i]);
    stationary(rows, count, share);
    memset(mean, 0, count * sizeof *mean);
    for (size_t i = 0; i < count; i++) {
        steps += share[i] * rows[i].steps;
        for (size_t j = 0; j < count; j++)
            if (rules->samples_next)
                credit_next(&chain, j, share[i] * rows[i].to[j], mean);
            else
                mean[j] += share[i] * rows[i].estimate[j];
    }
    /* So far `mean` is per sample; a position comes up once in `count`
     * allocations. */
    for (size_t j = 0; j < count; j++)
        mean[j] *= (double)count / steps;
    free(rows);
}

/* This is a renewal-reward process: a sample that comes k allocations after the
 * last one adds its estimate w. If r is the mean estimate per allocation, the
 * variance per sample is that of w - r k. */
double
subjects_renewal_variance(const struct subjects_rules *rules, uint64_t rate,
                          uint64_t size_bytes)
{
    const struct chain chain = {rules, rate, &size_bytes, 1,
                                table_of(rules, rate)};
    const uint64_t ticks = subjects_ticks(rules, rate, size_bytes);
    double w = 0;
    double ww = 0;
    double k1 = 0;
    double kk = 0;
    double wk = 0;
    double left = 1;
    double r;

    for (uint64_t k = 1; left > negligible; k++) {
        double after;
        const struct outcome outcome =
            outcome_of(&chain, size_bytes, (k - 1) * ticks, left, &after);

        w += outcome.first;
        ww += outcome.second;
        k1 += outcome.chance * (double)k;
        kk += outcome.chance * (double)k * (double)k;
        wk += outcome.first * (double)k;
        left = after;
    }
    r = w / k1;
    return (ww - 2 * r * wk + r * r * kk) / (w * w);
}

/* rest[n] is the expected estimate of the n allocations after a sample. The
 * first threshold of a thread may have another distribution. */
double
subjects_renewal_short(const struct subjects_rules *rules, uint64_t rate,
                       uint64_t size_bytes, size_t allocations)
{
    const struct chain chain = {rules, rate, &size_bytes, 1,
                                table_of(rules, rate)};
    const uint64_t ticks = subjects_ticks(rules, rate, size_bytes);
    double *rest = calloc(allocations + 1, sizeof *rest);
    double result;

    if (rest == NULL)
        subjects_no_memory();
    for (size_t n = 1; n <= allocations; n++) {
        double left = 1;

        for (size_t k = 1; k <= n; k++) {
            double after;
            const struct outcome outcome =
                outcome_of(&chain, size_bytes, (k - 1) * ticks, left, &after);

            rest[n] += outcome.first + outcome.chance * rest[n - k];
            left = after;
        }
    }
    result = rest[allocations];
    if (rules->manners.start == SUBJECTS_START_RATE) {
        const uint64_t k = (rate + ticks - 1) / ticks;
        struct subjects_sample sample = {.rate = rate,
                                         .size_bytes = size_bytes,
                                         .sum_ticks = k * ticks,
                                         .threshold = (double)rate};

        result = k > allocations
                     ? 0
                     : rules->estimate(&sample) + rest[allocations - k];
    }
    free(rest);
    return result / ((double)allocations * (double)size_bytes);
}
