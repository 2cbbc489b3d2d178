/*
 * floor_table.c -- lower bounds on the cost of the table rows on this machine,
 * as entrants.
 *
 * (lower bound) is open addressing with our hash and comparison but none of our
 * guarantees: one thread, one word per slot (16 bits of the hash above a
 * pointer), at most half full, doubled by a copy that stops all other work.
 * (one line) reads one cache line for each key and finds nothing. (copy) copies
 * each key to the end of an array, where it cannot be found again.
 */
#include <stdlib.h>
#include <string.h>

#include "peers/tables.h"

enum { TAG_SHIFT = 48, SLOTS_FIRST = 1024 };

#define POINTER_MASK ((UINT64_C(1) << TAG_SHIFT) - 1)

struct entry {
    uint64_t hash;
    uint64_t counters[BENCH_COUNTER_BYTES / 8];
    uint64_t key[]; /* a struct bench_key */
};

struct floor_table {
    uint64_t *slots;
    uint64_t mask;
    uint64_t count;
    struct bench_arena arena;
};

static struct entry *
entry_of(uint64_t slot)
{
    return (struct entry *)(uintptr_t)(slot & POINTER_MASK);
}

static const struct bench_key *
key_of(const struct entry *entry)
{
    return (const struct bench_key *)(const void *)entry->key;
}

static uint64_t *
make_slots(uint64_t count)
{
    return bench_pages(count * sizeof(uint64_t));
}

static void *
floor_create(uint32_t n, uint32_t depth)
{
    struct floor_table *table = calloc(1, sizeof *table);

    if (table == NULL)
        exit(1);
    table->slots = make_slots(SLOTS_FIRST);
    table->mask = SLOTS_FIRST - 1;
    bench_arena_make(&table->arena, n * (sizeof(struct entry) + 24 +
                                         depth * sizeof(uintptr_t)));
    return table;
}

static void
floor_destroy(void *context)
{
    struct floor_table *table = context;

    bench_pages_return(table->slots, (table->mask + 1) * sizeof *table->slots);
    bench_arena_free(&table->arena);
    free(table);
}

static void
put(struct floor_table *table, uint64_t slot, uint64_t hash)
{
    uint64_t i = hash & table->mask;

    while (table->slots[i] != 0)
        i = (i + 1) & table->mask;
    table->slots[i] = slot;
}

static void
grow(struct floor_table *table)
{
    uint64_t *const old = table->slots;
    const uint64_t count = table->mask + 1;

    table->slots = make_slots(2 * count);
    table->mask = 2 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        if (old[i] != 0)
            put(table, old[i], entry_of(old[i])->hash);
    }
    bench_pages_return(old, count * sizeof *old);
}

static uint64_t
add(struct floor_table *table, const struct bench_key *key, uint64_t hash)
{
    const size_t key_bytes = (1 + key->words) * 8;
    struct entry *entry =
        bench_arena_take(&table->arena, sizeof *entry + key_bytes);

    if (2 * ++table->count > table->mask)
        grow(table);
    entry->hash = hash;
    memcpy(entry->key, key, key_bytes);
    put(table, hash >> TAG_SHIFT << TAG_SHIFT | (uintptr_t)entry, hash);
    return (uintptr_t)entry;
}

static inline uint64_t
find_or_add(struct floor_table *table, const struct bench_key *key)
{
    const uint64_t hash = bench_hash(key);
    uint64_t i = hash & table->mask;

    for (; table->slots[i] != 0; i = (i + 1) & table->mask) {
        const uint64_t slot = table->slots[i];

        if (slot >> TAG_SHIFT == hash >> TAG_SHIFT &&
            bench_same_key(key_of(entry_of(slot)), key))
            return (uintptr_t)entry_of(slot);
    }
    return add(table, key, hash);
}

BENCH_LOOP(floor_intern, struct floor_table, find_or_add(table, key));

const struct bench_table bench_floor_table = {
    .name = "(lower bound)",
    .create = floor_create,
    .destroy = floor_destroy,
    .intern = floor_intern,
    .concurrent = true, /* while no thread inserts */
    .large = true,
};

static inline uint64_t
find_and_count(struct floor_table *table, const struct bench_key *key)
{
    struct entry *entry = (struct entry *)find_or_add(table, key);

    __atomic_fetch_add(&entry->counters[0], 1, __ATOMIC_RELEASE);
    return entry->hash;
}

BENCH_LOOP(floor_count, struct floor_table, find_and_count(table, key));

const struct bench_table bench_floor_counted = {
    .name = "(lower bound)",
    .create = floor_create,
    .destroy = floor_destroy,
    .intern = floor_count,
    .concurrent = true,
    .large = true,
};

/* ---- one line ---- */

struct lines {
    unsigned char *pages;
    size_t bytes;
    size_t stride;
};

static void *
lines_create(uint32_t n, uint32_t depth)
{
    const size_t line_bytes = 64;
    struct lines *lines = malloc(sizeof *lines);

    if (lines == NULL)
        exit(1);
    lines->stride = (sizeof(struct entry) + depth * sizeof(uintptr_t)) /
                    line_bytes * line_bytes;
    lines->bytes = n * lines->stride;
    lines->pages = bench_pages(lines->bytes);
    memset(lines->pages, 1, lines->bytes);
    return lines;
}

static void
lines_destroy(void *context)
{
    struct lines *lines = context;

    bench_pages_return(lines->pages, lines->bytes);
    free(lines);
}

static uint64_t
lines_read(void *context, const struct bench_stage *stage, uint32_t count)
{
    const struct lines *lines = context;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += lines->pages[bench_staged_index(stage, i) * lines->stride];
    return sum;
}

const struct bench_table bench_line_table = {
    .name = "(one line)",
    .create = lines_create,
    .destroy = lines_destroy,
    .intern = lines_read,
    .concurrent = true,
    .large = true,
};

/* ---- copy ---- */

static void *
copy_create(uint32_t n, uint32_t depth)
{
    struct bench_arena *arena = malloc(sizeof *arena);

    if (arena == NULL)
        exit(1);
    bench_arena_make(
        arena, n * (sizeof(struct entry) + 24 + depth * sizeof(uintptr_t)));
    return arena;
}

static void
copy_destroy(void *context)
{
    bench_arena_free(context);
    free(context);
}

static inline uint64_t
copy_key(struct bench_arena *arena, const struct bench_key *key)
{
    const size_t key_bytes = (1 + key->words) * 8;
    struct entry *entry = bench_arena_take(arena, sizeof *entry + key_bytes);

    memcpy(entry->key, key, key_bytes);
    return (uintptr_t)entry;
}

BENCH_LOOP(copy_all, struct bench_arena, copy_key(table, key));

const struct bench_table bench_copy_table = {
    .name = "(copy)",
    .create = copy_create,
    .destroy = copy_destroy,
    .intern = copy_all,
    .concurrent_inserts = true,
    .large = true,
};
