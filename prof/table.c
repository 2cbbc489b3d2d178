/*
 * table.c -- the bucket table: from (kind, size, stack) to a row of counters.
 *
 *      slots     [ 0 ][ tag|3|31 ][ 0 ][ tag|1|1 ][ tag|2|16 ] ... 2^slots_log2
 *                           |                |
 *                           |                +----------+
 *                           v                           v
 *      words     [ entry at 1: size, row 1, depth 13, frames... ][ at 16 ...
 *      entry_of  row:  0 -   1 -> 1   2 -> 16   3 -> 31   4 ...
 *
 * A slot holds a tag, a row and the place of an entry. Entries and rows are
 * taken from the front of their arrays with one compare-and-swap and never
 * returned; probing is linear. So a lookup reads one line of slots and then the
 * entry, front to back. The row, which the entry has too, is in the slot so
 * that the counter of a recorded event is fetched while the entry is compared:
 * two misses of a large table one beside the other, instead of one after it. It
 * takes as many of the upper 32 bits as rows_max has; the tag, bits of the
 * hash, has the rest: 18 bits with 10,000 buckets, 12 with a million, 4 at the
 * limit.
 *
 * Invariants
 *   I1  An entry reachable from a slot is complete and never changes again.
 *   I2  Two reachable entries never hold the same (kind, size, stack).
 *   I3  entry_of[row] is 0 (not linked), or TENTATIVE|entry (being linked, or
 *       linked a moment ago), or entry (linked). A row that lost the race to
 *       link an equal stack stays at 0 for good: at most one a race.
 *   I4  rows used <= rows_max; words used <= rows used headers + frames_max.
 *   I5  A slot, once not 0, never changes. Hence two inserters of one stack
 *       walk the same slots and meet at the first empty one: the loser of the
 *       compare-and-swap looks at what won, and goes on if it is another stack.
 *
 * The moment of insertion is the compare-and-swap on the slot. The row must be
 * in entry_of before it: otherwise another thread could find the bucket, count
 * in it, read a profile and miss its own event. So the row is put there first,
 * marked TENTATIVE, and whoever scans rows asks the slots about such a row.
 *
 * Why nothing is ever unlinked: a reader needs no reclamation scheme, and a
 * signal handler may look up while the thread it interrupted is inserting.
 * Why rows and words are one reservation word: it makes both bounds exact, and
 * order of rows is order of reservation, newest last.
 *
 * Who may run with whom: intern, rows and entry need nothing; check must be
 * alone.
 */
#include "table.h"

#include <string.h>

#include "check.h"
#include "hash.h"
#include "poison.h"

#define TENTATIVE      TABLE_TENTATIVE
#define ENTRY_WORDS    (sizeof(struct entry) / sizeof(uint64_t))
#define LINE_FRAMES    8U         /* of a cache line */
#define WORDS_LIMIT    (1U << 31) /* an entry's place leaves TENTATIVE free */
#define DEPTH_DEFAULT  32U
#define FRAMES_DEFAULT 16U

_Static_assert(sizeof(struct entry) % sizeof(uint64_t) == 0, "whole words");
_Static_assert(PROF_DEPTH_LIMIT <= UINT16_MAX, "depth is kept in 16 bits");

struct key {
    const uintptr_t *frames;
    uint64_t size_bytes;
    uint64_t hash;
    uint32_t depth;
    enum bucket_kind kind;
    const shared_u64 *column; /* fetch the row's counter; NULL: none */
};

enum prof_status
prof_table_layout(struct table *table, struct table_layout *layout,
                  const struct prof_config *config)
{
    const uint64_t rows = config->buckets_max;
    const uint64_t frames =
        config->frames_max != 0 ? config->frames_max : rows * FRAMES_DEFAULT;
    uint64_t words;
    uint32_t slots_log2 = 1;

    if (rows == 0 || rows > PROF_BUCKETS_LIMIT || frames >= WORDS_LIMIT ||
        config->depth_max > PROF_DEPTH_LIMIT ||
        (unsigned)config->hash >= PROF_HASH_COUNT)
        return PROF_ERR_CONFIG;
    words = 1 + rows * ENTRY_WORDS + frames; /* place 0 means "none" */
    if (words >= WORDS_LIMIT)
        return PROF_ERR_CONFIG;
    while ((UINT64_C(1) << slots_log2) < rows + rows / 2)
        slots_log2++; /* about two thirds full at most: a probe ends */
    table->row_bits = 1;
    while (rows >> table->row_bits != 0)
        table->row_bits++;

    table->slots_log2 = slots_log2;
    table->rows_max = (uint32_t)rows;
    table->frames_max = (uint32_t)frames;
    table->depth_max =
        config->depth_max != 0 ? config->depth_max : DEPTH_DEFAULT;
    table->hash = config->hash;
    layout->slots_bytes = sizeof *table->slots << slots_log2;
    layout->words_bytes = words * sizeof *table->words;
    layout->entry_of_bytes = (rows + 1) * sizeof *table->entry_of;
    return PROF_OK;
}

