/*
 * visited.c -- see visited.h.
 */
#include "explore/search/visited.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "explore/engine/need.h"

enum { SLOTS_MIN = 1 << 10, TABLES = 256, TABLE_SLOTS_MIN = 1 << 6 };

/* One of a shared set's tables; the set's `keys` and `slots` are unused. */
struct table {
    atomic_flag locked;
    uint64_t (*keys)[2];
    uint64_t slots;
    uint64_t count;
};

struct sim_visited_shared {
    size_t bytes;         /* of the mapping, address space only at first */
    _Atomic size_t taken; /* of it */
    _Atomic uint64_t count;
    struct table tables[TABLES];
};

/* ---- One table ---- */

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t
find(uint64_t (*keys)[2], uint64_t slots, uint64_t low, uint64_t high)
{
    uint64_t i = low & (slots - 1);

    while ((keys[i][0] | keys[i][1]) != 0 &&
           (keys[i][0] != low || keys[i][1] != high))
        i = (i + 1) & (slots - 1);
    return i;
}

static void
move(uint64_t (*from)[2], uint64_t from_slots, uint64_t (*to)[2],
     uint64_t to_slots)
{
    for (uint64_t i = 0; i < from_slots; i++) {
        const uint64_t low = from[i][0];
        const uint64_t high = from[i][1];

        if ((low | high) != 0) {
            const uint64_t at = find(to, to_slots, low, high);

            to[at][0] = low;
            to[at][1] = high;
        }
    }
}

static bool
grow(struct sim_visited *set)
{
    const uint64_t slots = set->slots * 2;
    uint64_t(*keys)[2] = calloc(slots, sizeof *keys);

    if (keys == NULL)
        return false;
    move(set->keys, set->slots, keys, slots);
    free(set->keys);
    set->keys = keys;
    set->slots = slots;
    return true;
}

/* ---- Shared ---- */

static struct table *
lock_table(const struct sim_visited *set, const uint64_t key[2])
{
    struct table *t = &set->shared->tables[key[1] >> 56];

    while (atomic_flag_test_and_set_explicit(&t->locked, memory_order_acquire))
        sched_yield();
    return t;
}

static void
unlock_table(struct table *t)
{
    atomic_flag_clear_explicit(&t->locked, memory_order_release);
}

/* Give the table zeroed room of twice the size in the mapping; its old room
 * goes back to the system. */
static bool
grow_table(struct sim_visited_shared *shared, struct table *t)
{
    const uint64_t slots = t->slots != 0 ? t->slots * 2 : TABLE_SLOTS_MIN;
    const size_t bytes = (size_t)slots * sizeof *t->keys;
    const size_t at = atomic_fetch_add(&shared->taken, bytes);
    uint64_t(*keys)[2];

    if (at + bytes > shared->bytes)
        return false;
    keys = (uint64_t(*)[2])(void *)((char *)shared + at);
    if (t->slots != 0) {
        const uintptr_t page = 4096;
        const uintptr_t from = ((uintptr_t)t->keys + page - 1) & ~(page - 1);
        const uintptr_t to = (uintptr_t)(t->keys + t->slots) & ~(page - 1);

        move(t->keys, t->slots, keys, slots);
        if (to > from)
            madvise((char *)shared + (from - (uintptr_t)shared), to - from,
                    MADV_REMOVE);
    }
    t->keys = keys;
    t->slots = slots;
    return true;
}

static bool
insert_shared(struct sim_visited *set, const uint64_t key[2])
{
    struct sim_visited_shared *shared = set->shared;
    struct table *t = lock_table(set, key);
    uint64_t i = 0;
    bool found = false;

    if (t->slots != 0) {
        i = find(t->keys, t->slots, key[0], key[1]);
        found = (t->keys[i][0] | t->keys[i][1]) != 0;
    }
    if (found || atomic_load_explicit(&shared->count, memory_order_relaxed) >=
                     set->count_max) {
        set->full |= !found;
        unlock_table(t);
        return found;
    }
    if (t->count >= t->slots / 4 * 3) {
        if (!grow_table(shared, t)) {
            set->full = true;
            unlock_table(t);
            return false;
        }
        i = find(t->keys, t->slots, key[0], key[1]);
    }
    t->keys[i][0] = key[0];
    t->keys[i][1] = key[1];
    t->count++;
    unlock_table(t);
    atomic_fetch_add_explicit(&shared->count, 1, memory_order_relaxed);
    return false;
}

