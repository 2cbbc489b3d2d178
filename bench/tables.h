/*
 * tables.h -- general-purpose hash tables as peers of the bucket table: each
 * finds a key of (kind, size, stack) or adds it. All use our hash, so that the
 * benchmark compares tables, not hashes.
 */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include <string.h>

#include "bench/batch.h"
#include "bench/bench.h"
#include "prof/core/hash.h"

struct bench_table {
    const char *name;
    void *(*create)(uint32_t n, uint32_t depth);
    void (*destroy)(void *table);
    bench_batch_fn intern;
    bool concurrent; /* two threads may look up at a time */
    bool large;      /* takes part in rows with many keys, too */
};

/* What each peer's shared object defines. */
extern const struct bench_table bench_peer_table;

/* All tables that take part: ours first, then peers; and Go. */
struct bench_tables {
    const struct bench_table *all[BENCH_ENTRANTS_MAX];
    size_t count;
};

/* Add the peers that were built; print which were not. */
void bench_tables_add_peers(struct bench_tables *tables,
                            const struct bench *bench);

/* Our tables, of buckets and of a trace's stacks. */
extern const struct bench_table bench_ours_table;
extern const struct bench_table bench_ours_stacks;

/* An entry of any peer table: the peer's links, then the key, then counters. */
enum { BENCH_COUNTER_BYTES = 64 };

/* Memory that lives as long as the arena. */
struct bench_arena {
    unsigned char *pages;
    size_t bytes;
    size_t used;
};

void bench_arena_make(struct bench_arena *arena, size_t bytes);
void bench_arena_free(struct bench_arena *arena);
void *bench_arena_take(struct bench_arena *arena, size_t bytes);

/* The hash of our table. Peers compute it in the lookup, as our table does. */
static inline uint64_t
bench_hash(const struct bench_key *key)
{
    return prof_hash_multilinear(key->frames, (uint32_t)key->words - 2,
                                 key->size_bytes);
}

static inline bool
bench_same_key(const struct bench_key *a, const struct bench_key *b)
{
    return a->words == b->words &&
           memcmp(&a->kind, &b->kind, a->words * sizeof a->words) == 0;
}

#endif
