/*
 * subject_parts.h -- shared by the files that judge subjects, one each for
 * snapshots, readings in parts, waits and real forks.
 */
#ifndef PROPS_JUDGE_SUBJECT_PARTS_H
#define PROPS_JUDGE_SUBJECT_PARTS_H

#include "props/judge/subject_judge.h"

struct subject_site_text {
    char text[80];
};

/* returns: how a site is named in a message */
struct subject_site_text subject_site_text(const struct subject_judge *judge,
                                           uint32_t site);

/* Note a breach. */
void subject_breach(struct subject_judge *judge, enum props_property property,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Was anything allocated at the site in the first `truths` facts of the truth
 * log? */
bool subject_allocated_at(const struct subject_judge *judge, uint32_t site,
                          uint32_t truths);

/* subject_reading.c. in: the index of a fact, which the model has learned */
void subject_reading_fact(struct subject_judge *judge, uint32_t truth);

/* subject_waits.c: judge a reading of block waits, or of mutex waits. */
void subject_waits_judge(struct subject_judge *judge, bool is_mutex);

/* subject_fork.c: fork, and judge the child to its end; then this process goes
 * on as its parent. */
void subject_fork(struct subject_judge *judge, const struct truth_entry *fact,
                  void (*judge_child)(struct subject_judge *judge));

/* subject_snapshot.c: judge a snapshot; and compare two views: if they differ,
 * `property` is broken. */
void subject_judge_snapshot(struct subject_judge *judge);
void subject_judge_same(struct subject_judge *judge,
                        enum props_property property, const char *when);

#endif
