/* cpu_fields.h -- the fields of struct prof_cpu, for the three files that use
 * them. */
#ifndef PROF_PPROF_CPU_FIELDS_H
#define PROF_PPROF_CPU_FIELDS_H

#include "prof/core/atomic.h"
#include "prof/cpu.h"
#include "prof/port.h"

/* A cell of the ring. Its words: stack, depth_max of them. */
struct tick {
    shared_u64 sequence; /* see cpu.c, I1 */
    const struct prof_label_set
        *labels; /* written by the cell's owner, as are the next two */
    uint32_t depth;
    uint32_t count; /* of ticks in one; 1 or more */
};

/* A stack of the profile, with the number of its ticks. */
struct cpu_stack {
    uint64_t ticks;
    const struct prof_label_set *labels;
    uint32_t depth;
    uint32_t next; /* next stack in the chain, number + 1; 0: none */
};

struct prof_cpu {
    struct tick *ticks; /* immutable, as are the sizes and arrays */
    uintptr_t *tick_pcs;
    struct cpu_stack *stacks;
    uintptr_t *stack_pcs;
    uint32_t *chains; /* stack numbers + 1, by hash */
    uint32_t ticks_log2;
    uint32_t stacks_max;
    uint32_t depth_max;
    uint32_t chains_log2;

    shared_u64 state; /* RUNNING | handlers inside; see cpu.c, I3 */
    shared_u64 head;  /* next cell to write; any thread */
    shared_u64 lost;  /* ticks not counted yet; any thread */

    struct prof_port_lock lock; /* guards what follows */
    uint64_t tail;              /* next cell to read */
    uint32_t stacks_count;
    uint32_t lost_stack; /* number + 1 of the stack of lost ticks; 0: none */
    uint64_t hz;
};

/* Count ticks of a stack, which is cut at depth_max. context: lock held */
void prof_cpu_count(struct prof_cpu *cpu, const uintptr_t *stack, size_t depth,
                    const struct prof_label_set *labels, uint64_t ticks);

/* Count ticks whose stack is not known. context: lock held */
void prof_cpu_count_lost(struct prof_cpu *cpu, uint64_t ticks);

/* Forget all stacks. context: lock held */
void prof_cpu_forget(struct prof_cpu *cpu);

/* returns: the addresses of a stack. context: lock held */
uintptr_t *prof_cpu_stack_pcs(const struct prof_cpu *cpu, uint32_t number);

/* Is a profile being taken, or a tick still being recorded? */
bool prof_cpu_is_active(const struct prof_cpu *cpu);

/* Make all cells free. context: no other thread uses them */
void prof_cpu_empty_ring(struct prof_cpu *cpu);

#endif
