/*
 * table.c -- the bucket table: from (kind, size, stack) to a row of counters.
 *
 *      slots    [ 0 ][ tag|3|24 ][ 0 ][ tag|1|2 ][ tag|2|17 ] ... 2^slots_log2
 *                                          |   |
 *                 +------------------------+   +-------------+
 *                 v                                          v
 *      entries  row 0: -   1: 64 B, 2, 13 frames   2: ...    |
 *      words    0: 64 B, 1: 13 frames of the heap, 2: the frames of row 1,
 *               15: size of row 2, 16: its shape, 17: its frames ...
 *
 * A slot holds a tag, a row and the index of the row's frames. One
 * compare-and-swap takes a row and its frames from the front of their arrays;
 * they are never returned. Probing is linear and starts at the first slot of a
 * group of 8, which is a cache line. So a lookup reads one line of slots and
 * compares all its tags at once (find_tagged). Then it reads the size, shape
 * (kind and depth) and frames, which lie side by side, while the event's
 * counter is fetched. In a large table these cache misses wait for the slot,
 * but not for each other. The row takes as many of a slot's upper 32 bits as
 * rows_max needs. The others hold the tag, bits of the hash: 18 with 10,000
 * buckets, 12 with a million, 4 at the limit.
 *
 * Why size and shape are stored twice: a snapshot only points to the frames, so
 * it reads the entries, 16 bytes per bucket in memory order. A lookup reads
 * size and shape in front of the frames, and no entry.
 *
 * Invariants
 *   I1  An entry reachable from a slot is complete and never changes again,
 *       except for the flag in `frames_at`; so are its frames and the words
 *       before them.
 *   I2  Two reachable entries never hold the same (kind, size, stack).
 *   I3  An entry's frames_at is 0 (not linked), or TENTATIVE|n (being linked,
 *       or linked a moment ago), or n (linked). A row that lost the race to
 *       link an equal stack goes back to 0 for good: at most one per race.
 *   I4  rows used <= rows_max; frames used <= frames_max.
 *   I5  A slot, once not 0, never changes. Hence two threads that insert the
 *       same stack walk the same slots and meet at the first empty one. The
 *       thread that loses the compare-and-swap compares its key with the
 *       winner's, and walks on if they differ.
 *
 * The compare-and-swap on the slot inserts the bucket. The entry must have its
 * frames_at before: otherwise another thread could find the bucket, count in
 * it, read a profile and miss its own event. So frames_at is stored first,
 * marked TENTATIVE, and a scan of rows checks the slots for a row with this
 * mark.
 *
 * Why nothing is ever unlinked: a reader needs no reclamation scheme, and a
 * signal handler may look up while the thread it interrupted is inserting.
 * Why one word reserves both rows and frames: this makes both bounds exact, and
 * numbers the rows in the order of reservation, newest last.
 *
 * Concurrency: any calls may run together, except for prof_table_check(), which
 * must run alone.
 */
#include "prof/core/table.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/core/compare.h"
#include "prof/core/group.h"
#include "prof/core/hash.h"
#include "prof/core/slot.h"
#include "prof/core/poison.h"

#define TENTATIVE      TABLE_TENTATIVE
#define WORDS_LIMIT    (1U << 31) /* frames_at leaves TENTATIVE free */
#define DEPTH_DEFAULT  32U
#define FRAMES_DEFAULT 16U

_Static_assert(PROF_DEPTH_LIMIT <= UINT16_MAX, "depth is kept in 16 bits");
_Static_assert(sizeof(struct entry) == 16, "four of them are a line");

/* The words before a bucket's frames: their indices relative to the frames. */
enum { SIZE_BEFORE = -KEY_WORDS, SHAPE_BEFORE };

struct key {
    const uintptr_t *frames;
    uint64_t size_bytes;
    uint64_t hash;
    uint32_t depth;
    uint32_t shape;
};

