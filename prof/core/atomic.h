/*
 * atomic.h -- the only file of the core that names a memory order.
 *
 * A field that two threads access has the type SHARED(type), a struct, so that
 * no plain access compiles. A comment [pair: tag] marks each release and the
 * acquire that reads it.
 */
#ifndef PROF_CORE_ATOMIC_H
#define PROF_CORE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
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
/*
 * Additions to a word that one processor owns: only the thread that has the
 * processor adds, or a signal handler that interrupts it. The addition is one
 * instruction, so a handler runs before or after it. It has no lock prefix,
 * since no other thread adds; others may load. ThreadSanitizer does not see the
 * instruction, so under -fsanitize=thread the addition is an atomic change and
 * a plain read. If another thread wrongly adds too, the plain read makes that a
 * reported race.
 *
 * add_owned_half_*: add 1 to the lower (0) or the upper (1) 32 bits of a word,
 * without a carry from one half to the other. returns: true if the half wrapped
 * to 0
 *
 * load_half_*: one half, by a thread that may load the word.
 */
#if defined(__SANITIZE_THREAD__)
#define PROF_THREADS_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROF_THREADS_CHECKED 1
#endif
#endif

#if defined(__x86_64__) && !defined(PROF_THREADS_CHECKED)

/* On x86-64 every store is a release. */
#define add_owned_half_relaxed(shared, half) \
    add_owned_half_release((shared), (half))

static inline bool
add_owned_half_release(shared_u64 *shared, unsigned half)
{
    uint32_t *const at = (uint32_t *)(void *)shared + half;
    bool carry;

    __asm__ volatile("addl $1, %0" : "+m"(*at), "=@ccc"(carry) : : "memory");
    return carry;
}

typedef uint32_t __attribute__((may_alias)) half_u32;

#define load_half(shared, half, order) \
    __atomic_load_n((const half_u32 *)(const void *)(shared) + (half), order)

static inline void
add_owned(shared_u64 *shared, uint64_t events)
{
    __asm__ volatile("addq %1, %0"
                     : "+m"(shared->value)
                     : "r"(events)
                     : "cc", "memory");
}

#else

static inline void
check_owner(const shared_u64 *shared)
{
#ifdef PROF_THREADS_CHECKED
    (void)*(const volatile uint64_t *)(const volatile void *)shared;
#else
    (void)shared;
#endif
}

static inline bool
add_owned_half(shared_u64 *shared, unsigned half, memory_order order)
{
    const unsigned shift = half * 32;
    const uint64_t mask = (uint64_t)UINT32_MAX << shift;
    uint64_t seen = load_relaxed(shared);
    uint64_t sum;

    check_owner(shared);
    do {
        sum = (seen + (UINT64_C(1) << shift)) & mask;
    } while (!atomic_compare_exchange_strong_explicit(
        &shared->value, &seen, sum | (seen & ~mask), order,
        memory_order_relaxed));
    return sum == 0;
}

#define add_owned_half_relaxed(shared, half) \
    add_owned_half((shared), (half), memory_order_relaxed)
#define add_owned_half_release(shared, half) \
    add_owned_half((shared), (half), memory_order_release)

static inline uint32_t
load_half(const shared_u64 *shared, unsigned half, memory_order order)
{
    return (uint32_t)(atomic_load_explicit(&shared->value, order) >> half * 32);
}

static inline void
add_owned(shared_u64 *shared, uint64_t events)
{
    check_owner(shared);
    add_relaxed(shared, events);
}

#endif

#define load_half_relaxed(shared, half) \
    load_half((shared), (half), memory_order_relaxed)
#define load_half_acquire(shared, half) \
    load_half((shared), (half), memory_order_acquire)

/* Orders memory only for the compiler and for a signal handler on the same
 * thread. */
#define signal_fence() atomic_signal_fence(memory_order_seq_cst)

#endif
