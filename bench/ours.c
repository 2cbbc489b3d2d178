/* ours.c -- the library as an entrant, through its public functions only. */
#include "bench/ours.h"

#include <stdlib.h>

#include "bench/batch.h"
#include "bench/bench.h"

/* One processor of the library for each thread that a row uses. */
static _Thread_local uint32_t my_proc;
static uint32_t next_proc;

enum { PROCS = 2 };

static struct prof_proc *
proc_of(const struct bench_ours *ours)
{
    if (my_proc == 0)
        my_proc = 1 + __atomic_fetch_add(&next_proc, 1, __ATOMIC_RELAXED);
    return prof_proc_at(ours->prof, (my_proc - 1) % PROCS);
}

void
bench_ours_make(struct bench_ours *ours, const struct bench_load *load)
{
    /* Twice as many buckets: a heap and a contention bucket for each stack. */
    const struct prof_config config = {
        .buckets_max = 2 * load->n,
        .depth_max = load->depth,
        .frames_max = 2 * (uint64_t)load->n * load->depth,
        .procs_max = PROCS,
    };

    ours->load = load;
    ours->bytes = prof_bytes_needed(&config);
    ours->block = bench_pages(ours->bytes);
    ours->buckets = malloc(load->n * sizeof *ours->buckets);
    if (ours->buckets == NULL ||
        prof_init(&ours->prof, &config, ours->block, ours->bytes) != PROF_OK)
        exit(1);
    for (uint32_t i = 0; i < load->n; i++) {
        const uint64_t *record = bench_record(load, i);

        ours->buckets[i] =
            prof_heap_alloc(proc_of(ours), record + 1, load->depth, record[0]);
    }
}

void
bench_ours_free(struct bench_ours *ours)
{
    free(ours->buckets);
    bench_pages_return(ours->block, ours->bytes);
}

uint64_t
bench_ours_alloc(void *context, const struct bench_stage *stage, uint32_t count)
{
    struct prof_proc *proc = proc_of(context);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct bench_key *key = bench_staged(stage, i);

        sum +=
            prof_heap_alloc(proc, key->frames, stage->depth, key->size_bytes);
    }
    return sum;
}

uint64_t
bench_ours_alloc_many(void *context, const struct bench_stage *stage,
                      uint32_t count)
{
    struct prof_heap_event events[BENCH_BATCH];
    prof_bucket buckets[BENCH_BATCH];

    for (uint32_t i = 0; i < count; i++) {
        const struct bench_key *key = bench_staged(stage, i);

        events[i] = (struct prof_heap_event){key->frames, stage->depth,
                                             key->size_bytes};
    }
    prof_heap_alloc_many(proc_of(context), events, count, buckets);
    return buckets[0];
}

uint64_t
bench_ours_free_batch(void *context, const struct bench_stage *stage,
                      uint32_t count)
{
    const struct bench_ours *ours = context;
    struct prof_proc *proc = proc_of(ours);

    for (uint32_t i = 0; i < count; i++)
        prof_heap_free(proc, ours->buckets[bench_staged_index(stage, i)]);
    return count;
}

uint64_t
bench_ours_block(void *context, const struct bench_stage *stage, uint32_t count)
{
    struct prof_proc *proc = proc_of(context);

    for (uint32_t i = 0; i < count; i++)
        prof_contention_event(proc, PROF_BLOCK, bench_staged(stage, i)->frames,
                              stage->depth, 1000);
    return count;
}
