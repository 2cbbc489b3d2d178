/* kernel_instance.h -- an instance of the core, new in each run, and checks on
 * it. */
#ifndef PROPS_KERNELS_KERNEL_INSTANCE_H
#define PROPS_KERNELS_KERNEL_INSTANCE_H

#include <stdint.h>

#include "explore/engine/explore.h"
#include "prof/prof.h"

enum { KERNEL_STACKS = 4, KERNEL_RECORDS = 8 };

/* The stacks have two frames each; 0 and 1 have the same full hash under
 * PROF_HASH_GO_64. */
extern const uintptr_t kernel_stacks[KERNEL_STACKS][2];

extern struct prof *kernel_prof;

/* Make the instance. Fields that the configuration leaves out get small
 * defaults. */
void kernel_new_instance(struct prof_config config);

/* Record an allocation of 16 bytes on a processor. */
prof_bucket kernel_alloc(uint32_t proc, uint32_t stack);

/* Record a wait on a processor. */
void kernel_block(uint32_t proc, uint32_t stack);

/* Check how many events were recorded, published and pending together. */
void kernel_check_totals(uint64_t allocs, uint64_t frees);

/* Check that `count` waits of kernel_block() were recorded, all on one
 * stack. */
void kernel_check_blocks(uint64_t count);

/* Check the instance's invariants, and that it lists `buckets` different
 * buckets. */
void kernel_check_listing(uint32_t buckets);

/*
 * Bodies of threads. Take a snapshot, in which no bucket may show more frees
 * than allocations. kernel_look() accepts that the library is busy.
 */
void kernel_look(void *context, uint32_t thread);
void kernel_snapshot(void *context, uint32_t thread);

/* Flush until the library no longer says that a record call is late. */
void kernel_flush(void);

/* Advance the cycle and flush, while no other call is in flight. */
void kernel_advance_alone(void);

/* After all threads have ended: make two cycles, which publish everything, and
 * check the counts. */
void kernel_drain_and_check(uint64_t allocs, uint64_t frees);

#endif
