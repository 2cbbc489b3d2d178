/* instance.h -- an instance of the core that is new in each run. */
#ifndef PROPS_KERNELS_INSTANCE_H
#define PROPS_KERNELS_INSTANCE_H

#include <stdint.h>

#include "explore.h"
#include "prof/prof.h"

enum { KERNEL_STACKS = 4, KERNEL_RECORDS = 8 };

/* Two frames each; 0 and 1 have the same full hash under PROF_HASH_GO_64. */
extern const uintptr_t kernel_stacks[KERNEL_STACKS][2];

extern struct prof *kernel_prof;

/* Fields that the kernel's configuration leaves out get small defaults. */
void kernel_new_instance(struct prof_config config);

/* Record an allocation of 16 bytes on a processor. */
prof_bucket kernel_alloc(uint32_t proc, uint32_t stack);

/* Record a wait on a processor. */
void kernel_block(uint32_t proc, uint32_t stack);

/* Objects recorded, whether published or pending. */
void kernel_check_totals(uint64_t allocs, uint64_t frees);

/* So many waits of kernel_block(), all of one stack. */
void kernel_check_blocks(uint64_t count);

/* The instance holds its invariants, and lists so many buckets once each. */
void kernel_check_listing(uint32_t buckets);

/*
 * Take a snapshot, as threads do: no bucket in it may show more frees than
 * allocations. kernel_look() allows the library to be busy.
 */
void kernel_look(void *context, uint32_t thread);
void kernel_snapshot(void *context, uint32_t thread);

/* Flush again and again, while the library says that somebody is late. */
void kernel_flush(void);

/* Turn and flush; nobody is busy. */
void kernel_advance_alone(void);

/* After all threads have ended: two cycles, which publish whatever was
 * recorded. */
void kernel_drain_and_check(uint64_t allocs, uint64_t frees);

#endif
