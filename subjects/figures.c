/* figures.c -- what a rule set reports on average: selects its enumeration. */
#include "subjects/figures.h"

#include <math.h>

#include "subjects/carried.h"
#include "subjects/rules/jfr.h"
#include "subjects/kept.h"
#include "subjects/renewal.h"
#include "subjects/strata.h"

void
subjects_mean(const struct subjects_rules *rules, uint64_t rate,
              const uint64_t *sizes, size_t count, double *mean)
{
    switch (rules->chain) {
    case SUBJECTS_RENEWAL:
        subjects_renewal_mean(rules, rate, sizes, count, mean);
        return;
    case SUBJECTS_CARRIED:
        subjects_carried_mean(rules, rate, sizes, count, mean);
        return;
    case SUBJECTS_KEPT:
        subjects_kept_mean(rules, rate, sizes, count, mean);
        return;
    case SUBJECTS_BUFFERED:
        subjects_jfr_mean(rules, rate, sizes, count, mean);
        return;
    case SUBJECTS_STRATA:
        subjects_strata_mean(rules, rate, sizes, count, mean);
        return;
    }
}

double
subjects_variance(const struct subjects_rules *rules, uint64_t rate,
                  uint64_t size_bytes)
{
    switch (rules->chain) {
    case SUBJECTS_RENEWAL:
        return subjects_renewal_variance(rules, rate, size_bytes);
    case SUBJECTS_CARRIED:
        return subjects_carried_variance(rules, rate, size_bytes);
    case SUBJECTS_KEPT:
        return subjects_kept_variance(rules, rate, size_bytes);
    case SUBJECTS_BUFFERED:
        return 0; /* no two runs differ */
    case SUBJECTS_STRATA:
        return subjects_strata_variance(rules, rate, size_bytes);
    }
    return 0;
}

double
subjects_short(const struct subjects_rules *rules, uint64_t rate,
               uint64_t size_bytes, size_t allocations)
{
    switch (rules->chain) {
    case SUBJECTS_RENEWAL:
        return subjects_renewal_short(rules, rate, size_bytes, allocations);
    case SUBJECTS_CARRIED:
        return subjects_carried_short(rules, rate, size_bytes, allocations);
    case SUBJECTS_KEPT:
        return subjects_kept_short(rules, rate, size_bytes, allocations);
    case SUBJECTS_BUFFERED:
        return subjects_jfr_short(rules, rate, size_bytes, allocations);
    case SUBJECTS_STRATA:
        return subjects_strata_short(rules, rate, size_bytes, allocations);
    }
    return 0;
}

static double
one(const struct subjects_sample *sample)
{
    (void)sample;
    return 1;
}

void
subjects_chances(const struct subjects_rules *rules, uint64_t rate,
                 const uint64_t *sizes, size_t count, double *chance)
{
    struct subjects_rules counted = *rules;

    counted.estimate = one;
    counted.by_points = false;
    counted.needs_threshold = false;
    subjects_mean(&counted, rate, sizes, count, chance);
}

double
subjects_live(const struct subjects_rules *rules, uint64_t rate,
              uint64_t size_bytes)
{
    struct subjects_rules shown = *rules;
    double mean;

    if (rules->live != NULL)
        shown.estimate = rules->live;
    subjects_mean(&shown, rate, &size_bytes, 1, &mean);
    return mean / (double)size_bytes;
}

struct subjects_site
subjects_mixed_site(const struct subjects_rules *rules, uint64_t rate,
                    const uint64_t *sizes, size_t count)
{
    double chance[SUBJECTS_SIZES_MAX];
    double objects = 0;
    double bytes = 0;
    double all_bytes = 0;
    double scale;

    subjects_chances(rules, rate, sizes, count, chance);
    for (size_t i = 0; i < count; i++) {
        objects += chance[i];
        bytes += chance[i] * (double)sizes[i];
        all_bytes += (double)sizes[i];
    }
    scale = -1 / expm1(-bytes / objects / (double)rate);
    return (struct subjects_site){objects * scale / (double)count,
                                  bytes * scale / all_bytes};
}
