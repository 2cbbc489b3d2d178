/* kept.c -- what KEPT rule sets (Seastar) report on average, enumerated. */
#include "subjects/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/no_memory.h"

struct segment {
    uint64_t cut; /* where it begins, in bytes allocated */
    double kappa; /* added to base */
};

/* The distribution of c: P(c) = (base + kappa) e^(-(at + c - reference) / R),
 * where c = 0 is byte `at`. */
struct kept {
    const struct subjects_rules *rules;
    double rate;
    struct segment *segments;
    size_t head;
    size_t count; /* end of the segments */
    size_t room;
    double base;
    uint64_t at;
    uint64_t reference;
};

static double
q(const struct kept *kept, uint64_t bytes)
{
    return exp(-(double)bytes / kept->rate);
}

/* returns: the probability that c lies between two places of a segment; `to` 0:
 * the segment has no end */
static double
between(const struct kept *kept, double amplitude, uint64_t from, uint64_t to)
{
    const double start =
        amplitude * q(kept, from - kept->reference) / -expm1(-1 / kept->rate);

    return to == 0 ? start : start * -expm1(-(double)(to - from) / kept->rate);
}

static double
amplitude(const struct kept *kept, size_t i)
{
    return kept->base + kept->segments[i].kappa;
}

/* Move the reference to the current byte, because amplitudes grow with the
 * distance from the reference. */
static void
move_reference(struct kept *kept)
{
    const double factor = q(kept, kept->at - kept->reference);

    kept->base *= factor;
    for (size_t i = kept->head; i < kept->count; i++)
        kept->segments[i].kappa *= factor;
    kept->reference = kept->at;
}

static void
push(struct kept *kept, struct segment segment)
{
    if (kept->count == kept->room && kept->head > kept->room / 2) {
        kept->count -= kept->head;
        memmove(kept->segments, &kept->segments[kept->head],
                kept->count * sizeof *kept->segments);
        kept->head = 0;
    }
    if (kept->count == kept->room) {
        kept->room = kept->room == 0 ? 64 : kept->room * 2;
        kept->segments =
            realloc(kept->segments, kept->room * sizeof *kept->segments);
        if (kept->segments == NULL)
            subjects_no_memory();
    }
    kept->segments[kept->count++] = segment;
}

/* returns: the chance of a sample */
static double
small_block(struct kept *kept, uint64_t bytes)
{
    const uint64_t end = kept->at + bytes;
    double hit = 0;

    while (kept->at < end) {
        const bool last = kept->head + 1 == kept->count;
        const uint64_t next = last || kept->segments[kept->head + 1].cut > end
                                  ? end
                                  : kept->segments[kept->head + 1].cut;

        hit += between(kept, amplitude(kept, kept->head), kept->at, next);
        kept->at = next;
        if (!last && kept->segments[kept->head + 1].cut == next)
            kept->head++;
    }
    kept->base +=
        hit * -expm1(-1 / kept->rate) / q(kept, kept->at - kept->reference);
    if (kept->at - kept->reference > (uint64_t)(32 * kept->rate))
        move_reference(kept);
    return hit;
}

/* Move the part of the distribution from `place` up down by `bytes`. The result
 * is the sum of two step functions: the part that stays, and the part that
 * moves. */
static void
move_segments(struct kept *kept, uint64_t place, uint64_t bytes)
{
    struct kept moved = *kept;
    size_t stays = kept->head;
    size_t moves = kept->head;
    double low = amplitude(kept, stays);
    double high;

    while (moves + 1 < kept->count && kept->segments[moves + 1].cut <= place)
        moves++;
    high = amplitude(kept, moves) * q(kept, bytes);
    moved.segments = NULL;
    moved.head = moved.count = moved.room = 0;
    moved.base = 0;
    push(&moved, (struct segment){kept->at, low + high});
    for (;;) {
        const uint64_t next_stay =
            stays + 1 < kept->count && kept->segments[stays + 1].cut < place
                ? kept->segments[stays + 1].cut
                : place;
        const uint64_t next_move = moves + 1 < kept->count
                                       ? kept->segments[moves + 1].cut - bytes
                                       : UINT64_MAX;
        const bool stay = low != 0 && next_stay <= next_move;
        const uint64_t cut = stay ? next_stay : next_move;

        if (cut == UINT64_MAX)
            break;
        if (stay)
            low = next_stay == place ? 0 : amplitude(kept, ++stays);
        else
            high = amplitude(kept, ++moves) * q(kept, bytes);
        if (moved.segments[moved.count - 1].cut == cut)
            moved.segments[moved.count - 1].kappa = low + high;
        else
            push(&moved, (struct segment){cut, low + high});
    }
    free(kept->segments);
    *kept = moved;
}