static inline struct entry *
entry_at(const struct table *table, uint32_t place)
{
    return (struct entry *)(void *)&table->words[place];
}

static inline bool
entry_holds(const struct entry *entry, const struct key *key)
{
    return entry->size_bytes == key->size_bytes && entry->depth == key->depth &&
           entry->kind == key->kind &&
           (key->depth == 0 || memcmp(entry->frames, key->frames,
                                      key->depth * sizeof *key->frames) == 0);
}

static inline uint64_t
slot_of(const struct table *table, const struct key *key, uint32_t row,
        uint32_t place)
{
    const uint64_t tag = (uint32_t)key->hash >> table->row_bits;

    return (tag << table->row_bits | row) << 32 | place;
}

/* Does this slot lead to the key's entry? NULL if not. */
static inline const struct entry *
slot_match(const struct table *table, uint64_t slot, const struct key *key)
{
    const uint32_t upper = (uint32_t)(slot >> 32);
    const uint32_t row_mask = (UINT32_C(1) << table->row_bits) - 1;
    const struct entry *entry;

    if (((upper ^ (uint32_t)key->hash) & ~row_mask) != 0)
        return NULL;
    if (key->column != NULL)
        __builtin_prefetch(&key->column[upper & row_mask], 1);
    entry = entry_at(table, (uint32_t)slot);
    /* All its lines at once: how long the compare is, it learns from the first
     * only, as compilers take the entry's depth for the key's. */
    for (uint32_t i = LINE_FRAMES - ENTRY_WORDS; i < key->depth;
         i += LINE_FRAMES)
        __builtin_prefetch(&entry->frames[i]);
    return entry_holds(entry, key) ? entry : NULL;
}

/*
 * Walk from the key's home slot to its entry, or to the first empty slot.
 *
 * out: *index, where the walk ended
 */
static inline const struct entry *
probe(const struct table *table, const struct key *key, uint64_t *index)
{
    const uint64_t mask = (UINT64_C(1) << table->slots_log2) - 1;
    uint64_t i = *index;

    for (uint64_t left = mask + 1; left > 0; left--, i = (i + 1) & mask) {
        /* Acquire [pair: slot]: see the entry it leads to (I1). */
        const uint64_t slot = load_acquire(&table->slots[i]);
        const struct entry *entry;

        if (slot == 0)
            break;
        entry = slot_match(table, slot, key);
        if (entry != NULL)
            return entry;
    }
    *index = i;
    return NULL;
}

static inline uint64_t
home(const struct table *table, const struct key *key)
{
    return key->hash >> (64 - table->slots_log2);
}

/* Take a row and room for an entry; 0 and a counted drop if either is out. */
static uint32_t
reserve(struct table *table, uint32_t depth, uint32_t *place)
{
    const uint32_t need = (uint32_t)ENTRY_WORDS + depth;
    uint64_t seen = load_relaxed(&table->reserved);
    uint64_t next;

    do {
        const uint32_t rows = (uint32_t)(seen >> 32);
        const uint32_t used = (uint32_t)seen;

        if (rows == table->rows_max) {
            add_relaxed(&table->no_bucket, 1);
            return 0;
        }
        /* Room for entries' headers is set aside; frames are what runs out. */
        if (depth > table->frames_max - (used - rows * (uint32_t)ENTRY_WORDS)) {
            add_relaxed(&table->no_frames, 1);
            return 0;
        }
        *place = 1 + used; /* place 0 means "none" */
        next = (uint64_t)(rows + 1) << 32 | (used + need);
        /* Relaxed: it hands out numbers; what they name is published below. */
    } while (!cas_relaxed(&table->reserved, &seen, next));
    return (uint32_t)(next >> 32);
}

/* Write the entry of a new row where no lookup can see it yet. */
static uint32_t
prepare(struct table *table, const struct key *key, uint32_t *place)
{
    const uint32_t row = reserve(table, key->depth, place);
    struct entry *entry;

    if (row == 0)
        return 0;
    entry = entry_at(table, *place);
    entry->size_bytes = key->size_bytes;
    entry->row = row;
    entry->depth = (uint16_t)key->depth;
    entry->kind = (uint16_t)key->kind;
    if (key->depth > 0)
        memcpy(entry->frames, key->frames, key->depth * sizeof *key->frames);
    /* Release [pair: entry]: a scan that sees the row sees the entry. */
    store_release(&table->entry_of[row], TENTATIVE | *place);
    return row;
}

