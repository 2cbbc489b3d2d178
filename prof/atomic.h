/*
 * atomic.h -- the only place that names a memory order.
 *
 * A field that two threads touch is SHARED(type): a struct, so that no plain
 * access compiles. Each ordered access carries [pair: tag] on both sides.
 */
#ifndef PROF_ATOMIC_H
#define PROF_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

#define SHARED(type)         \
    struct {                 \
        _Atomic(type) value; \
    }

typedef SHARED(uint64_t) shared_u64;
typedef SHARED(uint32_t) shared_u32;

#define load_relaxed(shared) \
    atomic_load_explicit(&(shared)->value, memory_order_relaxed)
#define load_acquire(shared) \
    atomic_load_explicit(&(shared)->value, memory_order_acquire)
#define store_relaxed(shared, v) \
    atomic_store_explicit(&(shared)->value, (v), memory_order_relaxed)
#define store_release(shared, v) \
    atomic_store_explicit(&(shared)->value, (v), memory_order_release)
#define add_relaxed(shared, v)                              \
    ((void)atomic_fetch_add_explicit(&(shared)->value, (v), \
                                     memory_order_relaxed))
#define add_release(shared, v)                              \
    ((void)atomic_fetch_add_explicit(&(shared)->value, (v), \
                                     memory_order_release))
#define swap_relaxed(shared, v) \
    atomic_exchange_explicit(&(shared)->value, (v), memory_order_relaxed)
#define swap_acquire(shared, v) \
    atomic_exchange_explicit(&(shared)->value, (v), memory_order_acquire)
#define cas_relaxed(shared, expected, v)                                       \
    atomic_compare_exchange_strong_explicit(&(shared)->value, (expected), (v), \
                                            memory_order_relaxed,              \
                                            memory_order_relaxed)
#define cas_acquire(shared, expected, v)                                       \
    atomic_compare_exchange_strong_explicit(&(shared)->value, (expected), (v), \
                                            memory_order_acquire,              \
                                            memory_order_relaxed)
#define cas_release_acquire(shared, expected, v)                               \
    atomic_compare_exchange_strong_explicit(&(shared)->value, (expected), (v), \
                                            memory_order_release,              \
                                            memory_order_acquire)
/* Order for the compiler and for a signal handler on the same thread only. */
#define signal_fence() atomic_signal_fence(memory_order_seq_cst)

#endif
