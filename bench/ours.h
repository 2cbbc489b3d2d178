/* ours.h -- an instance of the library, filled with a load. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "bench/load.h"
#include "prof/prof.h"

struct bench_ours {
    struct prof *prof;
    const struct bench_load *load;
    prof_bucket *buckets; /* by index in the load */
    void *block;
    size_t bytes;
};

/* Make an instance and record one allocation of each key. */
void bench_ours_make(struct bench_ours *ours, const struct bench_load *load);
void bench_ours_free(struct bench_ours *ours);

/* Batches of record calls; context is a struct bench_ours. */
uint64_t bench_ours_alloc_many(void *context, const struct bench_stage *stage,
                               uint32_t count);
uint64_t bench_ours_alloc(void *context, const struct bench_stage *stage,
                          uint32_t count);
uint64_t bench_ours_free_batch(void *context, const struct bench_stage *stage,
                               uint32_t count);
uint64_t bench_ours_block(void *context, const struct bench_stage *stage,
                          uint32_t count);

#endif
