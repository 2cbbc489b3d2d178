/*
 * pairs.h -- which two conditions were met in one run.
 *
 * Conditions are the coverage goals of worlds of the library (cover.def). Many
 * mistakes need two of them: a short buffer and then the first snapshot, a rate
 * that changes and a lock that is waited for.
 */
#ifndef PROPS_PAIRS_H
#define PROPS_PAIRS_H

#include <stddef.h>

#include "cover.h"

enum { PROPS_PAIR_WORDS = (COVER_OF_LIBRARY + 63) / 64 };

/* Bit b of row a: a and b were met in one run. Symmetric. */
struct props_pairs {
    uint64_t met[COVER_OF_LIBRARY][PROPS_PAIR_WORDS];
};

/* Pairs of pairs.def: a goal, and some that follow each other in cover.def. */
struct props_pairs_unmet {
    enum props_cover goal;
    enum props_cover first;
    enum props_cover last;
    bool possible; /* none of the campaign's runs met it, another one may */
    const char *reason; /* why not */
};

extern const struct props_pairs_unmet props_pairs_unmet[];
extern const size_t props_pairs_unmet_count;

/* A goal is met in a run if its count is higher after it than before. */
void props_pairs_note(struct props_pairs *pairs,
                      const struct props_coverage *before,
                      const struct props_coverage *after);

void props_pairs_add(struct props_pairs *to, const struct props_pairs *from);

bool props_pairs_met(const struct props_pairs *pairs, enum props_cover a,
                     enum props_cover b);

/* returns: the line of pairs.def for a and b; NULL if a run meets both */
const struct props_pairs_unmet *props_pairs_find(enum props_cover a,
                                                 enum props_cover b);

/* How many of all pairs a run meets, how many none can meet, and how many
 * have not been met so far. */
struct props_pairs_sums {
    uint32_t met;
    uint32_t impossible;
    uint32_t possible;
};

/* returns: as pairs.def has it */
struct props_pairs_sums props_pairs_known(void);

#endif
