/* effects.c -- computes the figures of realloc, alignment, new threads and
 * changes of the rate. */
#include "subjects/effects.h"

#include <math.h>

#include "subjects/figures.h"

static double
aligned(const struct subjects_rules *rules, uint64_t rate, uint64_t size_bytes,
        uint64_t alignment_bytes)
{
    const uint64_t most = rules->manners.alignment_most_bytes;
    const uint64_t counted =
        subjects_counted(rules, size_bytes, alignment_bytes);
    double mean;

    if (most != 0 && alignment_bytes > most)
        return 0;
    subjects_mean(rules, rate, &counted, 1, &mean);
    return mean / (double)size_bytes;
}

static double
estimate_alone(const struct subjects_rules *rules, uint64_t rate,
               uint64_t size_bytes)
{
    const struct subjects_sample sample = {
        .rate = rate,
        .size_bytes = size_bytes,
        .sum_ticks = subjects_ticks(rules, rate, size_bytes),
        .threshold = 1,
    };

    return rules->estimate(&sample);
}

/* returns: the figure of the allocation that follows a doubling of the rate, in
 * a steady stream of one size */
static double
doubled_new(const struct subjects_rules *rules, uint64_t rate,
            uint64_t size_bytes)
{
    const double size = (double)size_bytes;
    double mean;

    switch (rules->manners.rate) {
    case SUBJECTS_RATE_NEXT:
        if (rules->manners.weight_is_recorded) {
            subjects_mean(rules, rate, &size_bytes, 1, &mean);
        } else {
            subjects_chances(rules, rate, &size_bytes, 1, &mean);
            mean *= estimate_alone(rules, 2 * rate, size_bytes);
        }
        return mean / size;
    case SUBJECTS_RATE_DRAWS:
        return subjects_short(rules, 2 * rate, size_bytes, 1);
    case SUBJECTS_RATE_SAMPLES:
        return estimate_alone(rules, 2 * rate, size_bytes) / size;
    case SUBJECTS_RATE_FIXED:
        break;
    }
    return NAN;
}

static double
doubled_old(const struct subjects_rules *rules, uint64_t rate,
            uint64_t size_bytes)
{
    if (rules->manners.rate == SUBJECTS_RATE_FIXED)
        return NAN;
    if (rules->manners.weight_is_recorded)
        return 1;
    return estimate_alone(rules, 2 * rate, size_bytes) /
           estimate_alone(rules, rate, size_bytes);
}

struct subjects_effects
subjects_effects(const struct subjects_rules *rules, uint64_t rate,
                 uint64_t size_bytes)
{
    const struct subjects_manners *manners = &rules->manners;
    const double counts = manners->realloc == SUBJECTS_REALLOC_NONE ? NAN : 1;

    return (struct subjects_effects){
        .zero_ticks =
            rules->chain == SUBJECTS_BUFFERED
                ? 0
                : subjects_ticks(rules, rate, subjects_counted(rules, 0, 0)),
        .aligned_64 = aligned(rules, rate, size_bytes, 64),
        .aligned_4096 = aligned(rules, rate, size_bytes, 4096),
        .realloc_moved =
            manners->realloc == SUBJECTS_REALLOC_NOTHING ? 0 : counts,
        .realloc_place = manners->realloc == SUBJECTS_REALLOC_NOTHING ||
                                 manners->realloc == SUBJECTS_REALLOC_PLACE
                             ? 0
                             : counts,
        .ten = subjects_short(rules, rate, size_bytes, 10),
        .first = subjects_short(rules, rate, size_bytes, 1),
        .doubled_new = doubled_new(rules, rate, size_bytes),
        .doubled_old = doubled_old(rules, rate, size_bytes),
        .fork = manners->fork == SUBJECTS_FORK_COPIES  ? 1
                : manners->fork == SUBJECTS_FORK_STOPS ? 0
                                                       : NAN,
        .full = manners->table_entries == 0 ? NAN : 0,
    };
}
