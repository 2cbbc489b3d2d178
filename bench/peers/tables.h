/*
 * tables.h -- general-purpose hash tables that take part beside the bucket
 * table: each finds a key of (kind, size, stack) or adds it, with the hash that
 * our table uses, so that tables are compared and not hashes.
 */
#ifndef BENCH_PEERS_TABLES_H
#define BENCH_PEERS_TABLES_H

#include "../batch.h"

struct bench_table {
    const char *name;
    void *(*create)(uint32_t n, uint32_t depth);
    void (*destroy)(void *table);
    bench_batch_fn intern;
    void (*thread_begin)(void);
    void (*thread_end)(void);
    bool concurrent; /* two threads may look up at a time */
};

/* What each peer's shared object defines. */
extern const struct bench_table bench_peer_table;

enum { BENCH_TABLES = 4 };

/* returns: the i-th peer, NULL (*why) if it was not built; in: i < BENCH_TABLES
 */
const struct bench_table *bench_table_at(uint32_t i, const char **name,
                                         const char **why);

/* An entry of any of them: links of the peer, then the key, then counters. */
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

uint64_t bench_hash(const struct bench_key *key);
bool bench_same_key(const struct bench_key *a, const struct bench_key *b);

#endif
