/*
 * pairs.h -- which pairs of coverage goals a single run has reached.
 *
 * Only the goals of worlds of the library count (cover.def). Many mistakes show
 * only if one run reaches two goals: a short buffer and then the first
 * snapshot, or a change of rate and a wait for a lock.
 */
#ifndef PROPS_PAIRS_H
#define PROPS_PAIRS_H

#include <stddef.h>

#include "props/cover.h"

enum { PROPS_PAIR_WORDS = (COVER_OF_LIBRARY + 63) / 64 };

/* Bit b of row a is set if one run reached goals a and b; so is bit a of row
 * b. */
struct props_pairs {
    uint64_t met[COVER_OF_LIBRARY][PROPS_PAIR_WORDS];
};

/* A row of pairs.def: a goal, and a range of goals of cover.def. */
struct props_pairs_unmet {
    enum props_cover goal;
    enum props_cover first;
    enum props_cover last;
    bool possible;      /* NOT_YET: no run reached it so far, but one might */
    const char *reason; /* why no run reached it */
};

extern const struct props_pairs_unmet props_pairs_unmet[];
extern const size_t props_pairs_unmet_count;

/* Note the pairs of a run: of the goals whose counts have risen. */
void props_pairs_note(struct props_pairs *pairs,
                      const struct props_coverage *before,
                      const struct props_coverage *after);

void props_pairs_add(struct props_pairs *to, const struct props_pairs *from);

bool props_pairs_met(const struct props_pairs *pairs, enum props_cover a,
                     enum props_cover b);

/* returns: the row of pairs.def for a and b; NULL if it has none */
const struct props_pairs_unmet *props_pairs_find(enum props_cover a,
                                                 enum props_cover b);

/* Of all pairs, how many a run reaches, how many no run can reach, and how many
 * no run has reached so far. */
struct props_pairs_sums {
    uint32_t met;
    uint32_t impossible;
    uint32_t possible;
};

/* returns: these three counts, according to pairs.def */
struct props_pairs_sums props_pairs_known(void);

#endif
