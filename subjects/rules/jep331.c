/*
 * jep331.c -- SampledObjectAlloc of the JVM, JEP 331 (threadHeapSampler.cpp).
 *
 *   draw      q, a number of 26 bits; log2 q is its exponent plus, by its ten
 *             bits y below the highest, log2(1 + (y + 0.5) / 1024) from a
 *             table, not interpolated.
 *             gap = floor(min(0, log2 q - 26) (-ln 2 R) + 1)
 *   rule      the allocation that brings the bytes since the last sample to
 *             the gap is sampled
 *   estimate  none: here the agent's S / (1 - e^(-x))
 *
 * So there are only 17,408 different gaps, and near R = 2^19 they are 348 bytes
 * apart. Whether an object of 16 bytes that follows 512 KiB can be sampled at
 * all depends on where these gaps lie.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { TABLE_BITS = 10, TABLE_SIZE = 1 << TABLE_BITS };

static double
table(uint64_t y)
{
    static double logs[TABLE_SIZE];

    if (logs[0] == 0) {
        for (int i = 0; i < TABLE_SIZE; i++)
            logs[i] = log2(1 + (i + 0.5) / TABLE_SIZE);
    }
    return logs[y];
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    uint64_t q = number + 1;
    const int exponent = 63 - __builtin_clzll(q);
    const uint64_t y = (q << (52 - exponent)) >> (52 - TABLE_BITS);
    const double log = exponent + table(y % TABLE_SIZE) - 26;

    return (uint64_t)((log < 0 ? log : 0) *
                          (-0.69314718055994530942 * (double)rate) +
                      1);
}

static double
above(uint64_t rate, uint64_t n)
{
    return subjects_law_count(&subjects_jep331, rate, n);
}

const struct subjects_rules subjects_jep331 = {
    .name = "jep331",
    .of = "JVM, JEP 331 with an agent that scales",
    .source = "openjdk/jdk @06082dbf",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false},
    .threshold = threshold,
    .number_bits = 26,
    .above = above,
    .estimate = subjects_estimate_scaled,
};
