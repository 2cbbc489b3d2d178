/*
 * location.h -- what a run knows of memory: which thread stored what at each
 * location, and which threads have seen it.
 */
#ifndef EXPLORE_ENGINE_LOCATION_H
#define EXPLORE_ENGINE_LOCATION_H

#include "explore/search/reduce.h"

struct engine;

#define STAMP_NEVER ((uint32_t)INT32_MAX) /* later than any event */

/* ---- Atomic locations ---- */

struct store {
    uint64_t value;
    uint32_t thread; /* with stamp 0: the value before the run */
    uint32_t stamp;
    struct clock sync;   /* what an acquire load of it learns */
    struct clock seen;   /* stamp of each thread's first load of it */
    struct clock causal; /* what it depends on; reduced search only */
    uint32_t trace;      /* index of its trace event, for reports */
    bool is_rmw;         /* reads the store in front of it */
};

struct location {
    uintptr_t address;
    uint32_t bytes;
    uint8_t mask;  /* bytes of its word */
    bool reloaded; /* a plain write came: memory holds the only store */
    struct word *word;
    uint32_t next; /* other location in this word, or 0 */
    uint32_t stores_count;
    uint32_t stores_room;
    struct store *stores; /* in modification order, oldest first */
    struct clock read;    /* latest atomic load by each thread */
    struct clock written; /* latest atomic store by each thread */
    struct clock least;   /* oldest store index still to be read */
    struct chain chain;
    uintptr_t read_site[SIM_THREADS_MAX];
    uintptr_t write_site[SIM_THREADS_MAX];
};

/* An access that reads. */
struct reading {
    struct location *location;
    bool writes;              /* if it does not fail */
    const uint64_t *expected; /* of a compare-exchange, or NULL */
    int order;
    int order_failure;
    const struct clock *reported; /* for a read by the system (lock.c): what it
                                     knows; or NULL */
};

struct location *sim_location_of(struct engine *e, uintptr_t address,
                                 uint32_t bytes, uintptr_t site);
void sim_location_write(uintptr_t address, uint32_t bytes, uint64_t value);

/* ---- Plain accesses ---- */

/* Bytes of one word that have always been accessed together. */
struct cell {
    uint8_t mask;
    bool written;
    bool made;     /* it was written when its block was made */
    uint32_t next; /* other cell of this word, or 0 */
    uint32_t write_thread;
    uint32_t write_stamp;
    uintptr_t write_site;
    struct clock read;
    uintptr_t read_site[SIM_THREADS_MAX];
};

/* Who made a block of the heap, and when. */
struct sim_making {
    uint32_t thread;
    uint32_t stamp;
    uintptr_t site;
};

/* The latest race that ended a run, for its report. */
struct sim_race {
    uintptr_t address;
    uint32_t other;     /* the thread that came first */
    const char *access; /* of the thread that failed: "plain read" */
    const char *other_access;
};

struct word {
    uintptr_t address;  /* multiple of 8 */
    uint64_t run;       /* of another run: empty */
    uint32_t locations; /* first, index + 1, or 0 */
    uint32_t cells;     /* first, index + 1, or 0 */
    uint8_t atomic_mask;
};

#endif
