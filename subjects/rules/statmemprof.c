/*
 * statmemprof.c -- Gc.Memprof of OCaml (runtime/memprof.c).
 *
 *   draw      y of 32 bits: floor(1 + L(y) / ln(1 - lambda)), L a polynomial of
 *             ln((y + 0.5) / 2^32) in single precision, off by 7e-4 at most
 *   rule      lambda per word; every point that is reached counts, overshoot
 *             is carried over
 *   counted   words, with the one of the header
 *   estimate  1 / lambda words per point
 *
 * lambda is 8 / R here. Estimates are right for words with header, so for k
 * payload words they are (k+1)/k of the truth: 1.5 for 16 bytes. The
 * distribution below is the geometric one that the draw is meant to follow;
 * subjects/test/test_rules.c measures how far the draw's mean is
 * from it.
 */
#include <math.h>
#include <string.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { WORD_BYTES = 8 };

static const char *
rate_error(uint64_t rate)
{
    return rate < WORD_BYTES ? "takes rates of a word (8 bytes) and more"
                             : NULL;
}

static float
log_of(uint32_t y)
{
    float value = (float)y + 0.5F;
    uint32_t bits;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    exponent = (int)(bits >> 23);
    bits = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&value, &bits, sizeof value);
    return value * (2.104659476859F +
                    value * (-0.720478916626F + value * 0.107132064797F)) +
           (-111.701724334061F + 0.6931471805F * (float)exponent);
}

static uint64_t
threshold(uint64_t rate, uint64_t number)
{
    const double lambda = WORD_BYTES / (double)rate;
    const float inverse = lambda >= 1 ? 0 : (float)(1 / log1p(-lambda));

    return (uint64_t)(1 + log_of((uint32_t)number) * inverse);
}

static uint64_t
ticks(uint64_t rate, uint64_t size_bytes)
{
    (void)rate;
    return (size_bytes + WORD_BYTES - 1) / WORD_BYTES + 1;
}

static size_t
pieces(uint64_t rate, struct subjects_piece *pieces)
{
    const double lambda = WORD_BYTES / (double)rate;

    pieces[0] = (struct subjects_piece){
        .from = 1, .first = lambda, .ratio = 1 - lambda};
    return 1;
}

const struct subjects_rules subjects_statmemprof = {
    .name = "statmemprof",
    .of = "OCaml, Gc.Memprof",
    .source = "ocaml/ocaml @fd41e1ab",
    .chain = SUBJECTS_CARRIED,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_COPIES,
                .rate = SUBJECTS_RATE_FIXED,
                .weight_is_recorded = true},
    .rate_error = rate_error,
    .ticks = ticks,
    .threshold = threshold,
    .number_bits = 32,
    .pieces = pieces,
    .estimate = subjects_estimate_rate,
    .by_points = true,
};
