/* glib.c -- GLib's GHashTable as a peer: open addressing, 32-bit hashes. */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "tables.h"

struct entry {
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    struct bench_key key;
};

struct table {
    GHashTable *keys;
    struct bench_arena arena;
};

static guint
hash_of(gconstpointer key)
{
    return (guint)bench_hash(key);
}

static gboolean
is_same(gconstpointer a, gconstpointer b)
{
    return bench_same_key(a, b);
}

static void *
create(uint32_t n, uint32_t depth)
{
    struct table *table = calloc(1, sizeof *table);

    if (table == NULL)
        exit(1);
    table->keys = g_hash_table_new(hash_of, is_same);
    bench_arena_make(&table->arena, n * (sizeof(struct entry) + 16 +
                                         depth * sizeof(uintptr_t)));
    return table;
}

static void
destroy(void *context)
{
    struct table *table = context;

    g_hash_table_destroy(table->keys);
    bench_arena_free(&table->arena);
    free(table);
}

static uint64_t
find_or_add(struct table *table, const struct bench_key *key)
{
    struct entry *entry = g_hash_table_lookup(table->keys, key);

    if (entry == NULL) {
        entry = bench_arena_take(&table->arena, sizeof *entry + key->words * 8);
        memcpy(&entry->key, key, sizeof key->words + key->words * 8);
        g_hash_table_insert(table->keys, &entry->key, entry);
    }
    return (uintptr_t)entry;
}

BENCH_LOOP(intern, struct table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "glib", .create = create, .destroy = destroy, .intern = intern};
