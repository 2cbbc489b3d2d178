/*
 * exercise.h -- what the checks of a producer share. Each check runs in its own
 * process: it calls malloc and the like, examines the events that these calls
 * fire, and ends the process with a verdict.
 */
#ifndef SUBJECTS_CONFORM_EXERCISE_H
#define SUBJECTS_CONFORM_EXERCISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subjects/conform/watch.h"

/* ---- The verdict ---- */

/* End the process with a verdict: the contract's sentence holds; is broken;
 * could not be tried here; does not apply to this producer. */
_Noreturn void holds(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void broken(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void not_tried(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void not_applicable(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Judge a count of independent events, each of chance p. The contract counts as
 * broken if a correct producer would show a count that extreme with a chance
 * below PROPS_ALPHA.
 *
 * returns: approximately the smallest relative error of p that would be noticed
 *          with probability 0.999
 */
double judge_count(const char *what, uint64_t trials, double p, uint64_t count);

/* ---- The events ---- */

/* The events that this thread has fired since seen_begin(). */
struct seen {
    uint32_t allocs;
    uint32_t frees;
    struct watch_event alloc; /* the last */
    struct watch_event freed;
};

void seen_begin(void);
struct seen seen_end(void);
void seen_resume(struct seen seen); /* as it was before something nested */

/* The handler calls this for each event, after counting it; NULL: no call. */
extern void (*on_event)(const struct watch_event *event);

/* ---- Operations ---- */

/* A way to allocate. allocate() returns NULL if it fails. */
struct way {
    const char *name;
    void *(*allocate)(size_t bytes);
};

extern const struct way ways[]; /* ends with a NULL name; the first is malloc */

/* Call malloc or free. out: *seen, the events that the call fired */
void *seen_malloc(size_t bytes, struct seen *seen);
void seen_free(void *block, struct seen *seen);

/* Allocate and free blocks of this size until one is sampled. out: *seen, the
 * events that its allocation and its free fired */
void seen_sample(size_t bytes, struct seen *seen);

/* returns: a block that is sampled, or one that is not; blocks of the other
 * kind are freed. context: a consumer is attached */
void *sampled_block(size_t bytes);
void *unsampled_block(size_t bytes);

/* ---- Its rules ---- */

/* How the producer weighs. The first call of weighing() finds out, by
 * allocating. */
struct weighing {
    bool is_by_crossings;    /* a weight is a number of intervals (PR 1672) */
    uint64_t interval_bytes; /* same */
};

const struct weighing *weighing(void);

/* returns: the chance that a block of this size is sampled, computed from the
 * weights of such blocks */
double chance_of(size_t bytes);

/* returns: how many allocations give `samples` samples on average, at most 20
 * million */
uint64_t trials_for(double samples, double chance);

/* returns: a size that is sampled with a chance of about a half */
size_t half_size(void);

#define X(id, name, sentence) void check_##name(void);
#include "subjects/conform/sentences.def"
#undef X

#endif
