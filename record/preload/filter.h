/*
 * filter.h -- which calls of malloc and its kin the hooks report (hooks.h).
 *
 * The recorder gets all calls. The profiler (EMBED_SAMPLES) needs few of them,
 * and the others must cost as little as possible:
 *
 *      malloc(n)   embed_until_bytes > n: take n off, call the real one
 *      free(p)     embed_filter[p / 16] == 0: no sample, call the real one
 */
#ifndef RECORD_PRELOAD_FILTER_H
#define RECORD_PRELOAD_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef EMBED_SAMPLES

/*
 * An allocation of fewer bytes than this is not reported, but subtracts its
 * size from this count. 0: all are reported.
 */
extern _Thread_local uint64_t embed_until_bytes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Subtract an allocation from embed_until_bytes, which is read only once: what
 * a signal handler subtracts in between may be lost, but the result cannot fall
 * below 0.
 *
 * returns: false if the allocation must be reported
 */
static inline bool
embed_skips(size_t bytes)
{
    volatile uint64_t *const until = &embed_until_bytes;
    const uint64_t seen = *until;

    if (bytes >= seen)
        return false;
    *until = seen - bytes;
    return true;
}

/*
 * Counts, by the low bits of the address, the blocks whose free must be
 * reported. A count of 0 means: do not report. A megabyte of the program's
 * memory maps to 64 KiB of counts in the same order, so both tend to be in the
 * cache together.
 */
#define EMBED_FILTER_LOG2 16u
extern _Atomic uint8_t embed_filter[1u << EMBED_FILTER_LOG2]
    __attribute__((visibility("hidden")));

static inline _Atomic uint8_t *
embed_filter_at(const void *address)
{
    return &embed_filter[(uint16_t)((uintptr_t)address >> 4)];
}

static inline bool
embed_may_record(const void *address)
{
    return atomic_load_explicit(embed_filter_at(address),
                                memory_order_relaxed) != 0;
}

/* From now on, always report the free of this address. */
static inline void
embed_record_always(const void *address)
{
    atomic_store_explicit(embed_filter_at(address), UINT8_MAX,
                          memory_order_relaxed);
}

#else

static inline bool
embed_skips(size_t bytes)
{
    (void)bytes;
    return false;
}

static inline bool
embed_may_record(const void *address)
{
    (void)address;
    return true;
}

static inline void
embed_record_always(const void *address)
{
    (void)address;
}

#endif
#endif