enum prof_status
prof_table_layout(struct table *table, struct table_layout *layout,
                  const struct prof_config *config)
{
    const uint64_t rows = config->buckets_max;
    const uint64_t frames =
        config->frames_max != 0 ? config->frames_max : rows * FRAMES_DEFAULT;
    uint32_t slots_log2 = GROUP_LOG2 + 1; /* at least two groups */
    uint32_t row_bits = 1;

    if (rows == 0 || rows > PROF_BUCKETS_LIMIT ||
        frames >= WORDS_LIMIT - KEY_WORDS * rows ||
        config->depth_max > PROF_DEPTH_LIMIT ||
        (unsigned)config->hash >= PROF_HASH_COUNT)
        return PROF_ERR_CONFIG;
    while ((UINT64_C(1) << slots_log2) < rows + rows / 2)
        slots_log2++; /* about two thirds full at most */
    while (rows >> row_bits != 0)
        row_bits++;

    table->slots_log2 = slots_log2;
    table->slots_mask = (UINT64_C(1) << slots_log2) - 1;
    table->home_mask = table->slots_mask & ~(uint64_t)(GROUP - 1);
    table->row_mask = (UINT32_C(1) << row_bits) - 1;
    table->tag_mask = (uint64_t)~table->row_mask << 32;
    table->rows_max = (uint32_t)rows;
    table->frames_max = (uint32_t)frames;
    table->depth_max =
        config->depth_max != 0 ? config->depth_max : DEPTH_DEFAULT;
    table->hash = config->hash;
    table->few_end = 0;
    if (table->hash == PROF_HASH_MULTILINEAR)
        table->few_end =
            1 + (table->depth_max < HASH_BLOCK ? table->depth_max : HASH_BLOCK);
    layout->slots_bytes = sizeof *table->slots << slots_log2;
    layout->entries_bytes = (rows + 1) * sizeof *table->entries;
    layout->words_bytes =
        (KEY_WORDS + KEY_WORDS * rows + frames) * sizeof *table->words;
    return PROF_OK;
}

/* Depth and kind as an entry stores them (assumptions.h: little-endian). */
static inline uint32_t
shape_of(uint32_t depth, uint32_t kind)
{
    return kind << 16 | depth;
}

static inline uint32_t
depth_of(uint32_t shape)
{
    return shape & UINT16_MAX;
}

static inline uint64_t
hash_of(const struct table *table, const uintptr_t *frames, uint32_t depth,
        uint64_t size_bytes)
{
    if (table->hash == PROF_HASH_MULTILINEAR)
        return prof_hash_multilinear(frames, depth, size_bytes);
    return prof_hash_stack(table->hash, frames, depth, size_bytes);
}

static inline uint64_t
slot_of(const struct table *table, const struct key *key, uint32_t row,
        uint32_t frames_at)
{
    return (key->hash & table->tag_mask) | (uint64_t)row << 32 | frames_at;
}

/* Does a slot with the key's tag lead to this key? An empty slot leads to row
 * 0, whose shape no key has. in: few, true if depth <= HASH_BLOCK */
static inline __attribute__((always_inline)) bool
holds(const struct table *table, uint64_t slot, const struct key *key, bool few)
{
    const uintptr_t *frames = &table->words[(uint32_t)slot];

    return frames[SIZE_BEFORE] == key->size_bytes &&
           frames[SHAPE_BEFORE] == key->shape &&
           (few ? are_few_equal(frames, key->frames, key->depth)
                : are_equal(frames, key->frames, key->depth));
}

/* The row that a slot leads to, if it is the key's; else 0. */
static inline uint32_t
match(const struct table *table, uint64_t slot, const struct key *key)
{
    return has_tag(slot, key->hash, table->tag_mask) &&
                   holds(table, slot, key, false)
               ? row_of(table, slot)
               : 0;
}

/*
 * Walk from slot *index to the slot of the key, or to the first empty one.
 *
 * out:     *index, where the walk ended
 * returns: the key's row, 0 if it has none
 */
static uint32_t
probe(const struct table *table, const struct key *key, uint64_t *index)
{
    uint64_t i = *index;

    for (uint64_t left = table->slots_mask + 1; left > 0;
         left--, i = (i + 1) & table->slots_mask) {
        /* Acquire [pair: slot]: see the entry it leads to (I1). */
        const uint64_t slot = load_acquire(&table->slots[i]);
        uint32_t row;

        if (slot == 0)
            break;
        row = match(table, slot, key);
        if (row != 0)
            return row;
    }
    *index = i;
    return 0;
}

/* Where a row's frames begin. in: used, number of frames of all earlier rows */
static inline uint32_t
frames_at_of(uint32_t row, uint32_t used)
{
    return row * KEY_WORDS + used;
}

/* Take a row and room for its frames. returns: 0 if there is no room for
 * either, which is counted as a drop */
static uint32_t
reserve(struct table *table, uint32_t depth, uint32_t *frames_at)
{
    uint64_t seen = load_relaxed(&table->reserved);
    uint64_t next;

    do {
        const uint32_t rows = (uint32_t)(seen >> 32);
        const uint32_t used = (uint32_t)seen;

        if (rows == table->rows_max) {
            add_relaxed(&table->no_bucket, 1);
            return 0;
        }
        if (depth > table->frames_max - used) {
            add_relaxed(&table->no_frames, 1);
            return 0;
        }
        *frames_at = frames_at_of(rows + 1, used);
        next = (uint64_t)(rows + 1) << 32 | (used + depth);
        /* Relaxed: it hands out numbers; what they name is published below. */
    } while (!cas_relaxed(&table->reserved, &seen, next));
    return (uint32_t)(next >> 32);
}

