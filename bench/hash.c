/*
 * hash.c -- what hashing a stack costs: the library's multilinear hash,
 * compared with XXH3 and the one-at-a-time hash of Go's runtime.
 */
#include "hash.h"

#include <stddef.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "batch.h"
#include "bench.h"

struct hash {
    enum prof_hash kind;
};

BENCH_LOOP(hash_all, const struct hash,
           prof_hash_stack(table->kind, key->frames, (uint32_t)key->words - 2,
                           key->size_bytes));

/* Not inlined, because our hash is a call, too. */
static __attribute__((noinline)) uint64_t
xxh3(const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    return XXH3_64bits(frames, depth * sizeof *frames) ^
           size_bytes * 0x9e3779b97f4a7c15U;
}

static uint64_t
xxh3_all(void *context, const struct bench_stage *stage, uint32_t count)
{
    uint64_t sum = 0;

    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        const struct bench_key *key = bench_staged(stage, i);

        sum += xxh3(key->frames, (uint32_t)key->words - 2, key->size_bytes);
    }
    return sum;
}

int
main(void)
{
    static const uint32_t depths[] = {4, 16, 32, 128};
    static struct hash kinds[] = {
        {PROF_HASH_MULTILINEAR}, {PROF_HASH_COUNT}, {PROF_HASH_GO_64}};
    static const char *const names[] = {"multilinear", "XXH3", "one-at-a-time"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct bench bench;

    bench_begin(&bench, "hash", sizeof depths / sizeof *depths);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const struct bench_row row = {
            .operation = "hash", .unit = "ns", .depth = depths[i], .n = 1000};
        struct bench_batches batches[KINDS];
        struct bench_entrant entrants[KINDS];
        struct bench_load load;

        bench_load_make(&load, BENCH_CALLS, depths[i], row.n);
        for (size_t kind = 0; kind < KINDS; kind++) {
            batches[kind] = (struct bench_batches){
                .load = &load,
                .batch =
                    kinds[kind].kind != PROF_HASH_COUNT ? hash_all : xxh3_all,
                .context = &kinds[kind],
                .threads = 1};
            entrants[kind] = (struct bench_entrant){
                names[kind], bench_batches_once, &batches[kind]};
        }
        bench_compare(&bench, &row, entrants, KINDS);
        bench_load_free(&load);
    }
    return bench_end(&bench);
}
