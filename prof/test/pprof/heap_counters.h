/*
 * heap_counters.h -- an initialiser for the counters that an embedder adds to a
 * heap profile as text; each has a different value.
 */
#ifndef PROF_TEST_PPROF_HEAP_COUNTERS_H
#define PROF_TEST_PPROF_HEAP_COUNTERS_H

#define HEAP_COUNTERS                                                         \
    .alloc_bytes = 1, .total_alloc_bytes = 2, .sys_bytes = 3, .lookups = 4,   \
    .mallocs = 5, .frees = 6, .heap_alloc_bytes = 7, .heap_sys_bytes = 8,     \
    .heap_idle_bytes = 9, .heap_inuse_bytes = 10, .heap_released_bytes = 11,  \
    .heap_objects = 12, .stack_inuse_bytes = 13, .stack_sys_bytes = 14,       \
    .mspan_inuse_bytes = 15, .mspan_sys_bytes = 16, .mcache_inuse_bytes = 17, \
    .mcache_sys_bytes = 18, .buck_hash_sys_bytes = 19, .gc_sys_bytes = 20,    \
    .other_sys_bytes = 21, .next_gc_bytes = 22, .last_gc_ns = 23

#endif
