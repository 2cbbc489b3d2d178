/*
 * subject_judge.h -- compare what a subject shows with what happened.
 *
 * Estimates are not judged here but for what no estimate may say: that is the
 * business of U1 and U2.
 */
#ifndef PROPS_SUBJECT_JUDGE_H
#define PROPS_SUBJECT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "judge.h"
#include "subject_model.h"

struct subject_judge {
    struct props_judge *judge; /* its world, cover, breach */
    struct subject_model model;
    uint32_t truths_seen;
    bool at_rest;     /* nothing is between its collections */
    const char *when; /* in front of what is wrong: "", or of the end */
    uint64_t hash;
};

/* Begin to judge a world that was reset. in: judge->judge; a model with memory
 */
void subject_judge_begin(struct subject_judge *judge);

/* Judge the event that the world has just applied. */
void subject_judge_event(struct subject_judge *judge);

/* Judge the end: read, free everything, read again, end. */
void subject_judge_end(struct subject_judge *judge);

#endif
