/* amounts.c -- how much is sampled, and what it weighs. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/binomial.h"
#include "subjects/conform/exercise.h"

static const size_t sizes[] = {16,    64,     500,    4096,   10000,
                               65536, 131072, 524288, 2 << 20};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    SAMPLES = 2000, /* on average, for each size */
    THREADS = 4000,
    ROUNDING_SIZES = 24
};

/* Allocate and free blocks. returns: the number of events, or of crossed
 * intervals if weights count these */
static uint64_t
count_samples(size_t bytes, uint64_t trials)
{
    const uint64_t interval = weighing()->interval_bytes;
    uint64_t count = 0;

    for (uint64_t i = 0; i < trials; i++) {
        struct seen seen;

        free(seen_malloc(bytes, &seen));
        if (seen.allocs > 0)
            count += interval != 0 ? seen.alloc.weight_bytes / interval : 1;
    }
    return count;
}

/*
 * If weights count crossings, N blocks of S bytes count a Poisson number of
 * mean N S / R. It is judged as a binomial number with many trials, each of a
 * chance below a thousandth, which has nearly the same distribution.
 */
static double
judge_crossings(const char *what, size_t bytes, uint64_t trials, uint64_t count)
{
    const double a_block = (double)bytes / (double)weighing()->interval_bytes;
    const double parts = ceil(a_block * 1000);

    return judge_count(what, (uint64_t)((double)trials * parts),
                       a_block / parts, count);
}

void
check_bytes_by_size(void)
{
    double coarsest = 0;

    for (size_t i = 0; i < SIZES; i++) {
        const double chance = chance_of(sizes[i]);
        const uint64_t trials = trials_for(SAMPLES, chance);
        const uint64_t count = count_samples(sizes[i], trials);
        char what[64];
        double noticed;

        snprintf(what, sizeof what, "%zu bytes", sizes[i]);
        noticed = weighing()->is_by_crossings
                      ? judge_crossings(what, sizes[i], trials, count)
                      : judge_count(what, trials, chance, count);
        coarsest = fmax(coarsest, noticed);
    }
    holds("%d sizes from %zu to %zu bytes; a deviation of %.0f %% would be "
          "noticed in each",
          (int)SIZES, sizes[0], sizes[SIZES - 1], coarsest * 100);
}

static size_t first_bytes;

static void *
allocate_once(void *is_sampled)
{
    struct seen seen;

    free(seen_malloc(first_bytes, &seen));
    *(bool *)is_sampled = seen.allocs > 0;
    return NULL;
}

void
check_first_of_a_thread(void)
{
    uint64_t count = 0;
    double noticed;

    first_bytes = half_size();
    for (int i = 0; i < THREADS; i++) {
        bool is_sampled = false;
        pthread_t thread;

        if (pthread_create(&thread, NULL, allocate_once, &is_sampled) != 0)
            not_tried("thread %d could not be created", i);
        pthread_join(thread, NULL);
        count += is_sampled;
    }
    noticed = judge_count("first allocations", THREADS, chance_of(first_bytes),
                          count);
    holds("%d threads with one allocation each; a deviation of %.0f %% would "
          "be noticed",
          (int)THREADS, noticed * 100);
}

void
check_weights(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        uint64_t first = 0;

        for (int j = 0; j < 20; j++) {
            struct seen seen;

            seen_sample(sizes[i], &seen);
            if (weighing()->is_by_crossings) {
                if (seen.alloc.weight_bytes == 0 ||
                    seen.alloc.weight_bytes % weighing()->interval_bytes != 0)
                    broken("a block of %zu bytes weighs %ju, no multiple of "
                           "%ju",
                           sizes[i], (uintmax_t)seen.alloc.weight_bytes,
                           (uintmax_t)weighing()->interval_bytes);
                continue;
            }
            first = first == 0 ? seen.alloc.weight_bytes : first;
            if (seen.alloc.weight_bytes < sizes[i])
                broken("a block of %zu bytes weighs %ju: a chance above 1",
                       sizes[i], (uintmax_t)seen.alloc.weight_bytes);
            if (seen.alloc.weight_bytes > first + 1 ||
                seen.alloc.weight_bytes + 1 < first)
                broken("blocks of %zu bytes weigh %ju and %ju", sizes[i],
                       (uintmax_t)first, (uintmax_t)seen.alloc.weight_bytes);
        }
    }
    if (weighing()->is_by_crossings)
        holds("weights count intervals of %ju bytes, as the first version of "
              "the contract had it",
              (uintmax_t)weighing()->interval_bytes);
    holds("one weight for each of %d sizes; that events are as rare as it says "
          "is check bytes_by_size",
          (int)SIZES);
}

/* S / (1 - e^(-S/R)) */
static double
weight_at(double bytes, double interval)
{
    return bytes / -expm1(-bytes / interval);
}

/* returns: the sampling interval at which a block of this size has this weight;
 * weights grow with the interval */
static double
interval_for(double bytes, double weight)
{
    double low = 0.5;
    double high = weight + 1;

    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;

        if (weight_at(bytes, middle) < weight)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* In a byte sampler one interval determines all weights. So there must be an
 * interval from which every weight follows to within half a byte. */
void
check_rounding(void)
{
    double low = 0;
    double high = INFINITY;
    int used = 0;

    if (weighing()->is_by_crossings)
        not_applicable("weights count intervals");
    for (size_t i = 1; i <= ROUNDING_SIZES; i++) {
        const size_t bytes = 4096 * i + 37 * i * i;
        const double weight = (double)bytes / chance_of(bytes);

        /* Blocks that are almost always sampled say nothing about the
         * interval. */
        if (weight < (double)bytes * 1.01)
            continue;
        used++;
        low = fmax(low, interval_for((double)bytes, weight - 0.5));
        high = fmin(high, interval_for((double)bytes, weight + 0.5));
    }
    if (high == INFINITY)
        not_tried("the interval is too short for its weights to differ");
    if (low > high + 1e-6 && low > high * 1.001)
        not_applicable("the chances are not those of a byte sampler: weights "
                       "ask for intervals of %.2f and %.2f",
                       high, low);
    if (low > high + 1e-6)
        broken("no interval explains all weights: one asks for more than %.3f, "
               "one for less than %.3f",
               low, high);
    if (floor(high + 1e-3) < low - 1e-3)
        broken(
            "all weights ask for an interval between %.3f and %.3f, no whole "
            "number: they are not rounded to the nearest",
            low, high);
    holds("an interval of %.2f bytes explains %d weights to half a byte",
          (low + high) / 2, used);
}
