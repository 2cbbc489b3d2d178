/* ck_hs.c -- Concurrency Kit's ck_hs as a peer: one writer, lock-free readers.
 */
#include <stdlib.h>
#include <string.h>

#include <ck_hs.h>

#include "tables.h"

struct entry {
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    struct bench_key key;
};

struct table {
    struct ck_hs keys;
    struct bench_arena arena;
};

static void *
take(size_t bytes)
{
    return malloc(bytes);
}

static void
give(void *memory, size_t bytes, bool deferred)
{
    (void)bytes;
    (void)deferred;
    free(memory);
}

static struct ck_malloc memory = {.malloc = take, .free = give};

static unsigned long
hash_of(const void *key, unsigned long seed)
{
    (void)seed;
    return bench_hash(key);
}

static bool
is_same(const void *a, const void *b)
{
    return bench_same_key(a, b);
}

static void *
create(uint32_t n, uint32_t depth)
{
    struct table *table = calloc(1, sizeof *table);

    if (table == NULL ||
        !ck_hs_init(&table->keys, CK_HS_MODE_OBJECT | CK_HS_MODE_SPMC, hash_of,
                    is_same, &memory, 8, 1))
        exit(1);
    bench_arena_make(&table->arena, n * (sizeof(struct entry) + 16 +
                                         depth * sizeof(uintptr_t)));
    return table;
}

static void
destroy(void *context)
{
    struct table *table = context;

    ck_hs_destroy(&table->keys);
    bench_arena_free(&table->arena);
    free(table);
}

static uint64_t
find_or_add(struct table *table, const struct bench_key *key)
{
    const unsigned long hash = bench_hash(key);
    void *found = ck_hs_get(&table->keys, hash, key);
    struct entry *entry;

    if (found != NULL)
        return (uintptr_t)found;
    entry = bench_arena_take(&table->arena, sizeof *entry + key->words * 8);
    memcpy(&entry->key, key, sizeof key->words + key->words * 8);
    if (!ck_hs_put(&table->keys, hash, &entry->key))
        exit(1);
    return (uintptr_t)&entry->key;
}

BENCH_LOOP(intern, struct table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "ck_hs",
    .create = create,
    .destroy = destroy,
    .intern = intern,
    .concurrent = true,
};
