/* strata.c -- one point in each block of R bytes, for each size class. */
#include "subjects/strata.h"

unsigned
subjects_class(uint64_t size_bytes)
{
    const uint64_t size = size_bytes < 4 ? 4 : size_bytes;
    const unsigned doubling = 63 - (unsigned)__builtin_clzll(size);

    return doubling * 4 + (unsigned)((size >> (doubling - 2)) & 3);
}

uint64_t
subjects_stratum_step(struct subjects_stratum *stratum, uint64_t rate,
                      uint64_t size_bytes,
                      uint64_t (*draw)(void *context, uint64_t rate),
                      void *context)
{
    uint64_t left = size_bytes;
    uint64_t points = 0;

    if (size_bytes >= rate)
        return 1;
    while (left > 0) {
        const uint64_t room = rate - stratum->passed;
        const uint64_t bytes = left < room ? left : room;

        if (stratum->passed == 0)
            stratum->point = draw(context, rate);
        if (stratum->point >= stratum->passed &&
            stratum->point < stratum->passed + bytes)
            points++;
        stratum->passed = (stratum->passed + bytes) % rate;
        left -= bytes;
    }
    return points;
}

/*
 * returns: the expected estimate of an allocation, over all positions of the
 * points
 *
 * out:     *chance, that the allocation has a point; *passed, the bytes of the
 *          block up to the end of the allocation
 */
static double
estimate_of(const struct subjects_rules *rules, uint64_t rate,
            uint64_t size_bytes, uint64_t *passed, double *chance)
{
    const struct subjects_sample sample = {.rate = rate,
                                           .size_bytes = size_bytes};
    const double estimate = rules->estimate(&sample);
    uint64_t left = size_bytes;
    double points = 0;
    double missed = 1;

    *chance = 1;
    if (size_bytes >= rate)
        return estimate;
    while (left > 0) {
        const uint64_t room = rate - *passed;
        const uint64_t bytes = left < room ? left : room;
        const double share = (double)bytes / (double)rate;

        points += share;
        missed *= 1 - share;
        *passed = (*passed + bytes) % rate;
        left -= bytes;
    }
    *chance = 1 - missed;
    return estimate * (rules->by_points ? points : *chance);
}

enum { PERIODS = 4096 };

/* A block may begin at any byte of an allocation, so many periods are averaged.
 */
void
subjects_strata_mean(const struct subjects_rules *rules, uint64_t rate,
                     const uint64_t *sizes, size_t count, double *mean)
{
    uint64_t passed[SUBJECTS_CLASSES] = {0};

    for (size_t i = 0; i < count; i++)
        mean[i] = 0;
    for (int period = 0; period < PERIODS; period++) {
        for (size_t i = 0; i < count; i++) {
            double chance;

            mean[i] += estimate_of(rules, rate, sizes[i],
                                   &passed[subjects_class(sizes[i])], &chance) /
                       PERIODS;
        }
    }
}

/* Each block is estimated at R bytes, wherever its point lies, so the estimate
 * of allocated bytes does not vary. That of live bytes does (live_variance.h).
 */
double
subjects_strata_variance(const struct subjects_rules *rules, uint64_t rate,
                         uint64_t size_bytes)
{
    (void)rules;
    (void)rate;
    (void)size_bytes;
    return 0;
}

double
subjects_strata_short(const struct subjects_rules *rules, uint64_t rate,
                      uint64_t size_bytes, size_t allocations)
{
    uint64_t passed = 0;
    double sum = 0;
    double chance;

    for (size_t i = 0; i < allocations; i++)
        sum += estimate_of(rules, rate, size_bytes, &passed, &chance);
    return sum / ((double)allocations * (double)size_bytes);
}
