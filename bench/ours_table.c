/* ours_table.c -- the bucket table alone, as an entrant beside other tables. */
#include <stdlib.h>

#include "prof/core/instance.h"
#include "bench/tables.h"

struct ours {
    struct prof *prof;
    void *block;
    size_t bytes;
};

static void *
ours_create(uint32_t n, uint32_t depth)
{
    const struct prof_config config = {
        .buckets_max = n,
        .depth_max = depth,
        .frames_max = (uint64_t)n * depth,
    };
    struct ours *ours = malloc(sizeof *ours);

    if (ours == NULL)
        exit(1);
    ours->bytes = prof_bytes_needed(&config);
    ours->block = bench_pages(ours->bytes);
    if (prof_init(&ours->prof, &config, ours->block, ours->bytes) != PROF_OK)
        exit(1);
    return ours;
}

static void
ours_destroy(void *context)
{
    struct ours *ours = context;

    bench_pages_return(ours->block, ours->bytes);
    free(ours);
}

BENCH_LOOP(ours_intern, struct ours,
           prof_table_intern(&table->prof->table, KIND_HEAP, key->frames,
                             (uint32_t)key->words - 2, key->size_bytes));

const struct bench_table bench_ours_table = {
    .name = "profsim",
    .create = ours_create,
    .destroy = ours_destroy,
    .intern = ours_intern,
    .concurrent = true,
    .large = true,
};

/* Number stacks as the tracer does: in this table, without a size in the key.
 */
BENCH_LOOP(ours_stack_id, struct ours,
           prof_table_intern(&table->prof->table, KIND_HEAP, key->frames,
                             (uint32_t)key->words - 2, 0));

const struct bench_table bench_ours_stacks = {
    .name = "profsim",
    .create = ours_create,
    .destroy = ours_destroy,
    .intern = ours_stack_id,
    .concurrent = true,
    .large = true,
};
