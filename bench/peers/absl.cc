/* absl.cc -- Abseil's flat_hash_set as a peer. */
#include <absl/container/flat_hash_set.h>

#define FLAT_SET absl::flat_hash_set
#include "bench/peers/flat.h"

static inline uint64_t
find_or_add(flat_table *table, const struct bench_key *key)
{
    const flat_wanted wanted = {key, bench_hash(key)};

    return reinterpret_cast<uintptr_t>(*table->keys.lazy_emplace(
        wanted, [&](const flat_set::constructor &construct) {
            construct(flat_make(&table->arena, wanted));
        }));
}

BENCH_LOOP(intern, flat_table, find_or_add(table, key));

const struct bench_table bench_peer_table = {
    .name = "absl",
    .create = flat_create,
    .destroy = flat_destroy,
    .intern = intern,
};
