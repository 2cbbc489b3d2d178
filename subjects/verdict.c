/* verdict.c -- see verdict.h. */
#include "subjects/verdict.h"

#include <math.h>
#include <string.h>

#include "subjects/effects.h"
#include "subjects/workloads.h"

/* All workloads except W12, whose R is always 8. */
enum { WORKLOADS = SUBJECTS_WORKLOADS - 1, SMALL_BYTES = 16 };

static bool
is_off(double figure)
{
    return !(fabs(figure - 1) <= SUBJECTS_TOLERANCE); /* NaN is */
}

static void
add(struct subjects_verdict *verdict, const char *property, const char *what,
    double figure, const struct subjects_fault *where)
{
    struct subjects_fault *fault;

    if (verdict->count == 0)
        verdict->tried++;
    if (!is_off(figure))
        return;
    for (size_t i = 0; i < verdict->count; i++)
        if (strcmp(verdict->faults[i].what, what) == 0)
            return;
    if (verdict->count == SUBJECTS_FAULTS_MAX)
        return;
    fault = &verdict->faults[verdict->count++];
    *fault = *where;
    fault->property = property;
    fault->what = what;
    fault->figure = figure;
}

/* The same for an effect: NaN says that the tool has no such effect. */
static void
add_effect(struct subjects_verdict *verdict, const char *property,
           const char *what, double figure, const struct subjects_fault *where)
{
    add(verdict, property, what, isnan(figure) ? 1 : figure, where);
}

/* ---- Periods ---- */

/* Compare estimate and truth for each size that is allocated in a period.
 * out: period->figure and period->size_bytes, of the size that is furthest off
 * returns: whether that one is outside the tolerance */
static bool
is_period_off(const struct subjects_rules *rules, uint64_t rate,
              struct subjects_fault *period)
{
    double mean[SUBJECTS_SIZES_MAX];

    period->figure = 1;
    subjects_mean(rules, rate, period->sizes, period->count, mean);
    for (size_t i = 0; i < period->count; i++) {
        double sum = 0, truth = 0;

        for (size_t j = 0; j < period->count; j++)
            if (period->sizes[j] == period->sizes[i]) {
                sum += mean[j];
                truth += (double)period->sizes[j];
            }
        if (!(fabs(sum / truth - 1) <= fabs(period->figure - 1) + 1e-9)) {
            period->figure = sum / truth;
            period->size_bytes = period->sizes[i];
        }
        if (isnan(period->figure))
            return true;
    }
    return is_off(period->figure);
}

static bool
shrink_once(const struct subjects_rules *rules, uint64_t rate,
            struct subjects_fault *period)
{
    struct subjects_fault smaller;

    for (size_t i = 0; i < period->count && period->count > 1; i++) {
        smaller = *period;
        smaller.count--;
        memmove(&smaller.sizes[i], &smaller.sizes[i + 1],
                (smaller.count - i) * sizeof *smaller.sizes);
        if (is_period_off(rules, rate, &smaller)) {
            *period = smaller;
            return true;
        }
    }
    for (size_t i = 0; i < period->count; i++) {
        const uint64_t to[] = {SMALL_BYTES, rate, period->sizes[i] / 2};

        for (size_t j = 0; j < sizeof to / sizeof *to; j++) {
            smaller = *period;
            smaller.sizes[i] = to[j];
            if (to[j] >= SMALL_BYTES && to[j] < period->sizes[i] &&
                is_period_off(rules, rate, &smaller)) {
                *period = smaller;
                return true;
            }
        }
    }
    return false;
}

static void
judge_period(struct subjects_verdict *verdict,
             const struct subjects_rules *rules, uint64_t rate,
             struct subjects_fault period)
{
    if (is_period_off(rules, rate, &period))
        while (shrink_once(rules, rate, &period))
            ;
    if (period.count == 1)
        add(verdict, "U1", "a size by itself", period.figure, &period);
    else
        add(verdict, "U3", "a size among others", period.figure, &period);
}

/* ---- Effects ---- */

static struct subjects_fault
alone(uint64_t size_bytes)
{
    return (struct subjects_fault){
        .sizes = {size_bytes}, .count = 1, .size_bytes = size_bytes};
}

static void
judge_size(struct subjects_verdict *verdict, const struct subjects_rules *rules,
           uint64_t rate, uint64_t size_bytes)
{
    const struct subjects_effects effects =
        subjects_effects(rules, rate, size_bytes);
    const struct subjects_fault where = alone(size_bytes);

    add_effect(verdict, "U1", "live objects",
               subjects_live(rules, rate, size_bytes), &where);
    add_effect(verdict, "U2", "a thread's first allocation", effects.first,
               &where);
    add_effect(verdict, "U2", "a thread of ten allocations", effects.ten,
               &where);
    add_effect(verdict, "U1", "what a realloc that moves adds",
               effects.realloc_moved, &where);
    add_effect(verdict, "U1", "what a realloc in place adds",
               effects.realloc_place, &where);
    add_effect(verdict, "G1", "the allocation after the rate has doubled",
               effects.doubled_new, &where);
    add_effect(verdict, "G1", "what was recorded before the rate doubled",
               effects.doubled_old, &where);
}

static void
judge_site(struct subjects_verdict *verdict, const struct subjects_rules *rules,
           uint64_t rate)
{
    const struct subjects_fault both = {
        .sizes = {SMALL_BYTES, rate}, .count = 2, .size_bytes = SMALL_BYTES};
    const struct subjects_site site =
        subjects_mixed_site(rules, rate, both.sizes, both.count);

    if (rules->manners.scales_by_site)
        add_effect(verdict, "U1", "objects of a site with both sizes",
                   site.objects, &both);
}

/* Judge the expected estimate of the largest possible block, right after a
 * sample, divided by its size. Rules that count bytes always sample such a
 * block. */
static void
judge_largest(struct subjects_verdict *verdict,
              const struct subjects_rules *rules, uint64_t rate)
{
    const struct subjects_fault where = alone(INT64_MAX);
    const struct subjects_sample sample = {
        .rate = rate,
        .size_bytes = INT64_MAX,
        .sum_ticks = subjects_ticks(rules, rate, INT64_MAX),
        .threshold = 1,
    };
    double chance = 1;

    if (rules->chain != SUBJECTS_RENEWAL)
        return;
    if (!subjects_always(rules, rate, INT64_MAX))
        chance -= rules->above(rate, sample.sum_ticks);
    add(verdict, "V1", "the largest size",
        rules->estimate(&sample) / (double)INT64_MAX * chance, &where);
}

void
subjects_verdict_make(struct subjects_verdict *verdict,
                      const struct subjects_rules *rules, uint64_t rate)
{
    memset(verdict, 0, sizeof *verdict);
    for (int i = 1; i <= WORKLOADS; i++) {
        struct subjects_fault period = {0};

        period.count = subjects_workload(i, rate, period.sizes);
        judge_period(verdict, rules, rate, period);
    }
    judge_size(verdict, rules, rate, SMALL_BYTES);
    judge_size(verdict, rules, rate, rate);
    judge_site(verdict, rules, rate);
    judge_largest(verdict, rules, rate);
}