static bool
contains_shared(const struct sim_visited *set, const uint64_t key[2])
{
    struct table *t = lock_table(set, key);
    bool found = false;

    if (t->slots != 0) {
        const uint64_t i = find(t->keys, t->slots, key[0], key[1]);

        found = (t->keys[i][0] | t->keys[i][1]) != 0;
    }
    unlock_table(t);
    return found;
}

/* ---- Sets ---- */

void
sim_visited_init(struct sim_visited *set, uint64_t count_max)
{
    *set = (struct sim_visited){.slots = SLOTS_MIN, .count_max = count_max};
    set->keys = sim_need(calloc(SLOTS_MIN, sizeof *set->keys));
}

void
sim_visited_init_shared(struct sim_visited *set, uint64_t count_max)
{
    /* A table has up to 8/3 slots per key, and its old rooms took as many. */
    const size_t bytes =
        (size_t)count_max * 6 * sizeof *set->keys + ((size_t)1 << 24);
    struct sim_visited_shared *shared =
        sim_need(mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

    *set = (struct sim_visited){.count_max = count_max};
    shared->bytes = bytes;
    shared->taken = (sizeof *shared + 4095) & ~(size_t)4095;
    set->shared = shared;
}

void
sim_visited_close(struct sim_visited *set)
{
    if (set->shared != NULL)
        munmap(set->shared, set->shared->bytes);
    set->shared = NULL;
    free(set->keys);
    set->keys = NULL;
}

void
sim_visited_clear(struct sim_visited *set)
{
    if (set->shared != NULL) {
        const uint64_t count_max = set->count_max;

        sim_visited_close(set);
        sim_visited_init_shared(set, count_max);
        return;
    }
    memset(set->keys, 0, set->slots * sizeof *set->keys);
    set->count = 0;
    set->full = false;
}

bool
sim_visited_insert(struct sim_visited *set, const uint64_t key[2])
{
    uint64_t i;

    if (set->shared != NULL)
        return insert_shared(set, key);
    i = find(set->keys, set->slots, key[0], key[1]);
    if ((set->keys[i][0] | set->keys[i][1]) != 0)
        return true;
    if (set->count >= set->count_max) {
        set->full = true;
        return false;
    }
    if (set->count >= set->slots / 4 * 3) {
        if (!grow(set)) {
            set->full = true;
            return false;
        }
        i = find(set->keys, set->slots, key[0], key[1]);
    }
    set->keys[i][0] = key[0];
    set->keys[i][1] = key[1];
    set->count++;
    return false;
}

bool
sim_visited_contains(const struct sim_visited *set, const uint64_t key[2])
{
    uint64_t i;

    if (set->shared != NULL)
        return contains_shared(set, key);
    i = find(set->keys, set->slots, key[0], key[1]);
    return (set->keys[i][0] | set->keys[i][1]) != 0;
}

uint64_t
sim_visited_count(const struct sim_visited *set)
{
    return set->shared != NULL ? atomic_load(&set->shared->count) : set->count;
}

static void
each_of(uint64_t (*keys)[2], uint64_t slots,
        void (*take)(void *context, const uint64_t key[2]), void *context)
{
    for (uint64_t i = 0; i < slots; i++) {
        if ((keys[i][0] | keys[i][1]) != 0)
            take(context, keys[i]);
    }
}

void
sim_visited_each(const struct sim_visited *set,
                 void (*take)(void *context, const uint64_t key[2]),
                 void *context)
{
    if (set->shared == NULL) {
        each_of(set->keys, set->slots, take, context);
        return;
    }
    for (uint32_t i = 0; i < TABLES; i++)
        each_of(set->shared->tables[i].keys, set->shared->tables[i].slots, take,
                context);
}
