/*
 * load.h -- a load, the input of a benchmark, the same for every entrant:
 * distinct keys (a size and a stack), and the order in which they are looked
 * up.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_stacks {
    BENCH_CALLS, /* paths in the call graph of a program of 8192 functions */
    BENCH_GRID   /* keys that differ in two leaf frames by regular steps */
};

enum bench_order { BENCH_UNIFORM, BENCH_ZIPF };

enum {
    BENCH_BATCH = 64,
    BENCH_ORDER_LOG2 = 20,
    BENCH_ORDER = 1 << BENCH_ORDER_LOG2,
};

/* Keys as they lie in the file that peers of other languages map. */
struct bench_load {
    uint64_t *words; /* n records of 1 + depth words: size, frames leaf first */
    uint32_t *order; /* BENCH_ORDER numbers below n */
    uint32_t n;
    uint32_t depth;
    char path[64]; /* of the file: n, depth, words, order */
    int descriptor;
    size_t bytes;
    uint64_t *file; /* the mapping */
};

/* A key ready to be looked up, in cached memory. */
struct bench_key {
    uint64_t words; /* of what follows: 2 + depth */
    uint64_t kind;
    uint64_t size_bytes;
    uintptr_t frames[];
};

/* Make a load. It is a function of its parameters. Ends the program on error.
 */
void bench_load_make(struct bench_load *load, enum bench_stacks stacks,
                     uint32_t depth, uint32_t n);
void bench_load_free(struct bench_load *load);

/* Change the order of accesses. */
void bench_load_order(struct bench_load *load, enum bench_order order);

const char *bench_order_name(enum bench_order order);
/* The same for a row whose tables are in huge pages. */
const char *bench_order_name_huge(enum bench_order order);

static inline const uint64_t *
bench_record(const struct bench_load *load, uint32_t index)
{
    return &load->words[(size_t)index * (load->depth + 1)];
}

/* Room for a batch of staged keys, 64-byte aligned. */
struct bench_stage {
    unsigned char *keys;
    size_t stride;
    uint32_t depth;
    uint32_t first;                /* key that a batch begins with */
    uint32_t indexes[BENCH_BATCH]; /* of the keys, in the load */
};

void bench_stage_make(struct bench_stage *stage, uint32_t depth);
void bench_stage_free(struct bench_stage *stage);

static inline struct bench_key *
bench_staged(const struct bench_stage *stage, uint32_t i)
{
    return (struct bench_key *)(void *)(stage->keys +
                                        (stage->first + i) * stage->stride);
}

static inline uint32_t
bench_staged_index(const struct bench_stage *stage, uint32_t i)
{
    return stage->indexes[stage->first + i];
}

/* Copy a key there, as an unwinder would have written it just now. */
void bench_stage_put(struct bench_stage *stage, uint32_t i,
                     const struct bench_load *load, uint32_t index);

#endif
