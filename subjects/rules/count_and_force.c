/*
 * count_and_force.c -- FoundationDB's MemoryTracker (flow/MemoryTracker.cpp):
 * samples every I-th allocation, and all large ones.
 *
 *   draw      1 + (a number modulo 2 I - 1), mean I
 *   rule      counts allocations, whatever their size; those of 100,000 bytes
 *             and more are always sampled, and count like the others
 *   start     the countdown begins at 1: the first allocation of every thread
 *             is sampled
 *   estimate  I objects, or 1 for a large one
 *
 * The rate is a number of allocations here, I = 100, independent of R.
 */
#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { INVERSE = 100, FORCED_BYTES = 100000 };

static uint64_t
ticks(uint64_t rate, uint64_t size_bytes)
{
    (void)rate;
    (void)size_bytes;
    return 1;
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    (void)rate;
    return 1 + ((number * (2 * INVERSE - 1)) >> 32);
}

static size_t
pieces(uint64_t rate, struct subjects_piece *pieces)
{
    (void)rate;
    pieces[0] = (struct subjects_piece){.from = 1,
                                        .length = 2 * INVERSE - 1,
                                        .first = 1.0 / (2 * INVERSE - 1),
                                        .ratio = 1};
    return 1;
}

static bool
always(uint64_t rate, uint64_t size_bytes)
{
    (void)rate;
    return size_bytes >= FORCED_BYTES;
}

static double
estimate(const struct subjects_sample *sample)
{
    const double size = (double)sample->size_bytes;

    return sample->size_bytes >= FORCED_BYTES ? size : size * INVERSE;
}

const struct subjects_rules subjects_count_and_force = {
    .name = "count-and-force",
    .of = "FoundationDB, every 100th and all from 100,000 bytes",
    .source = "apple/foundationdb @c0c44752",
    .chain = SUBJECTS_CARRIED,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .start = SUBJECTS_START_FIRST,
                .weight_is_recorded = true},
    .ticks = ticks,
    .threshold = threshold,
    .number_bits = 32,
    .number_grows = true,
    .pieces = pieces,
    .always = always,
    .always_ticks = true,
    .estimate = estimate,
};
