/* judge_internal.h -- shared by the files of the judge. */
#ifndef PROPS_JUDGE_JUDGE_INTERNAL_H
#define PROPS_JUDGE_JUDGE_INTERNAL_H

#include "props/judge/judge.h"

#define CYCLES_BEFORE_WRAP (UINT64_C(3) << 25)

/* Note a breach. It is named after the first property in property.def. */
void judge_breach(struct props_judge *judge, enum props_property property,
                  const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Add a word of a result to the run's hash. */
void judge_hash(struct props_judge *judge, uint64_t word);

/* returns: the cycle number as a count that never wraps */
uint64_t judge_cycle(const struct props_judge *judge);

/* returns: may events that are pending belong to cycles on both sides of the
 * wrap? */
bool judge_near_wrap(const struct props_judge *judge);

/* Compare the answer of a reading event. */
void judge_answer(struct props_judge *judge);

/* L1: check that everything is published; otherwise report what is pending. */
void judge_pending(struct props_judge *judge);

/* Note the coverage goals that the event has reached. */
void judge_cover(struct props_judge *judge);

#endif