/* Write the entry of a new row, which no lookup can see yet. */
static uint32_t
prepare(struct table *table, const struct key *key, uint32_t *frames_at)
{
    const uint32_t row = reserve(table, key->depth, frames_at);
    struct entry *entry = &table->entries[row];
    uintptr_t *frames;

    if (row == 0)
        return 0;
    entry->size_bytes = key->size_bytes;
    entry->shape = key->shape;
    frames = &table->words[*frames_at];
    frames[SIZE_BEFORE] = key->size_bytes;
    frames[SHAPE_BEFORE] = key->shape;
    if (key->depth > 0)
        memcpy(frames, key->frames, key->depth * sizeof *key->frames);
    /* Release [pair: entry]: a scan that sees the row sees the entry. */
    store_release(&entry->frames_at, TENTATIVE | *frames_at);
    return row;
}

/* Link a new entry at or after the empty slot `index`, unless another thread
 * links an equal one first. returns: the linked row */
static uint32_t
insert(struct table *table, const struct key *key, uint64_t index)
{
    uint32_t frames_at;
    const uint32_t row = prepare(table, key, &frames_at);
    uint32_t other;

    if (row == 0)
        return 0;
    for (uint64_t tries = 0; tries <= table->slots_mask + 1; tries++) {
        uint64_t seen = 0;

        /*
         * Release [pair: slot]: the entry first, then the slot (I1). Acquire on
         * failure: see the winner's entry.
         */
        if (cas_release_acquire(&table->slots[index], &seen,
                                slot_of(table, key, row, frames_at))) {
            /* Release [pair: entry]: as in prepare(). */
            store_release(&table->entries[row].frames_at, frames_at);
            return row;
        }
        other = match(table, seen, key);
        if (other == 0)
            other = probe(table, key, &index);
        if (other != 0) {
            /* Relaxed: 0 says nothing about any entry. */
            store_relaxed(&table->entries[row].frames_at, 0);
            return other;
        }
    }
    PROF_UNREACHABLE(); /* slots outnumber rows (I4) */
}

/*
 * Walk the table and insert. The key is passed in registers, so that a lookup
 * that needs no walk stores nothing to memory.
 */
static __attribute__((noinline)) uint32_t
intern_slowly(struct table *table, const uintptr_t *frames, uint32_t shape,
              uint64_t size_bytes, uint64_t hash)
{
    const struct key key = {
        .frames = frames,
        .size_bytes = size_bytes,
        .hash = hash,
        .depth = depth_of(shape),
        .shape = shape,
    };
    uint64_t index = home(table, hash);
    const uint32_t row = probe(table, &key, &index);

    return row != 0 ? row : insert(table, &key, index);
}

/*
 * Nearly every key lies in its group, but one in three behind another key. If
 * slots were compared one by one, the CPU could not predict where the walk
 * ends.
 *
 * in:      few, true if depth <= HASH_BLOCK
 */
static inline __attribute__((always_inline)) uint32_t
intern(struct table *table, const uintptr_t *frames, uint32_t shape,
       uint64_t size_bytes, uint64_t hash, const shared_u64 *column, bool few)
{
    const struct key key = {
        .frames = frames,
        .size_bytes = size_bytes,
        .hash = hash,
        .depth = depth_of(shape),
        .shape = shape,
    };
    const shared_u64 *const group = &table->slots[home(table, hash)];
    const uint32_t tagged = find_tagged(group, hash, table->tag_mask);

    if (__builtin_expect(tagged != 0, 1)) {
        /* Acquire [pair: slot]: as in probe(). */
        const uint64_t slot = load_acquire(first_tagged(group, tagged));

        if (column != NULL)
            __builtin_prefetch(&column[row_of(table, slot)], 1);
        if (__builtin_expect(holds(table, slot, &key, few), 1))
            return row_of(table, slot);
    }
    return intern_slowly(table, frames, shape, size_bytes, hash);
}

/* Any depth, any hash. */
static __attribute__((noinline)) uint32_t
intern_any(struct table *table, enum bucket_kind kind, const uintptr_t *frames,
           uint32_t depth, uint64_t size_bytes, const shared_u64 *column)
{
    const uint32_t kept = depth < table->depth_max ? depth : table->depth_max;

    return intern(table, frames, shape_of(kept, kind), size_bytes,
                  hash_of(table, frames, kept, size_bytes), column, false);
}

