/* subject_view.h -- sums over a subject's snapshot, and its hash. */
#ifndef PROPS_JUDGE_SUBJECT_VIEW_H
#define PROPS_JUDGE_SUBJECT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/instruments/instrument_subject.h"

/* Add a count to *to. */
void subject_view_add(struct subject_count *to,
                      const struct subject_count *count);

/* Are two records of the same site? */
bool subject_view_same_site(const struct sim_subject_record *a,
                            const struct sim_subject_record *b);

/*
 * Add up the records of a site; it may have several, for example one from each
 * processor. With by_object, records of different objects are not added up.
 *
 * in:      index, of a record of the site
 * out:     *sum
 * returns: false if an earlier record is of the same site
 */
bool subject_view_sum(const struct sim_subject_view *view, size_t index,
                      bool by_object, struct sim_subject_record *sum);

/* Are two numbers the same? Two NaNs are; A3 reports them. */
bool subject_is_same(double a, double b);

/* returns: `hash`, continued with all that the view shows */
uint64_t subject_view_hash(uint64_t hash, const struct sim_subject_view *view);
uint64_t subject_waits_hash(uint64_t hash,
                            const struct sim_subject_waits *waits);

#endif
