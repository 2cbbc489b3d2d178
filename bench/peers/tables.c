/* tables.c -- what the peer tables share; see tables.h. */
#include "tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "hash.h"

static const char *const names[BENCH_TABLES] = {"uthash", "glib", "ck_hs",
                                                "lfht"};

const struct bench_table *
bench_table_at(uint32_t i, const char **name, const char **why)
{
    const char *folder = getenv("BENCH_PEERS");
    char path[4096];
    void *object;

    *name = names[i];
    *why = "not built (make bench-peers)";
    snprintf(path, sizeof path, "%s/%s.so",
             folder != NULL ? folder : "out/bench/peers", names[i]);
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return object != NULL ? dlsym(object, "bench_peer_table") : NULL;
}

void
bench_arena_make(struct bench_arena *arena, size_t bytes)
{
    *arena = (struct bench_arena){.pages = bench_pages(bytes), .bytes = bytes};
}

void
bench_arena_free(struct bench_arena *arena)
{
    bench_pages_return(arena->pages, arena->bytes);
}

void *
bench_arena_take(struct bench_arena *arena, size_t bytes)
{
    void *taken = arena->pages + arena->used;

    arena->used += (bytes + 7) / 8 * 8;
    if (arena->used > arena->bytes)
        exit(1);
    return taken;
}

uint64_t
bench_hash(const struct bench_key *key)
{
    return prof_hash_stack(PROF_HASH_XXH3, key->frames,
                           (uint32_t)key->words - 2, key->size_bytes);
}

bool
bench_same_key(const struct bench_key *a, const struct bench_key *b)
{
    return a->words == b->words &&
           memcmp(&a->kind, &b->kind, a->words * sizeof a->words) == 0;
}
