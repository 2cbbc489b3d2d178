/* tables.c -- what the peer tables share; see tables.h. */
#include "bench/tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

/* In the order of their rows. */
static const char *const names[] = {"absl", "boost"};

void
bench_tables_add_peers(struct bench_tables *tables, const struct bench *bench)
{
    const char *folder = getenv("BENCH_PEERS");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct bench_table *table = NULL;
        char path[4096];
        void *object;

        snprintf(path, sizeof path, "%s/%s.so",
                 folder != NULL ? folder : "out/bench/peers", names[i]);
        object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (object != NULL)
            table = dlsym(object, "bench_peer_table");
        if (table == NULL)
            bench_skip(bench, names[i], "not built (make bench-peers)");
        else if (tables->count < BENCH_ENTRANTS_MAX - 1) /* room for Go */
            tables->all[tables->count++] = table;
    }
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
    const size_t used = arena->used;

    arena->used += (bytes + 7) / 8 * 8;
    if (used + bytes > arena->bytes) {
        fputs("bench: a peer's arena is too small\n", stderr);
        exit(1);
    }
    return arena->pages + used;
}
