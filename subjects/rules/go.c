/*
 * go.c -- the heap sampler of several releases of Go (runtime/malloc.go).
 *
 *   go1.5     gap uniform below 2R, less the overshoot, at least 0; sizes from
 *             R up are always sampled and leave the gap unchanged
 *   go1.10    gap = 1 + floor(-ln 2 R log2(q / 2^26)), q of 26 bits, log2 by
 *             linear interpolation between 33 values; sizes from R up are
 *             always sampled, yet scaled like the others (golang/go#26618)
 *   go1.17    the same, but large sizes are sampled at random, too: a size of
 *             at least the gap
 *   go1.23    the same; what is counted is the whole slot, with the header that
 *             objects of more than 512 bytes with pointers have since 1.22
 *   go1.24    the countdown is signed, and an allocation is sampled if it
 *             brings the countdown *below* 0, so if it is larger than the gap:
 *             P(sampled) right after a sample is 1 - e^(-(S-1)/R). A change of
 *             the rate is noticed by the next allocation, which is always
 *             sampled, yet scaled like the others.
 *
 * All count the bytes of the size class. R is at most 117440512 (0x7000000).
 * The reader scales everything by 1 / (1 - e^(-x)), with the rate at the time
 * of reading.
 */
#include <math.h>

#include "subjects/law.h"
#include "subjects/rules/rule_sets.h"

enum { MEAN_MOST = 0x7000000, MEAN_MOST_1_5 = 0x3fffffff };

/* log2(1 + i / 32), i up to 32 */
static const double *
corners(void)
{
    static double logs[33];

    if (logs[32] == 0) {
        for (int i = 0; i < 33; i++)
            logs[i] = log2(1 + i / 32.0);
    }
    return logs;
}

/* Interpolate linearly: a line of 2^20 steps between two table values. */
static double
log2_by_lines(uint64_t q)
{
    const int whole = 63 - __builtin_clzll(q);
    const uint64_t fraction = (q << (52 - whole)) & ((UINT64_C(1) << 52) - 1);
    const uint64_t corner = fraction >> 47;
    const double step = (double)((fraction >> 27) & 0xfffff) / 1048576;
    const double low = corners()[corner];
    const double high = corners()[corner + 1];

    return whole + low + (high - low) * step;
}

static uint64_t
gap_of(uint64_t rate, uint64_t number)
{
    const uint64_t mean = rate > MEAN_MOST ? MEAN_MOST : rate;
    const double log = log2_by_lines(number + 1) - 26;

    return 1 + (uint64_t)((log > 0 ? 0 : log) *
                          (-0.6931471805599453 * (double)mean));
}

static double
above_1_10(uint64_t rate, uint64_t n)
{
    return subjects_law_count(&subjects_go1_10, rate, n);
}

static uint64_t
gap_1_24(uint64_t rate, uint64_t number)
{
    return gap_of(rate, number) + 1;
}

static double
above_1_24(uint64_t rate, uint64_t n)
{
    return subjects_law_count(&subjects_go1_24, rate, n);
}

static uint64_t
gap_1_5(uint64_t rate, uint64_t number)
{
    const uint64_t mean = rate > MEAN_MOST_1_5 ? MEAN_MOST_1_5 : rate;

    return (
        uint64_t)(((__extension__(unsigned __int128) number) * (2 * mean)) >>
                  53);
}

static size_t
pieces_1_5(uint64_t rate, struct subjects_piece *pieces)
{
    const uint64_t mean = rate > MEAN_MOST_1_5 ? MEAN_MOST_1_5 : rate;

    pieces[0] = (struct subjects_piece){
        .length = 2 * mean, .first = 0.5 / (double)mean, .ratio = 1};
    return 1;
}

static bool
always_large(uint64_t rate, uint64_t size_bytes)
{
    return size_bytes >= rate;
}

const struct subjects_rules subjects_go1_5 = {
    .name = "go1.5",
    .of = "Go 1.5 to 1.9",
    .source = "golang/go, src/runtime/malloc.go of 1.5",
    .chain = SUBJECTS_CARRIED,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false},
    .threshold = gap_1_5,
    .number_bits = 53,
    .number_grows = true,
    .pieces = pieces_1_5,
    .always = always_large,
    .estimate = subjects_estimate_scaled,
    .draws_once = true,
};

const struct subjects_rules subjects_go1_10 = {
    .name = "go1.10",
    .of = "Go 1.10 to 1.11",
    .source = "golang/go, src/runtime/malloc.go of 1.10",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false},
    .threshold = gap_of,
    .number_bits = 26,
    .above = above_1_10,
    .always = always_large,
    .estimate = subjects_estimate_scaled,
};

const struct subjects_rules subjects_go1_17 = {
    .name = "go1.17",
    .of = "Go 1.12 to 1.21",
    .source = "golang/go, src/runtime/malloc.go of 1.19",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false},
    .threshold = gap_of,
    .number_bits = 26,
    .above = above_1_10,
    .estimate = subjects_estimate_scaled,
};

const struct subjects_rules subjects_go1_23 = {
    .name = "go1.23",
    .of = "Go 1.22 and 1.23",
    .source = "golang/go, src/runtime/malloc.go of 1.23.5",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_NEXT,
                .weight_is_recorded = false},
    .threshold = gap_of,
    .number_bits = 26,
    .above = above_1_10,
    .estimate = subjects_estimate_scaled,
};

const struct subjects_rules subjects_go1_24 = {
    .name = "go1.24",
    .of = "Go 1.24 and later",
    .source = "golang/go, src/runtime/malloc.go after 1.23",
    .chain = SUBJECTS_RENEWAL,
    .manners = {.realloc = SUBJECTS_REALLOC_NONE,
                .fork = SUBJECTS_FORK_NONE,
                .rate = SUBJECTS_RATE_SAMPLES,
                .weight_is_recorded = false},
    .threshold = gap_1_24,
    .number_bits = 26,
    .above = above_1_24,
    .estimate = subjects_estimate_scaled,
};
