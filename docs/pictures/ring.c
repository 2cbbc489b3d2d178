/*
 * ring.c -- prints the rows of the README's picture: what each slot of the ring
 * holds during four collections, and what a snapshot shows.
 *
 * output: a line for each event: the cycle, what happened, allocations and
 * frees in each of the three slots, then in the snapshot
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "instance.h"
#include "prof/prof.h"

static _Alignas(PROF_BLOCK_ALIGN) char block[1 << 20];
static struct prof *prof;
static int cycle = -3;

enum { ROWS = 8 };

/* returns: the counts that are recorded in a slot and not yet published */
static uint64_t
waiting(int slot)
{
    uint64_t sum = 0;

    for (int row = 0; row < ROWS; row++)
        sum += load_relaxed(&prof->procs[0].columns.slots[slot][row]) -
               prof->counters.published[slot][row];
    return sum;
}

static void
show(const char *event)
{
    struct prof_heap_record record[2];
    size_t count;

    printf("%d,%s", cycle, event);
    for (int slot = 0; slot < COUNTER_SLOTS; slot++)
        printf(",%u,%u", (unsigned)waiting(slot),
               (unsigned)(waiting(slot) >> 32));
    if (prof_heap_snapshot(prof, PROF_SELECT_ALL, record, 2, &count) != PROF_OK)
        exit(1);
    printf(",%" PRIu64 ",%" PRIu64 "\n", record[0].allocs, record[0].frees);
}

static void
collect(void)
{
    if (prof_heap_next_cycle(prof) != PROF_OK)
        exit(1);
    if (++cycle > 0)
        show("mark termination");
    if (prof_heap_flush(prof) != PROF_OK)
        exit(1);
}

int
main(void)
{
    const struct prof_config config = {.buckets_max = ROWS};
    const uintptr_t stack[] = {0x4011d2, 0x401080};
    struct prof_proc *proc;
    prof_bucket bucket;

    if (prof_init(&prof, &config, block, sizeof block) != PROF_OK)
        return 1;
    proc = prof_proc_at(prof, 0);
    /* Until something has been published, a snapshot shows everything. */
    prof_heap_alloc(proc, stack + 1, 1, 64);
    while (cycle < 0)
        collect();
    prof_heap_alloc(proc, stack, 2, 64);
    bucket = prof_heap_alloc(proc, stack, 2, 64);
    show("two allocations");
    collect();
    prof_heap_alloc(proc, stack, 2, 64);
    show("one allocation");
    collect();
    prof_heap_free(proc, bucket);
    show("the sweep frees one");
    collect();
    show("flush");
    return 0;
}
