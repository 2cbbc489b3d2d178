/* kernel_instance.c -- the instance under exploration, and checks on it. */
#include "props/kernels/kernel_instance.h"

#include <stdalign.h>
#include <string.h>

enum { TRIES_MAX = 3, BLOCK_CYCLES = 5 };

/* Go's hash of a and b is f(f(a) + b), f being the mixing of one frame.
 * FIRST(a) is f(a), so stacks 0 and 1 can be made to collide. */
#define FIRST(a) ((uint64_t)(a)*1025 ^ ((uint64_t)(a)*1025 >> 6))

const uintptr_t kernel_stacks[KERNEL_STACKS][2] = {
    {0x401000, 0x500000},
    {0x401010, 0x500000 + FIRST(0x401000) - FIRST(0x401010)},
    {0x401020, 0x500010},
    {0x401030, 0x500020},
};

struct prof *kernel_prof;

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 14];

void
kernel_new_instance(struct prof_config config)
{
    size_t bytes;

    if (config.buckets_max == 0)
        config.buckets_max = 4;
    if (config.frames_max == 0)
        config.frames_max = 2 * (uint64_t)config.buckets_max;
    if (config.procs_max == 0)
        config.procs_max = 3;
    bytes = prof_bytes_needed(&config);
    memset(block, 0, sizeof block < bytes ? sizeof block : bytes);
    if (prof_init(&kernel_prof, &config, block, sizeof block) != PROF_OK)
        sim_explore_fail("the instance does not fit its block");
}

prof_bucket
kernel_alloc(uint32_t proc, uint32_t stack)
{
    return prof_heap_alloc(prof_proc_at(kernel_prof, proc),
                           kernel_stacks[stack], 2, 16);
}

void
kernel_block(uint32_t proc, uint32_t stack)
{
    prof_contention_event(prof_proc_at(kernel_prof, proc), PROF_BLOCK,
                          kernel_stacks[stack], 2, BLOCK_CYCLES);
}

void
kernel_check_totals(uint64_t allocs, uint64_t frees)
{
    const struct prof_heap_totals t = prof_heap_totals(kernel_prof);

    sim_explore_check(t.allocs_published + t.allocs_pending == allocs,
                      "an allocation is lost, or counted twice");
    sim_explore_check(t.frees_published + t.frees_pending == frees,
                      "a free is lost, or counted twice");
}

void
kernel_check_blocks(uint64_t count)
{
    struct prof_contention_record records[KERNEL_RECORDS];
    size_t listed = 0;

    sim_explore_check(prof_contention_snapshot(kernel_prof, PROF_BLOCK, records,
                                               KERNEL_RECORDS,
                                               &listed) == PROF_OK &&
                          listed == 1 && records[0].count == count &&
                          records[0].cycles == BLOCK_CYCLES * count,
                      "an event is lost, or counted twice");
}

struct listing {
    const uintptr_t *seen[KERNEL_RECORDS];
    uint32_t count;
};

static void
list_one(void *context, const struct prof_heap_record *record)
{
    struct listing *listing = context;

    for (uint32_t i = 0; i < listing->count; i++)
        sim_explore_check(memcmp(listing->seen[i], record->stack,
                                 2 * sizeof *record->stack) != 0,
                          "a stack is listed twice");
    if (listing->count < KERNEL_RECORDS)
        listing->seen[listing->count++] = record->stack;
}

void
kernel_check_listing(uint32_t buckets)
{
    struct listing listing = {.count = 0};

    sim_explore_check(prof_check(kernel_prof) == NULL,
                      "an invariant of the core is broken");
    prof_heap_iterate(kernel_prof, list_one, &listing);
    sim_explore_check(listing.count == buckets,
                      "a bucket is missing, or one too many");
}

static enum prof_status
look(void)
{
    struct prof_heap_record records[KERNEL_RECORDS];
    size_t count = 0;
    const enum prof_status status = prof_heap_snapshot(
        kernel_prof, PROF_SELECT_ALL, records, KERNEL_RECORDS, &count);

    for (size_t i = 0; i < count && status == PROF_OK; i++)
        sim_explore_check(records[i].frees <= records[i].allocs,
                          "a snapshot shows a free without its allocation");
    return status;
}

void
kernel_look(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    look();
}

void
kernel_snapshot(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(look() == PROF_OK, "snapshot");
}

void
kernel_flush(void)
{
    for (uint32_t tries = 0; tries < TRIES_MAX; tries++) {
        if (prof_heap_flush(kernel_prof) == PROF_OK)
            return;
    }
}

static void
insist(enum prof_status status)
{
    sim_explore_check(status == PROF_OK, "busy, though nobody is");
}

void
kernel_advance_alone(void)
{
    insist(prof_heap_next_cycle(kernel_prof));
    insist(prof_heap_flush(kernel_prof));
}

void
kernel_drain_and_check(uint64_t allocs, uint64_t frees)
{
    struct prof_heap_totals totals;

    insist(prof_heap_flush(kernel_prof)); /* a flush may have been refused */
    kernel_advance_alone();
    kernel_advance_alone();
    kernel_check_totals(allocs, frees);
    totals = prof_heap_totals(kernel_prof);
    sim_explore_check(totals.allocs_pending == 0 && totals.frees_pending == 0,
                      "an event went into a slot of the past");
}
