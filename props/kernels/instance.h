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

/* What the kernel's configuration leaves out is a small default. */
void kernel_new_instance(struct prof_config config);

/* Record an allocation of 16 bytes on a processor. */
prof_bucket kernel_alloc(uint32_t proc, uint32_t stack);

/* Objects recorded, whether published or pending. */
void kernel_check_totals(uint64_t allocs, uint64_t frees);

/* The instance holds its invariants, and lists so many buckets once each. */
void kernel_check_listing(uint32_t buckets);

/* No bucket of a snapshot shows more frees than allocations. */
void kernel_check_no_negative(const struct prof_heap_record *records,
                              size_t count);

#endif
