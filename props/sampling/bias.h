/*
 * bias.h -- how far the estimates of a block profile are off on average, as a
 * table and a plot. They are computed by the closed forms with which S2
 * compares the library.
 */
#ifndef PROPS_SAMPLING_BIAS_H
#define PROPS_SAMPLING_BIAS_H

#include <stdint.h>
#include <stdio.h>

#include "prof/rules.h"
#include "model/heap/sampling.h"

enum { PROPS_BIAS_ROWS = 40 };

struct props_bias_row {
    uint64_t cycles; /* of each wait, in ticks */
    struct model_factors factors;
};

struct props_bias {
    const struct prof_rules *rules;
    uint64_t rate_ns;
    uint64_t ticks_per_second;
    int64_t rate_ticks; /* below 1: by these rules profiling is off */
    struct props_bias_row rows[PROPS_BIAS_ROWS];
    uint32_t rows_count; /* sorted by cycles */
};

/* Make the table of a rule set: waits from 1 tick to ten times the rate. */
void props_bias_make(struct props_bias *bias, const struct prof_rules *rules,
                     uint64_t rate_ns, uint64_t ticks_per_second);

void props_bias_print(FILE *file, const struct props_bias *bias);

/* Write all rule sets at several rates, as comma-separated values, and as a
 * drawing (SVG). */
void props_bias_csv(FILE *file);
void props_bias_svg(FILE *file);

#endif