uint32_t
prof_table_intern_counted(struct table *table, enum bucket_kind kind,
                          const uintptr_t *frames, uint32_t depth,
                          uint64_t size_bytes, const shared_u64 *column)
{
    if (depth >= table->few_end)
        return intern_any(table, kind, frames, depth, size_bytes, column);
    return intern(table, frames, shape_of(depth, kind), size_bytes,
                  prof_hash_multilinear_few(frames, depth, size_bytes), column,
                  true);
}

uint32_t
prof_table_intern(struct table *table, enum bucket_kind kind,
                  const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    return prof_table_intern_counted(table, kind, frames, depth, size_bytes,
                                     NULL);
}

uint32_t
prof_table_rows(const struct table *table)
{
    /* Relaxed: every row that the caller knows was reserved before. */
    return (uint32_t)(load_relaxed(&table->reserved) >> 32);
}

/* A thread that inserts this row is between its two stores, or was when its
 * frames_at was read. So search the slots. */
bool
prof_table_tentative_is_linked(const struct table *table, uint32_t row,
                               uint32_t frames_at)
{
    const struct entry *entry = &table->entries[row];
    const uintptr_t *frames = &table->words[frames_at & ~TENTATIVE];
    const struct key key = {
        .frames = frames,
        .size_bytes = entry->size_bytes,
        .hash = hash_of(table, frames, entry->depth, entry->size_bytes),
        .depth = entry->depth,
        .shape = entry->shape,
    };
    uint64_t index = home(table, key.hash);

    return probe(table, &key, &index) == row;
}

/* Do `depth` frames at `frames_at` lie within the reserved words? */
static bool
are_frames_at(const struct table *table, uint32_t frames_at, uint32_t depth)
{
    const uint32_t end = frames_at_of(prof_table_rows(table),
                                      (uint32_t)load_relaxed(&table->reserved));

    return frames_at >= KEY_WORDS && frames_at <= end &&
           depth <= end - frames_at;
}

static const char *
check_row(const struct table *table, uint32_t row)
{
    const struct entry *entry = &table->entries[row];
    const uint32_t frames_at = load_relaxed(&entry->frames_at) & ~TENTATIVE;

    if (frames_at == 0)
        return NULL;
    if (entry->depth > table->depth_max ||
        (entry->kind & KIND_MASK) < KIND_HEAP ||
        (entry->kind & KIND_MASK) > KIND_MUTEX)
        return "table I1";
    return are_frames_at(table, frames_at, entry->depth) ? NULL : "table I3";
}

/* Does a slot hold a reserved row and the frames_at of this row? (An empty slot
 * holds 0 and 0, and row 0 has frames_at 0.) */
static bool
is_sound_slot(const struct table *table, uint64_t slot)
{
    const uint32_t row = row_of(table, slot);

    return row <= prof_table_rows(table) &&
           (load_relaxed(&table->entries[row].frames_at) & ~TENTATIVE) ==
               (uint32_t)slot;
}

/* Check indices before anything is read through them. */
static const char *
check_places(const struct table *table)
{
    const uint32_t rows = prof_table_rows(table);

    for (uint32_t row = 1; row <= rows; row++) {
        const char *broken = check_row(table, row);

        if (broken != NULL)
            return broken;
    }
    for (uint64_t i = 0; i >> table->slots_log2 == 0; i++) {
        if (!is_sound_slot(table, load_relaxed(&table->slots[i])))
            return "table I3";
    }
    return NULL;
}

const char *
prof_table_check(const struct table *table)
{
    const uint32_t rows = prof_table_rows(table);
    const char *broken;
    uint64_t linked = 0;
    uint64_t slots_used = 0;

    if (rows > table->rows_max ||
        (uint32_t)load_relaxed(&table->reserved) > table->frames_max)
        return "table I4";
    broken = check_places(table);
    if (broken != NULL)
        return broken;
    for (uint32_t row = 1; row <= rows; row++) {
        if (prof_table_bucket(table, row).entry == NULL)
            continue;
        if (!prof_table_tentative_is_linked(
                table, row, load_relaxed(&table->entries[row].frames_at)))
            return "table I2"; /* an equal stack comes first */
        linked++;
    }
    for (uint64_t i = 0; i >> table->slots_log2 == 0; i++)
        slots_used += load_relaxed(&table->slots[i]) != 0;
    return linked == slots_used ? NULL : "table I3";
}
