/*
 * live_heap.h -- the heap of a recorded program: an object is in use from its
 * allocation to its free.
 *
 * A resize counts as one free and one allocation at the same moment, by the
 * stack and the thread of the resize.
 *
 * Nothing is estimated and no collector is involved. The *peak* is the first
 * moment at which the most bytes were in use. Bytes are those that the program
 * requested. Sums wrap at 2^64, which only a forged file can reach.
 */
#ifndef RECORD_REPORT_LIVE_HEAP_H
#define RECORD_REPORT_LIVE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/recording.h"

struct sim_heap_count {
    uint64_t objects;
    uint64_t bytes;
};

/* Totals over the objects of a site, a thread or a size class, or over all. */
struct sim_heap_sums {
    struct sim_heap_count allocs;      /* of the whole run */
    struct sim_heap_count exit;        /* in use at the end */
    struct sim_heap_count peak_allocs; /* up to the peak */
    struct sim_heap_count peak;        /* in use at the peak */
};

/* Objects of one size from one stack. Counts are objects. */
struct sim_heap_bucket {
    uint64_t size_bytes;
    uint64_t allocs;
    uint64_t frees;
    uint64_t peak_allocs; /* up to the peak */
    uint64_t peak_frees;
    uint32_t stack;
    uint32_t saved; /* number of the candidate that peak_* is for; internal */
};

/* A thread: the objects that it allocated, whichever thread freed them. */
struct sim_heap_thread {
    struct sim_heap_count allocs;
    struct sim_heap_count exit;  /* in use at the end */
    struct sim_heap_count peak;  /* in use at the peak */
    struct sim_heap_count freed; /* by it, allocated by any thread */
    uint32_t saved;              /* as in a bucket; internal */
};

/* A part of the run; all parts are equally long. */
struct sim_heap_span {
    struct sim_heap_count allocs;
    uint64_t most_bytes; /* in use at one moment */
    uint64_t last_bytes; /* in use at its end */
};

enum {
    SIM_HEAP_SPANS = 32,
    SIM_HEAP_CLASSES = 65 /* class 0: size 0; class n: 2^(n-1) .. 2^n - 1 */
};

/* Plain data after _open(); sites are by stack, threads by thread. */
struct sim_live_heap {
    struct sim_heap_sums total;
    uint64_t peak_ticks; /* since the recording began */
    uint64_t duration_ticks;
    bool has_usable;                 /* of all objects */
    uint64_t peak_usable_bytes;      /* at the peak, in use or not */
    struct sim_heap_bucket *buckets; /* in order of first allocation */
    uint32_t buckets_count;
    struct sim_heap_sums *sites;     /* by stack of the recording */
    struct sim_heap_thread *threads; /* by thread of the recording */
    struct sim_heap_sums classes[SIM_HEAP_CLASSES];
    struct sim_heap_span spans[SIM_HEAP_SPANS];
};

/*
 * Walk a recording once.
 *
 * out:     *heap, to be closed in either case
 * in:      progress, called now and then with done and total events; or NULL
 * returns: false if there is not enough memory
 */
bool sim_live_heap_open(struct sim_live_heap *heap,
                        const struct sim_recording *recording,
                        void (*progress)(uint64_t done, uint64_t total));
void sim_live_heap_close(struct sim_live_heap *heap);

#endif
