/*
 * flat.h -- C++ flat hash sets as peers. As in our table, a slot holds a
 * pointer to an entry, tagged with bits of the hash. One thread only; a set
 * grows by itself.
 */
#ifndef BENCH_PEERS_FLAT_H
#define BENCH_PEERS_FLAT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
#include "bench/tables.h"
}

struct flat_entry {
    uint64_t hash; /* stored, so that growing need not read the key */
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    struct bench_key key;
};

/* A key to look up, with its hash. */
struct flat_wanted {
    const struct bench_key *key;
    uint64_t hash;
};

struct flat_hash {
    using is_transparent = void;
    using is_avalanching = void;

    size_t operator()(const flat_wanted &wanted) const
    {
        return wanted.hash;
    }
    size_t operator()(const flat_entry *entry) const
    {
        return entry->hash;
    }
};

struct flat_equal {
    using is_transparent = void;

    bool operator()(const flat_entry *a, const flat_entry *b) const
    {
        return a == b;
    }
    bool operator()(const flat_entry *entry, const flat_wanted &wanted) const
    {
        return bench_same_key(&entry->key, wanted.key);
    }
    bool operator()(const flat_wanted &wanted, const flat_entry *entry) const
    {
        return bench_same_key(&entry->key, wanted.key);
    }
};

/* In an unnamed namespace, since each peer's object file has its own copy. */
namespace
{
typedef FLAT_SET<flat_entry *, flat_hash, flat_equal> flat_set;

struct flat_table {
    flat_set keys;
    struct bench_arena arena;
};

void *
flat_create(uint32_t n, uint32_t depth)
{
    flat_table *table = new flat_table;

    bench_arena_make(&table->arena,
                     n * (sizeof(flat_entry) + 16 + depth * sizeof(uintptr_t)));
    return table;
}

void
flat_destroy(void *context)
{
    flat_table *table = static_cast<flat_table *>(context);

    bench_arena_free(&table->arena);
    delete table;
}

inline flat_entry *
flat_make(struct bench_arena *arena, const flat_wanted &wanted)
{
    const size_t key_bytes = (1 + wanted.key->words) * 8;
    flat_entry *entry = static_cast<flat_entry *>(
        bench_arena_take(arena, offsetof(flat_entry, key) + key_bytes));

    entry->hash = wanted.hash;
    std::memcpy(static_cast<void *>(&entry->key), wanted.key, key_bytes);
    return entry;
}
} /* namespace */

#endif
