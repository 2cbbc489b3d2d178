/*
 * played_worker.h -- processes that play the workers of a search (worker.h).
 * They search a small tree, note what they have searched in shared memory, and
 * do what they are asked.
 */
#ifndef PROPS_PLAYED_WORKER_H
#define PROPS_PLAYED_WORKER_H

#include "worker.h"

/* A tree of questions with 2 to 4 answers. */
enum { PLAYED_DEPTH = 5, PLAYED_LISTS = 1 << (2 * PLAYED_DEPTH) };

enum played_says {
    PLAYED_SEARCHES,
    PLAYED_HAS_LEARNED,
    PLAYED_HAS_FAILED,
    PLAYED_ENDS
};

struct played {
    uint32_t learned; /* what is said of reduced, and whole << 1 */
    _Atomic uint32_t visits[PLAYED_LISTS]; /* of each list */
    _Atomic uint32_t begun;                /* parts */
    _Atomic uint32_t unasked;  /* had the whole tree, was asked for nothing */
    _Atomic uint32_t outlived; /* went on after the end of the search */
};

/* Shared with the processes; NULL: workers are real. */
extern struct played *played;

/* Workers that start from now on are played. in: what they do with a part */
void played_open(enum played_says what);

/* returns: the list's number, below PLAYED_LISTS */
uint32_t played_number(const struct sim_step *path);

/* Go to the first list that begins with the first `base` answers. */
void played_begin(struct sim_step *path, uint32_t base);

/* Go to the next of these. returns: false if there is none */
bool played_next(struct sim_step *path, uint32_t base);

/* Is each list either below a part that is left, taken or not, or searched, and
 * were so many searched? */
bool played_is_whole(const struct sim_frontier *f, uint64_t runs);

#endif
