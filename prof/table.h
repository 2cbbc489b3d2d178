/* table.h -- the bucket table; its theory is in table.c. */
#ifndef PROF_TABLE_H
#define PROF_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "prof/prof.h"

enum bucket_kind { KIND_HEAP = 1, KIND_BLOCK, KIND_MUTEX };

/* Above these bits of a kind, for the heap: which rate it was sampled at. */
#define KIND_BITS 4
#define KIND_MASK ((1U << KIND_BITS) - 1)

/* What identifies a bucket; immutable once linked (table.c, I1). */
struct entry {
    uint64_t size_bytes; /* 0 for contention */
    uint32_t row;        /* its place in every column of counters */
    uint16_t depth;
    uint16_t kind; /* enum bucket_kind */
    uintptr_t frames[];
};

struct table {
    shared_u64 *slots;    /* any thread; 0 or tag, row and entry */
    uint64_t *words;      /* entries; each immutable once linked (I1) */
    shared_u32 *entry_of; /* by row; any thread (I3) */
    shared_u64 reserved;  /* rows << 32 | words used; any thread, only grows */
    uint32_t slots_log2;  /* this and below: immutable after init */
    uint32_t row_bits;    /* of a slot's upper half; the rest is the tag */
    uint32_t rows_max;
    uint32_t frames_max;
    uint32_t depth_max;
    enum prof_hash hash;
    shared_u64 no_bucket; /* events dropped, by cause; any thread */
    shared_u64 no_frames;
};

/* Sizes of a table's arrays; see prof_table_layout(). */
struct table_layout {
    size_t slots_bytes;
    size_t words_bytes;
    size_t entry_of_bytes;
};

/*
 * Take sizes and limits from the configuration.
 *
 * out:     *table, all but its three arrays; *layout, how long those must be
 * returns: PROF_OK, PROF_ERR_CONFIG
 */
enum prof_status prof_table_layout(struct table *table,
                                   struct table_layout *layout,
                                   const struct prof_config *config);

/*
 * Find the bucket of (kind, size, stack), or link a new one.
 *
 * returns: its row, 0 if there is no room (counted)
 * context: any thread, signal handlers included; lock-free
 */
uint32_t prof_table_intern(struct table *table, enum bucket_kind kind,
                           const uintptr_t *frames, uint32_t depth,
                           uint64_t size_bytes);

/*
 * As prof_table_intern(), for a caller that is about to add to the row's
 * counter in `column`: it is fetched meanwhile.
 */
uint32_t prof_table_intern_counted(struct table *table, enum bucket_kind kind,
                                   const uintptr_t *frames, uint32_t depth,
                                   uint64_t size_bytes,
                                   const shared_u64 *column);

/* returns: rows reserved so far; rows 1 .. that many may be linked */
uint32_t prof_table_rows(const struct table *table);

/* A row's entry is being linked, or was a moment ago (table.c, I3). */
#define TABLE_TENTATIVE (1U << 31)

/* returns: as prof_table_entry(), for a row with this TENTATIVE place */
const struct entry *prof_table_tentative_entry(const struct table *table,
                                               uint32_t place);

/*
 * returns: the entry of a linked row, NULL if the row is not (or not yet)
 *          linked
 * context: any thread
 */
static inline const struct entry *
prof_table_entry(const struct table *table, uint32_t row)
{
    /* Acquire [pair: entry]: the entry, written before its place. */
    const uint32_t place = load_acquire(&table->entry_of[row]);

    if (place == 0)
        return NULL;
    if ((place & TABLE_TENTATIVE) != 0)
        return prof_table_tentative_entry(table, place);
    return (const struct entry *)(const void *)&table->words[place];
}

/* Fetch the entry of a row that is read soon. */
static inline void
prof_table_fetch(const struct table *table, uint32_t row)
{
    /* Relaxed: nothing is read at this place. */
    const uint32_t place = load_relaxed(&table->entry_of[row]);

    __builtin_prefetch(&table->words[place & ~TABLE_TENTATIVE]);
}

/* returns: NULL, or the name of the first broken invariant of table.c */
const char *prof_table_check(const struct table *table);

#endif
