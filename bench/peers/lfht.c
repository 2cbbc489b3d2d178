/*
 * lfht.c -- liburcu's lock-free hash table as a peer. It is presized, because
 * growing by itself, by an asynchronous worker, makes it far slower.
 */
#include <stdlib.h>
#include <string.h>

#define _LGPL_SOURCE 1
#include <urcu/urcu-memb.h>
/* after the flavour */
#include <urcu/rculfhash.h>

#include "tables.h"

struct entry {
    struct cds_lfht_node node;
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    struct bench_key key;
};

struct table {
    struct cds_lfht *keys;
    struct bench_arena arena;
};

static struct entry *
entry_of(struct cds_lfht_node *node)
{
    return (struct entry *)(void *)node; /* its first member */
}

static int
is_same(struct cds_lfht_node *node, const void *key)
{
    return bench_same_key(&entry_of(node)->key, key);
}

static void *
create(uint32_t n, uint32_t depth)
{
    struct table *table = calloc(1, sizeof *table);
    unsigned long slots = 64;

    if (table == NULL)
        exit(1);
    while (slots < n)
        slots *= 2;
    table->keys = cds_lfht_new_flavor(slots, 64, 0, 0, &urcu_memb_flavor, NULL);
    bench_arena_make(&table->arena, n * (sizeof(struct entry) + 16 +
                                         depth * sizeof(uintptr_t)));
    return table;
}

static void
destroy(void *context)
{
    struct table *table = context;
    struct cds_lfht_iter at;
    struct cds_lfht_node *node;

    urcu_memb_read_lock();
    cds_lfht_first(table->keys, &at);
    while ((node = cds_lfht_iter_get_node(&at)) != NULL) {
        cds_lfht_del(table->keys, node);
        cds_lfht_next(table->keys, &at);
    }
    urcu_memb_read_unlock();
    cds_lfht_destroy(table->keys, NULL);
    bench_arena_free(&table->arena);
    free(table);
}

static uint64_t
find_or_add(struct table *table, const struct bench_key *key)
{
    const unsigned long hash = bench_hash(key);
    struct cds_lfht_iter at;
    struct cds_lfht_node *node;
    struct entry *entry;

    urcu_memb_read_lock();
    cds_lfht_lookup(table->keys, hash, is_same, key, &at);
    node = cds_lfht_iter_get_node(&at);
    if (node == NULL) {
        entry = bench_arena_take(&table->arena, sizeof *entry + key->words * 8);
        memcpy(&entry->key, key, sizeof key->words + key->words * 8);
        cds_lfht_node_init(&entry->node);
        node = cds_lfht_add_unique(table->keys, hash, is_same, &entry->key,
                                   &entry->node);
    }
    urcu_memb_read_unlock();
    return (uintptr_t)node;
}

BENCH_LOOP(intern, struct table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "lfht",
    .create = create,
    .destroy = destroy,
    .intern = intern,
    .thread_begin = urcu_memb_register_thread,
    .thread_end = urcu_memb_unregister_thread,
    .concurrent = true,
    .concurrent_inserts = true,
};