/* returns: the chance of a sample */
static double
large_block(struct kept *kept, uint64_t bytes)
{
    const uint64_t place = kept->at + bytes;
    const double shrinks = q(kept, bytes);
    double tail = 0;
    size_t last = kept->count - 1;

    for (size_t i = kept->count; i-- > kept->head;) {
        const bool whole = kept->segments[i].cut >= place;

        tail += between(kept, amplitude(kept, i),
                        whole ? kept->segments[i].cut : place,
                        i + 1 < kept->count ? kept->segments[i + 1].cut : 0);
        if (!whole)
            break;
    }
    if (kept->segments[last].cut > place) {
        move_segments(kept, place, bytes);
        return 1 - tail;
    }
    if (kept->segments[last].cut < place) {
        push(kept, (struct segment){place, kept->segments[last].kappa});
        last = kept->count - 1;
    }
    {
        const double moved = amplitude(kept, last) * shrinks;

        kept->base += moved;
        kept->segments[last].kappa = moved - kept->base;
    }
    return 1 - tail;
}

static double
step(struct kept *kept, uint64_t size_bytes)
{
    const uint64_t rate = (uint64_t)kept->rate;
    const struct subjects_sample sample = {.rate = rate,
                                           .size_bytes = size_bytes};
    const double chance = size_bytes > rate ? large_block(kept, size_bytes)
                                            : small_block(kept, size_bytes);

    return chance * kept->rules->estimate(&sample);
}

static void
kept_begin(struct kept *kept, const struct subjects_rules *rules, uint64_t rate)
{
    *kept = (struct kept){.rules = rules, .rate = (double)rate};
    kept->base = -expm1(-1 / kept->rate);
    push(kept, (struct segment){0});
}

/* returns: the number of periods whose small blocks together pass a whole gap;
 * without small blocks, the number by which every block is sampled */
static size_t
periods_of_epoch(uint64_t rate, const uint64_t *sizes, size_t count)
{
    uint64_t small = 0;
    uint64_t largest = rate;

    for (size_t i = 0; i < count; i++) {
        if (sizes[i] <= rate)
            small += sizes[i];
        else if (sizes[i] > largest)
            largest = sizes[i];
    }
    return small == 0 ? 64 : 1 + (size_t)(4 * largest / small);
}

void
subjects_kept_mean(const struct subjects_rules *rules, uint64_t rate,
                   const uint64_t *sizes, size_t count, double *mean)
{
    const size_t periods = periods_of_epoch(rate, sizes, count);
    struct kept kept;
    double old[SUBJECTS_SIZES_MAX];
    double change = 1;

    kept_begin(&kept, rules, rate);
    memset(mean, 0, count * sizeof *mean);
    for (int epoch = 0; epoch < 64 && change > 1e-10; epoch++) {
        memcpy(old, mean, count * sizeof *mean);
        memset(mean, 0, count * sizeof *mean);
        for (size_t n = 0; n < periods; n++) {
            for (size_t i = 0; i < count; i++)
                mean[i] += step(&kept, sizes[i]);
        }
        change = 0;
        for (size_t i = 0; i < count; i++) {
            mean[i] /= (double)periods;
            change += fabs(mean[i] - old[i]) / (double)sizes[i];
        }
    }
    free(kept.segments);
}

/* After a block up to the rate, c is distributed as if drawn anew, so blocks
 * are independent. Larger blocks are all sampled. */
double
subjects_kept_variance(const struct subjects_rules *rules, uint64_t rate,
                       uint64_t size_bytes)
{
    (void)rules;
    return size_bytes > rate ? 0 : exp(-(double)size_bytes / (double)rate);
}

double
subjects_kept_short(const struct subjects_rules *rules, uint64_t rate,
                    uint64_t size_bytes, size_t allocations)
{
    struct kept kept;
    double sum = 0;

    kept_begin(&kept, rules, rate);
    for (size_t i = 0; i < allocations; i++)
        sum += step(&kept, size_bytes);
    free(kept.segments);
    return sum / ((double)allocations * (double)size_bytes);
}
