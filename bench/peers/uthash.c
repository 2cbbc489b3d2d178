/* uthash.c -- uthash as a peer: chains, intrusive links. */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "tables.h"

struct entry {
    UT_hash_handle hh;
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    struct bench_key key;
};

struct table {
    struct entry *first;
    struct bench_arena arena;
};

static void *
create(uint32_t n, uint32_t depth)
{
    struct table *table = calloc(1, sizeof *table);

    if (table == NULL)
        exit(1);
    bench_arena_make(&table->arena, n * (sizeof(struct entry) + 16 +
                                         depth * sizeof(uintptr_t)));
    return table;
}

static void
destroy(void *context)
{
    struct table *table = context;

    HASH_CLEAR(hh, table->first);
    bench_arena_free(&table->arena);
    free(table);
}

static uint64_t
find_or_add(struct table *table, const struct bench_key *key)
{
    const unsigned hash = (unsigned)bench_hash(key);
    const unsigned bytes = (unsigned)(key->words * 8);
    struct entry *entry = NULL;

    HASH_FIND_BYHASHVALUE(hh, table->first, &key->kind, bytes, hash, entry);
    if (entry == NULL) {
        entry = bench_arena_take(&table->arena, sizeof *entry + bytes);
        memcpy(&entry->key, key, sizeof key->words + bytes);
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, table->first, &entry->key.kind, bytes,
                                    hash, entry);
    }
    return (uintptr_t)entry;
}

BENCH_LOOP(intern, struct table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "uthash", .create = create, .destroy = destroy, .intern = intern};
