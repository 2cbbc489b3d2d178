/* table.h -- the bucket table; its theory is in table.c. */
#ifndef PROF_CORE_TABLE_H
#define PROF_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/core/atomic.h"
#include "prof/prof.h"

/* Words before a bucket's frames: its size and its shape. */
enum { KEY_WORDS = 2 };

enum bucket_kind { KIND_HEAP = 1, KIND_BLOCK, KIND_MUTEX };

/* The bits of a heap bucket's kind above these hold the rate at which it was
 * sampled. */
#define KIND_BITS 4
#define KIND_MASK ((1U << KIND_BITS) - 1)

/*
 * A bucket's key without its frames; by row. Immutable once linked (table.c,
 * I1), except for the flag in `frames_at`.
 */
struct entry {
    uint64_t size_bytes;  /* 0 for contention */
    shared_u32 frames_at; /* index of its frames; any thread (I3) */
    union {
        struct {
            uint16_t depth;
            uint16_t kind; /* enum bucket_kind */
        };
        uint32_t shape; /* both, compared at once */
    };
};

struct table {
    shared_u64 *slots;     /* any thread; 0 or tag, row and frames_at */
    struct entry *entries; /* by row */
    uintptr_t *words;      /* keys; each immutable once linked (I1) */
    uint64_t tag_mask;     /* the tag's bits in a slot; immutable after init, as
                              the fields below */
    uint64_t slots_mask;
    uint64_t home_mask; /* the bits of a hash that give its first slot */
    uint32_t row_mask;  /* in a slot's upper half; the rest is the tag */
    uint32_t depth_max;
    uint32_t few_end; /* smaller depths are hashed inline */
    enum prof_hash hash;
    uint32_t slots_log2;
    uint32_t rows_max;
    uint32_t frames_max;
    shared_u64 reserved;  /* rows << 32 | frames used; any thread, only grows */
    shared_u64 no_bucket; /* events dropped, by cause; any thread */
    shared_u64 no_frames;
};

/* Sizes of a table's arrays; see prof_table_layout(). */
struct table_layout {
    size_t slots_bytes;
    size_t entries_bytes;
    size_t words_bytes;
};

/*
 * Take sizes and limits from the configuration.
 *
 * out:     *table, all but its three arrays; *layout, their sizes
 * returns: PROF_OK, PROF_ERR_CONFIG
 */
enum prof_status prof_table_layout(struct table *table,
                                   struct table_layout *layout,
                                   const struct prof_config *config);

/* in: array, words_bytes of zeros. returns: the table's words */
static inline uintptr_t *
prof_table_words(void *array)
{
    return (uintptr_t *)array + KEY_WORDS; /* an empty slot leads to a key,
                                              too */
}

/*
 * Find the bucket of (kind, size, stack), or link a new one.
 *
 * returns: its row; 0 if there is no room (the drop is counted)
 * context: any thread, signal handlers included; lock-free
 */
uint32_t prof_table_intern(struct table *table, enum bucket_kind kind,
                           const uintptr_t *frames, uint32_t depth,
                           uint64_t size_bytes);

/*
 * As prof_table_intern(); also prefetches the row's counter in `column`, to
 * which the caller is about to add.
 */
uint32_t prof_table_intern_counted(struct table *table, enum bucket_kind kind,
                                   const uintptr_t *frames, uint32_t depth,
                                   uint64_t size_bytes,
                                   const shared_u64 *column);

/* returns: rows reserved so far; rows 1 .. that many may be linked */
uint32_t prof_table_rows(const struct table *table);

/* A row's entry is being linked, or was a moment ago (table.c, I3). */
#define TABLE_TENTATIVE (1U << 31)

/* returns: whether a row whose frames_at is TENTATIVE is linked. in: frames_at,
 * as read before; by now it may be 0 */
bool prof_table_tentative_is_linked(const struct table *table, uint32_t row,
                                    uint32_t frames_at);

/* An entry, and where its frames are. */
struct bucket {
    const struct entry *entry;
    const uintptr_t *frames;
};

/*
 * returns: the bucket of a linked row; entry is NULL if the row is not (or not
 *          yet) linked
 * context: any thread
 */
static inline struct bucket
prof_table_bucket(const struct table *table, uint32_t row)
{
    struct bucket bucket = {.entry = &table->entries[row]};
    /* Acquire [pair: entry]: see the entry, written before its frames_at. */
    const uint32_t frames_at = load_acquire(&bucket.entry->frames_at);

    if (frames_at == 0 ||
        ((frames_at & TABLE_TENTATIVE) != 0 &&
         !prof_table_tentative_is_linked(table, row, frames_at)))
        bucket.entry = NULL;
    bucket.frames = &table->words[frames_at & ~TABLE_TENTATIVE];
    return bucket;
}

/* returns: NULL, or the name of the first broken invariant of table.c */
const char *prof_table_check(const struct table *table);

#endif
