/*
 * prof/malloc.h -- the profiler that watches malloc, locks and CPU time without
 * help from the program: libprof-malloc.so, linked by -lprof-malloc.
 *
 * It begins before main and has a thread that serves `profsim top` and
 * `profsim dump`. Environment variables configure it as `profsim profile` does
 * (docs/profiling.md); without them it samples the heap at
 * PROF_HEAP_RATE_DEFAULT and every contended mutex, and writes files only when
 * told to.
 *
 * Profiles have addresses and no function names; readers look the names up. Any
 * thread may make these calls, but no signal handler. They keep errno.
 */
#ifndef PROF_MALLOC_H
#define PROF_MALLOC_H

#include <stdint.h>

#include "prof/sink.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum prof_malloc_kind {
    PROF_MALLOC_HEAP,   /* memory in use, and all that was allocated */
    PROF_MALLOC_ALLOCS, /* the same numbers; viewers open it at allocated */
    PROF_MALLOC_MUTEX,  /* by the stacks that kept others waiting */
    PROF_MALLOC_BLOCK,  /* by the stacks that waited */
    PROF_MALLOC_CPU     /* CPU time since this kind was last written */
};

/*
 * Set the mean number of bytes from one sampled allocation to the next. It
 * takes effect at once for the calling thread. For others it does so after
 * their next sample, which still has the old rate, or after 64 KiB if nothing
 * was sampled.
 *
 * in:      rate_bytes, 1 samples all, 0 and less none. Earlier samples keep the
 *          rate they were taken at (prof_heap_rate_set())
 */
void prof_malloc_rate_set(int64_t rate_bytes);
int64_t prof_malloc_rate(void);

/*
 * Write a profile as profile.proto, not compressed.
 *
 * in:      sink, may allocate; what it allocates is not sampled
 * returns: PROF_OK, the sink's status, PROF_ERR_OFF (this kind is not being
 *          taken, or the profiler could not begin), PROF_ERR_MEMORY,
 *          PROF_ERR_BUSY (record calls did not end in time), PROF_ERR_CONFIG
 */
PROF_NODISCARD enum prof_status prof_malloc_write(enum prof_malloc_kind kind,
                                                  const struct prof_sink *sink);

/*
 * Write all kinds that are being taken as FOLDER/PID.heap.pb and the like. A
 * file appears whole or not at all.
 *
 * returns: as prof_malloc_write(), of the first that failed; PROF_ERR_CONFIG
 *          (the path is too long)
 */
PROF_NODISCARD enum prof_status prof_malloc_dump(const char *folder);

/* What is sampled, and what was not recorded. */
struct prof_malloc_status {
    int64_t rate_bytes;
    uint64_t live_samples;      /* sampled blocks not freed yet */
    uint64_t dropped_samples;   /* no room for their stacks */
    uint64_t untracked_samples; /* counted as allocated, not as in use: too many
                                   were live */
    uint64_t early_allocs;      /* before the profiler was up */
    uint64_t unseen_frees;      /* noticed when the address was allocated
                                   again */
    uint64_t uncharged_waits;   /* no room for their lock */
};

/* returns: PROF_OK, PROF_ERR_OFF (the profiler could not begin) */
PROF_NODISCARD enum prof_status
prof_malloc_status(struct prof_malloc_status *status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
