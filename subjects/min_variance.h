/* min_variance.h -- chances by size that make live bytes vary least. */
#ifndef SUBJECTS_MIN_VARIANCE_H
#define SUBJECTS_MIN_VARIANCE_H

#include "rules.h"

/* returns: ticks of a countdown of mean `rate` that end it with at least this
 * chance, below 1; 1 at least */
uint64_t subjects_ticks_of_chance(uint64_t rate, double chance);

#endif
