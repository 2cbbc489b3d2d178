/*
 * subject_judge.h -- compare what a subject shows with what happened.
 *
 * An estimate is a breach here only if it is impossible, such as a negative
 * number. Whether estimates are right on average is the question of U1 and U2
 * (props/sampling/).
 */
#ifndef PROPS_JUDGE_SUBJECT_JUDGE_H
#define PROPS_JUDGE_SUBJECT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/judge/judge.h"
#include "props/judge/subject_model.h"

/* A reading in parts, which begins with `read-begin`. */
struct subject_reading {
    struct subject_model then; /* the heap at some moment of the reading */
    bool is_open;
    bool is_judged;        /* the heap that it must show is known */
    uint32_t truths_first; /* how many facts were known when it began */
};

struct subject_judge {
    struct props_judge *judge; /* its world, cover, breach */
    struct subject_model model;
    struct subject_reading reading;
    uint32_t truths_seen;
    bool at_rest;     /* no event comes between its collections */
    const char *when; /* begins a message: "", or the phase of the end */
    uint64_t hash;
};

/* returns: false if there is not enough memory */
bool subject_judge_init(struct subject_judge *judge, uint32_t objects_max);
void subject_judge_release(struct subject_judge *judge);

/* Begin to judge a world that was reset. in: judge->judge; memory */
void subject_judge_begin(struct subject_judge *judge);

/* Judge the event that the world has just applied. */
void subject_judge_event(struct subject_judge *judge);

/* Judge the end: read, free everything, read again, end. */
void subject_judge_end(struct subject_judge *judge);

#endif
