/*
 * hash.c -- what hashing a stack costs: XXH3, which the library uses, beside
 * the one-at-a-time hash of Go's runtime.
 */
#include "hash.h"

#include <stddef.h>

#include "batch.h"
#include "bench.h"

struct hash {
    enum prof_hash kind;
};

BENCH_LOOP(hash_all, const struct hash,
           prof_hash_stack(table->kind, key->frames, (uint32_t)key->words - 2,
                           key->size_bytes));

int
main(void)
{
    static const uint32_t depths[] = {4, 16, 32, 128};
    static struct hash kinds[] = {{PROF_HASH_XXH3}, {PROF_HASH_GO_64}};
    static const char *const names[] = {"XXH3", "one-at-a-time"};
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
            batches[kind] = (struct bench_batches){.load = &load,
                                                   .batch = hash_all,
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
