/*
 * told.h -- which calls of malloc and its kin the hooks report (hooks.h).
 *
 * The recorder gets all of them. The profiler (EMBED_SAMPLES) needs few, and
 * costs the others as little as possible:
 *
 *      malloc(n)   embed_until_bytes > n: take n off, call the real one
 *      free(p)     embed_filter[p / 16] == 0: no sample, call the real one
 */
#ifndef EMBED_TOLD_H
#define EMBED_TOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef EMBED_SAMPLES

/*
 * Allocations of fewer bytes than this are not reported; each subtracts its
 * size from it. 0: all are reported.
 */
extern _Thread_local uint64_t embed_until_bytes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Count an allocation down. The number is read once: an allocation by a signal
 * handler in between may be lost, but the number must not fall below 0.
 *
 * returns: false if it must be told
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
 * Blocks whose free is reported, counted by the low bits of their address; the
 * free of others is not. A megabyte of the program is 64 KiB here, in order: if
 * the one is in the cache, so is the other.
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
embed_may_be_told(const void *address)
{
    return atomic_load_explicit(embed_filter_at(address),
                                memory_order_relaxed) != 0;
}

/* The free of this address is told, now and always. */
static inline void
embed_tell_always(const void *address)
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
embed_may_be_told(const void *address)
{
    (void)address;
    return true;
}

static inline void
embed_tell_always(const void *address)
{
    (void)address;
}

#endif
#endif