/* Link a new entry at or after the empty slot `index`; or find who did. */
static __attribute__((noinline)) uint32_t
insert(struct table *table, const struct key *key, uint64_t index)
{
    const uint64_t slots = UINT64_C(1) << table->slots_log2;
    uint32_t place;
    const uint32_t row = prepare(table, key, &place);
    const struct entry *entry = NULL;

    if (row == 0)
        return 0;
    for (uint64_t tries = 0; tries <= slots; tries++) {
        uint64_t seen = 0;

        /*
         * Release [pair: slot]: entry first, then the way to it (I1). Acquire
         * on failure: what won is looked at.
         */
        if (cas_release_acquire(&table->slots[index], &seen,
                                slot_of(table, key, row, place))) {
            /* Release [pair: entry]: as in prepare(). */
            store_release(&table->entry_of[row], place);
            return row;
        }
        entry = slot_match(table, seen, key);
        if (entry == NULL)
            entry = probe(table, key, &index);
        if (entry != NULL) {
            /* Relaxed: 0 says nothing about any entry. */
            store_relaxed(&table->entry_of[row], 0);
            return entry->row;
        }
    }
    PROF_UNREACHABLE(); /* slots outnumber rows (I4) */
}

uint32_t
prof_table_intern_counted(struct table *table, enum bucket_kind kind,
                          const uintptr_t *frames, uint32_t depth,
                          uint64_t size_bytes, const shared_u64 *column)
{
    const uint32_t kept = depth < table->depth_max ? depth : table->depth_max;
    const struct key key = {
        .frames = frames,
        .size_bytes = size_bytes,
        .hash = prof_hash_stack(table->hash, frames, kept, size_bytes),
        .depth = kept,
        .kind = kind,
        .column = column,
    };
    uint64_t index = home(table, &key);
    const struct entry *entry = probe(table, &key, &index);

    return entry != NULL ? entry->row : insert(table, &key, index);
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
    /* Relaxed: a row the caller knows of was reserved before it knew. */
    return (uint32_t)(load_relaxed(&table->reserved) >> 32);
}

/* A row still marked: its inserter is between its two stores. Ask the slots. */
static bool
tentative_is_linked(const struct table *table, const struct entry *entry)
{
    const struct key key = {
        .frames = entry->frames,
        .size_bytes = entry->size_bytes,
        .hash = prof_hash_stack(table->hash, entry->frames, entry->depth,
                                entry->size_bytes),
        .depth = entry->depth,
        .kind = (enum bucket_kind)entry->kind,
    };
    uint64_t index = home(table, &key);

    return probe(table, &key, &index) == entry;
}

const struct entry *
prof_table_tentative_entry(const struct table *table, uint32_t place)
{
    const struct entry *entry = entry_at(table, place & ~TENTATIVE);

    return tentative_is_linked(table, entry) ? entry : NULL;
}

/* Does an entry's header lie at `place`, in words that were handed out? */
static bool
is_entry_place(const struct table *table, uint32_t place)
{
    const uint32_t used = (uint32_t)load_relaxed(&table->reserved);

    return place >= 1 && place <= used && used - place >= ENTRY_WORDS - 1;
}

static const char *
check_row(const struct table *table, uint32_t row)
{
    const uint32_t place = load_relaxed(&table->entry_of[row]) & ~TENTATIVE;
    const struct entry *entry;

    if (place == 0)
        return NULL;
    if (!is_entry_place(table, place))
        return "table I3";
    entry = entry_at(table, place);
    if (entry->row != row || entry->depth > table->depth_max ||
        (entry->kind & KIND_MASK) < KIND_HEAP ||
        (entry->kind & KIND_MASK) > KIND_MUTEX)
        return "table I1";
    return NULL;
}

/* Does a slot lead to an entry whose row leads back to it? */
static bool
is_sound_slot(const struct table *table, uint64_t slot)
{
    const uint32_t place = (uint32_t)slot;
    uint32_t row;

    if (!is_entry_place(table, place))
        return false;
    row = entry_at(table, place)->row;
    return row >= 1 && row <= prof_table_rows(table) &&
           (load_relaxed(&table->entry_of[row]) & ~TENTATIVE) == place;
}

/* Places first: what they lead to is read only once they are sound. */
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
        const uint64_t slot = load_relaxed(&table->slots[i]);

        if (slot != 0 && !is_sound_slot(table, slot))
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
        (uint32_t)load_relaxed(&table->reserved) >
            rows * (uint32_t)ENTRY_WORDS + table->frames_max)
        return "table I4";
    broken = check_places(table);
    if (broken != NULL)
        return broken;
    for (uint32_t row = 1; row <= rows; row++) {
        const struct entry *entry = prof_table_entry(table, row);

        if (entry == NULL)
            continue;
        if (!tentative_is_linked(table, entry))
            return "table I2"; /* an equal stack is found before this one */
        linked++;
    }
    for (uint64_t i = 0; i >> table->slots_log2 == 0; i++)
        slots_used += load_relaxed(&table->slots[i]) != 0;
    return linked == slots_used ? NULL : "table I3";
}
