/* boost.cc -- Boost's unordered_flat_set (1.81 and later) as a peer. */
#include <boost/unordered/unordered_flat_set.hpp>

#define FLAT_SET boost::unordered_flat_set
#include "bench/peers/flat.h"

static inline uint64_t
find_or_add(flat_table *table, const struct bench_key *key)
{
    const flat_wanted wanted = {key, bench_hash(key)};
    const auto found = table->keys.find(wanted);
    flat_entry *entry;

    if (found != table->keys.end())
        return reinterpret_cast<uintptr_t>(*found);
    entry = flat_make(&table->arena, wanted);
    table->keys.insert(entry);
    return reinterpret_cast<uintptr_t>(entry);
}

BENCH_LOOP(intern, flat_table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "boost",
    .create = flat_create,
    .destroy = flat_destroy,
    .intern = intern,
    .large = true,
};
