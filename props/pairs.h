/*
 * pairs.h -- which two conditions were met in one run.
 *
 * Conditions are the coverage goals of worlds of the library (cover.def). Many
 * mistakes need two of them: a short buffer and then the first snapshot, a rate
 * that changes and a lock that is waited for.
 */
#ifndef PROPS_PAIRS_H
#define PROPS_PAIRS_H

#include "cover.h"

enum { PROPS_PAIR_WORDS = (COVER_OF_LIBRARY + 63) / 64 };

/* Bit b of row a: a and b were met in one run. Symmetric. */
struct props_pairs {
    uint64_t met[COVER_OF_LIBRARY][PROPS_PAIR_WORDS];
};

/* A run has met what was hit more often after it than before. */
void props_pairs_note(struct props_pairs *pairs,
                      const struct props_coverage *before,
                      const struct props_coverage *after);

void props_pairs_add(struct props_pairs *to, const struct props_pairs *from);

bool props_pairs_met(const struct props_pairs *pairs, enum props_cover a,
                     enum props_cover b);

/* returns: why no run meets both; NULL if one does */
const char *props_pairs_reason(enum props_cover a, enum props_cover b);

#endif
