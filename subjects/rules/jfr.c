/*
 * jfr.c -- jdk.ObjectAllocationSample (jfrObjectAllocationSample.cpp).
 *
 *   rule      an event is tried when a thread gets a new buffer, for the object
 *             that did not fit into the old one; and for each object outside
 *             a buffer, if a buffer's worth was allocated since the last event
 *   estimate  the thread's bytes since its last event
 *   start     the first try only sets the base
 *
 * The sum of the weights is exact from the first event to the last, but each
 * sampled object is credited with everything since the event before. The rate
 * is the buffer's size, which the JVM adapts. No events are throttled here. An
 * object that does not fit is placed outside if a change of buffers would waste
 * more than a 64th of one.
 */
#include "subjects/rules/jfr.h"

#include <string.h>

#include "subjects/rules/rule_sets.h"

enum { WASTE_PART = 64, STEPS_MAX = 1 << 24 };

static uint64_t
event(struct subjects_buffer *buffer)
{
    const uint64_t weight = buffer->based ? buffer->allocated : 0;

    buffer->allocated = 0;
    buffer->based = true;
    return weight;
}

uint64_t
subjects_buffer_step(struct subjects_buffer *buffer, uint64_t buffer_bytes,
                     uint64_t size_bytes)
{
    if (buffer->begun && size_bytes <= buffer->left) {
        buffer->left -= size_bytes;
        buffer->used += size_bytes;
        return 0;
    }
    if (size_bytes > buffer_bytes ||
        (buffer->begun && buffer->left > buffer_bytes / WASTE_PART)) {
        buffer->allocated += size_bytes;
        return buffer->allocated < buffer_bytes && buffer->based
                   ? 0
                   : event(buffer);
    }
    buffer->begun = true;
    buffer->allocated += buffer->used;
    buffer->used = size_bytes;
    buffer->left = buffer_bytes - size_bytes;
    return buffer->allocated == 0 ? 0 : event(buffer);
}

static bool
same(const struct subjects_buffer *a, const struct subjects_buffer *b)
{
    return a->based == b->based && a->left == b->left && a->used == b->used &&
           a->allocated == b->allocated;
}

/* returns: the bytes that an event of this weight is reported to stand for */
static uint64_t
reported(const struct subjects_rules *rules, uint64_t rate, uint64_t size_bytes,
         uint64_t weight)
{
    const struct subjects_sample sample = {
        .rate = rate, .size_bytes = size_bytes, .sum_ticks = weight};

    return rules->estimate == NULL || weight == 0
               ? weight
               : (uint64_t)rules->estimate(&sample);
}

/* Brent's algorithm finds the cycle: each state is compared with a saved one,
 * which is replaced after 1, 2, 4, ... periods. */
void
subjects_jfr_mean(const struct subjects_rules *rules, uint64_t rate,
                  const uint64_t *sizes, size_t count, double *mean)
{
    struct subjects_buffer buffer = {0};
    struct subjects_buffer kept = {0};
    uint64_t sums[SUBJECTS_SIZES_MAX] = {0};
    uint64_t power = 1;
    uint64_t periods = 0;

    for (size_t steps = 0; steps < STEPS_MAX; steps += count) {
        for (size_t i = 0; i < count; i++)
            sums[i] += reported(rules, rate, sizes[i],
                                subjects_buffer_step(&buffer, rate, sizes[i]));
        periods++;
        if (same(&buffer, &kept))
            break;
        if (periods == power) {
            kept = buffer;
            power *= 2;
            periods = 0;
            memset(sums, 0, sizeof sums);
        }
    }
    for (size_t i = 0; i < count; i++)
        mean[i] = (double)sums[i] / (double)(periods == 0 ? 1 : periods);
}

double
subjects_jfr_short(const struct subjects_rules *rules, uint64_t rate,
                   uint64_t size_bytes, size_t allocations)
{
    struct subjects_buffer buffer = {0};
    uint64_t sum = 0;

    for (size_t i = 0; i < allocations; i++)
        sum += reported(rules, rate, size_bytes,
                        subjects_buffer_step(&buffer, rate, size_bytes));
    return (double)sum / ((double)allocations * (double)size_bytes);
}

const struct subjects_rules subjects_jfr = {
    .name = "jfr",
    .of = "JVM, jdk.ObjectAllocationSample; R is the buffer",
    .source = "openjdk/jdk @19dd7583",
    .chain = SUBJECTS_BUFFERED,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = true},
};

static double
buffer(const struct subjects_sample *sample)
{
    return sample->size_bytes > sample->rate ? (double)sample->size_bytes
                                             : (double)sample->rate;
}

const struct subjects_rules subjects_buffer_size = {
    .name = "buffer-size",
    .of = "async-profiler on JDK 8, a sample counts the new buffer",
    .source = "async-profiler/async-profiler#874",
    .chain = SUBJECTS_BUFFERED,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = true},
    .estimate = buffer,
};
