/*
 * tsan.h -- prototypes of the calls that -fsanitize=thread emits.
 *
 * The names and signatures are the compilers'; only compiled code calls them.
 */
#ifndef EXPLORE_ENGINE_TSAN_H
#define EXPLORE_ENGINE_TSAN_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define TSAN_RMW(prefix, bits, type, name)                                     \
    type prefix##bits##_##name(volatile type *p, type operand, int order);
#define TSAN_ATOMICS(prefix, bits, type)                                       \
    type prefix##bits##_load(const volatile type *p, int order);               \
    TSAN_RMW(prefix, bits, type, exchange)                                     \
    TSAN_RMW(prefix, bits, type, fetch_add)                                    \
    TSAN_RMW(prefix, bits, type, fetch_sub)                                    \
    TSAN_RMW(prefix, bits, type, fetch_and)                                    \
    TSAN_RMW(prefix, bits, type, fetch_or)                                     \
    TSAN_RMW(prefix, bits, type, fetch_xor)                                    \
    TSAN_RMW(prefix, bits, type, fetch_nand)                                   \
    int prefix##bits##_compare_exchange_strong(                                \
        volatile type *p, type *expected, type desired, int order,             \
        int order_failure);                                                    \
    int prefix##bits##_compare_exchange_weak(                                  \
        volatile type *p, type *expected, type desired, int order,             \
        int order_failure);                                                    \
    type prefix##bits##_compare_exchange_val(                                  \
        volatile type *p, type expected, type desired, int order,              \
        int order_failure);
/* Calls that may be no more than a load are entered through entry.c. */
#define TSAN_ENTERED(bits, type)                                               \
    TSAN_ATOMICS(__tsan_atomic, bits, type)                                    \
    TSAN_ATOMICS(sim_tsan_atomic, bits, type)                                  \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order);

#define TSAN_PLAIN(bytes)                                                      \
    void __tsan_read##bytes(void *p);                                          \
    void __tsan_write##bytes(void *p);                                         \
    void __tsan_read_write##bytes(void *p);                                    \
    void __tsan_volatile_read##bytes(void *p);                                 \
    void __tsan_volatile_write##bytes(void *p);                                \
    void __tsan_unaligned_read##bytes(void *p);                                \
    void __tsan_unaligned_write##bytes(void *p);                               \
    void __tsan_unaligned_read_write##bytes(void *p);                          \
    void __tsan_unaligned_volatile_read##bytes(void *p);                       \
    void __tsan_unaligned_volatile_write##bytes(void *p);
/* clang-format on */

TSAN_ENTERED(8, uint8_t)
TSAN_ENTERED(16, uint16_t)
TSAN_ENTERED(32, uint32_t)
TSAN_ENTERED(64, uint64_t)

TSAN_PLAIN(1)
TSAN_PLAIN(2)
TSAN_PLAIN(4)
TSAN_PLAIN(8)
TSAN_PLAIN(16)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_read(void **p);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);
int __tsan_memcmp(const void *a, const void *b, size_t bytes);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

#undef TSAN_ENTERED
#undef TSAN_RMW
#undef TSAN_ATOMICS
#undef TSAN_PLAIN

#endif
