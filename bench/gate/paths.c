/*
 * paths.c -- runs the hot paths of the library under callgrind: each a fixed
 * number of times on fixed data, with its counts dumped under its name.
 * Counting is on inside the paths only. The counts are repeatable to the
 * instruction: same object code, same keys, and no decision depends on a clock
 * or an address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/gate/paths.h"
#include "prof/prof.h"

enum { FRAMES_ROOM = STACKS * FRAMES_MAX };

struct bed {
    struct prof *prof;
    struct prof_proc *proc;
    uintptr_t *frames; /* STACKS stacks of FRAMES_MAX */
    prof_bucket buckets[STACKS];
    struct prof_heap_record records[2 * STACKS];
    uint32_t depth;
};

static struct bed bed;

static void
make_stacks(void)
{
    uint64_t word = 1;

    bed.frames = bench_pages(FRAMES_ROOM * sizeof *bed.frames);
    for (uint32_t i = 0; i < FRAMES_ROOM; i++) {
        word = word * 6364136223846793005U + 1442695040888963407U;
        bed.frames[i] = 0x401000 + (word >> 40);
    }
}

static void
make_prof(uint32_t depth)
{
    const struct prof_config config = {
        .buckets_max = 2 * STACKS,
        .depth_max = FRAMES_MAX,
        .frames_max = 2 * (uint64_t)FRAMES_ROOM,
    };
    const size_t bytes = prof_bytes_needed(&config);

    if (prof_init(&bed.prof, &config, bench_pages(bytes), bytes) != PROF_OK)
        exit(1);
    bed.proc = prof_proc_at(bed.prof, 0);
    bed.depth = depth;
}

/* ---- paths ---- */

static void
alloc(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        bed.buckets[i] =
            prof_heap_alloc(bed.proc, gate_stack(bed.frames, i), bed.depth, 64);
}

static void
alloc_many(void)
{
    static struct prof_heap_event events[STACKS];

    for (uint32_t i = 0; i < STACKS; i++)
        events[i] =
            (struct prof_heap_event){gate_stack(bed.frames, i), bed.depth, 64};
    prof_heap_alloc_many(bed.proc, events, STACKS, bed.buckets);
}

static void
free_swept(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        prof_heap_free(bed.proc, bed.buckets[i]);
}

static void
free_explicit(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        prof_heap_free_explicit(bed.proc, bed.buckets[i]);
}

static void
block_kept(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        prof_contention_event(bed.proc, PROF_BLOCK, gate_stack(bed.frames, i),
                              bed.depth, 1000);
}

static void
block_left_out(void)
{
    prof_block_rate_set(bed.prof, INT64_C(1) << 62);
    for (uint32_t i = 0; i < STACKS; i++)
        prof_contention_event(bed.proc, PROF_BLOCK, gate_stack(bed.frames, i),
                              bed.depth, 10);
    prof_block_rate_set(bed.prof, 1);
}

static void
next_cycle(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        must(prof_heap_next_cycle(bed.prof));
}

static void
flush(void)
{
    must(prof_heap_flush(bed.prof));
}

static void
post_sweep(void)
{
    must(prof_heap_post_sweep(bed.prof));
}

static void
snapshot(void)
{
    size_t count;

    must(prof_heap_snapshot(bed.prof, PROF_SELECT_ALL, bed.records, 2 * STACKS,
                            &count));
    if (count != STACKS)
        exit(1);
}

/* ---- counting ---- */

static void
count_depth(uint32_t depth)
{
    char name[32];

    make_prof(depth);
    snprintf(name, sizeof name, "insert-%u", depth);
    count(name, alloc);
    snprintf(name, sizeof name, "alloc-%u", depth);
    count(name, alloc);
}

int
main(void)
{
    make_stacks();
    count_depth(4);
    count_depth(32);
    count_depth(128);
    count_depth(16);
    count("alloc-many-16", alloc_many);
    count("free", free_swept);
    count("free_explicit", free_explicit);
    must(prof_heap_next_cycle(bed.prof));
    must(prof_heap_next_cycle(bed.prof));
    count("flush", flush);
    must(prof_heap_next_cycle(bed.prof));
    must(prof_heap_next_cycle(bed.prof));
    must(prof_heap_next_cycle(bed.prof));
    count("flush-empty", flush);
    alloc();
    must(prof_heap_next_cycle(bed.prof));
    free_swept();
    count("post_sweep", post_sweep);
    count("snapshot", snapshot);
    count("next_cycle", next_cycle);
    block_kept();
    count("block", block_kept);
    count("block-left-out", block_left_out);
    gate_trace_paths(bed.frames);
    return 0;
}
