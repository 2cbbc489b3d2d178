/*
 * counters.c -- allocations and frees of each row, counted per processor.
 *
 *      processor 0      slot 0  | allocs frees | allocs frees | ...   by row
 *                       slot 1  | ...         4 bytes each
 *                       slot 2
 *      processor 1      the same
 *      ...
 *      carried          the carries of all processors together
 *      published        the published sum of each slot
 *
 * A counter only grows, and only its processor adds to it: one plain addition
 * to memory, with no lock prefix and no cache line that moves between
 * processors. Publishing a slot records its sum:
 *
 *      published := sum over processors
 *
 * So sum - published is still waiting in the slot, and the published count of
 * a row is the sum of `published` over its slots. Nothing is ever moved or
 * cleared. An event that arrives while its slot is being published is in this
 * sum or in the next one.
 *
 *      cycle      0     1     2     3        one row, allocations only
 *      slot 2     5     5     5 *   9        5 events in cycle 0, 4 in cycle 3
 *      published  0     0     5     5        of slot 2; * flush of cycle 2
 *      waiting    5     5     0     4
 *
 * Two stages (PROF_HEAP_STAGES): events are added to slots PREVIOUS and RECENT.
 * A rotation moves no counts. It notes the sum of RECENT in published[MOVED],
 * and the next rotation makes this sum published.
 *
 *      rotation   published[PREVIOUS] := sum of PREVIOUS
 *                 published[RECENT]   := published[MOVED]
 *                 published[MOVED]    := sum of RECENT
 *
 * Carries. A processor's counter has 32 bits. An addition that wraps it to 0
 * adds 1 to the slot's `carried`, which all processors share; sums have 64
 * bits. Until a counter wraps or a sum exceeds 32 bits, all upper halves
 * (`carried`, `published_high`) are 0. They are then not read, and their pages
 * stay untouched.
 *
 * Invariants
 *   I1  A counter is written by its processor alone, and only grows (modulo
 *       2^32, with a carry).
 *   I2  published never exceeds what was counted; both are 64-bit numbers that
 *       wrap silently. (Between a counter's wrap and its carry, a slot to which
 *       threads still add reads 2^32 too small; the next read is right.)
 *   I3  While `carries` is 0 all upper halves are 0.
 *   I4  While events may arrive, all frees of a row are read before its
 *       allocations, over all processors and slots.
 *
 * Why a signal handler may count on the processor that it interrupts: the
 * addition is one instruction (atomic.h). Why the pair `free` is needed: a free
 * and its allocation may happen on different processors, and a reader that sees
 * the free must see the allocation.
 */
#include "prof/core/counters.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

enum { LINE = PROF_BLOCK_ALIGN / sizeof(shared_u64) }; /* rows: a cache line */

/* The top bit of each half of a word. */
#define HALVES_TOP (UINT64_C(1) << 63 | UINT64_C(1) << 31)

static inline size_t
half_index(uint32_t row, enum half half)
{
    return (size_t)row * HALVES + half;
}

void
prof_counters_carry(struct prof_proc *proc, uint32_t slot, uint32_t row,
                    enum half half)
{
    struct counters *counters = &proc->prof->counters;

    store_relaxed(&counters->carries, 1);
    signal_fence(); /* I3, also of what a fork copies */
    /* Relaxed: see I2; a slot at rest is ordered by what put it to rest. */
    add_relaxed(&counters->carried[slot % COUNTER_SLOTS][half_index(row, half)],
                1);
}

static inline bool
has_carries(const struct prof *prof)
{
    return load_relaxed(&prof->counters.carries) != 0;
}

/* ---- sums ---- */

static inline uint64_t
carried_of(const struct prof *prof, uint32_t slot, uint32_t row, enum half half)
{
    const shared_u32 *column = prof->counters.carried[slot];

    return (uint64_t)load_relaxed(&column[half_index(row, half)]) << 32;
}

/* What a processor has counted in one half of a word. */
static inline uint64_t
half_of(const shared_u64 *word, enum half half)
{
    if (half == ALLOCS)
        return load_half_relaxed(word, ALLOCS);
    /* Acquire [pair: free]: see the allocation of each free counted. */
    return load_half_acquire(word, FREES);
}

static uint64_t
counted_of(const struct prof *prof, uint32_t slot, uint32_t row, enum half half)
{
    uint64_t sum = has_carries(prof) ? carried_of(prof, slot, row, half) : 0;

    for (uint32_t i = 0; i < prof->procs_count; i++)
        sum += half_of(&prof->procs[i].columns.slots[slot][row], half);
    return sum;
}

/* The number of slots to which events are added. */
static inline uint32_t
slots_of(const struct prof *prof)
{
    return prof->rules.heap == PROF_HEAP_RING ? COUNTER_SLOTS : MOVED;
}

struct slot_counts {
    struct row_counts of[COUNTER_SLOTS];
};

/* What a row has counted in each slot; frees first (I4). */
static struct slot_counts
count_row(const struct prof *prof, uint32_t row)
{
    const uint32_t slots = slots_of(prof);
    struct slot_counts counts = {{{0}}};

    for (uint32_t slot = 0; slot < slots; slot++)
        counts.of[slot].frees = counted_of(prof, slot, row, FREES);
    for (uint32_t slot = 0; slot < slots; slot++)
        counts.of[slot].allocs = counted_of(prof, slot, row, ALLOCS);
    return counts;
}

static inline struct row_counts
published_in(const struct prof *prof, uint32_t slot, uint32_t row)
{
    const struct counters *counters = &prof->counters;
    const uint64_t published = counters->published[slot][row];
    struct row_counts counts = {.allocs = (uint32_t)published,
                                .frees = published >> 32};

    if (has_carries(prof)) {
        const uint32_t *upper = counters->published_high[slot];

        counts.allocs |= (uint64_t)upper[half_index(row, ALLOCS)] << 32;
        counts.frees |= (uint64_t)upper[half_index(row, FREES)] << 32;
    }
    return counts;
}

static void
set_published(struct prof *prof, uint32_t slot, uint32_t row,
              struct row_counts counts)
{
    struct counters *counters = &prof->counters;
    uint32_t *upper = counters->published_high[slot];

    counters->published[slot][row] =
        counts.frees << 32 | (uint32_t)counts.allocs;
    if ((counts.allocs | counts.frees) >> 32 == 0)
        return; /* the upper halves stay 0: counts only grow (I1) */
    /* Relaxed: readers of published counts hold the lock. */
    store_relaxed(&counters->carries, 1);
    signal_fence(); /* I3, also of what a fork copies */
    upper[half_index(row, ALLOCS)] = (uint32_t)(counts.allocs >> 32);
    upper[half_index(row, FREES)] = (uint32_t)(counts.frees >> 32);
}

static inline void
add_counts(struct row_counts *sum, struct row_counts counts)
{
    sum->allocs += counts.allocs;
    sum->frees += counts.frees;
}

struct row_counts
prof_counters_recorded(const struct prof *prof, uint32_t row)
{
    const struct slot_counts counts = count_row(prof, row);
    struct row_counts sum = {0};

    for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++)
        add_counts(&sum, counts.of[slot]);
    return sum;
}

struct row_counts
prof_counters_published(const struct prof *prof, uint32_t row)
{
    struct row_counts sum = {0};

    for (uint32_t slot = 0; slot < slots_of(prof); slot++)
        add_counts(&sum, published_in(prof, slot, row));
    return sum;
}

/* ---- publishing ---- */

/* Has a processor recorded anything? Exact if no thread adds any more. */
static inline bool
has_recorded(const struct prof *prof, uint32_t i)
{
    return load_relaxed(&prof->procs[i].section.calls) != 0;
}

/* The first processor from `i` on that has recorded; procs_count if none. */
static uint32_t
next_recorder(const struct prof *prof, uint32_t i)
{
    while (i < prof->procs_count && !has_recorded(prof, i))
        i++;
    return i;
}

/* Publish a cache line of rows in which only one processor has counted. */
static inline void
publish_line(uint64_t published[LINE], const shared_u64 *from)
{
    uint64_t changed = 0;

#pragma GCC unroll 8
    for (size_t i = 0; i < LINE; i++)
        changed |= load_relaxed(&from[i]) ^ published[i];
    if (changed == 0)
        return; /* most buckets are idle in most cycles */
#pragma GCC unroll 8
    for (size_t i = 0; i < LINE; i++)
        published[i] = load_relaxed(&from[i]);
}

/* Add a line to sums, both halves of a word at once. returns: the bitwise or of
 * all operands; if it has no bit of HALVES_TOP, no half has overflowed */
static inline uint64_t
add_line(uint64_t (*sums)[LINE], const shared_u64 *from)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < LINE; i++) {
        const uint64_t word = load_relaxed(&from[i]);

        seen |= (*sums)[i] | word;
        (*sums)[i] += word;
    }
    return seen;
}

/* Publish a cache line of rows in which several processors may have counted. */
static void
publish_sums(struct prof *prof, uint32_t slot, uint32_t line)
{
    uint64_t *published = &prof->counters.published[slot][line];
    uint64_t sums[LINE] = {0};
    uint64_t seen = 0;

    for (uint32_t i = 0; i < prof->procs_count; i++)
        if (has_recorded(prof, i))
            seen |= add_line(&sums, &prof->procs[i].columns.slots[slot][line]);
    if ((seen & HALVES_TOP) == 0 && !has_carries(prof)) {
        if (memcmp(published, sums, sizeof sums) != 0)
            memcpy(published, sums, sizeof sums);
        return;
    }
    for (uint32_t row = line; row < line + LINE; row++)
        set_published(
            prof, slot, row,
            (struct row_counts){.allocs = counted_of(prof, slot, row, ALLOCS),
                                .frees = counted_of(prof, slot, row, FREES)});
}

void
prof_counters_publish(struct prof *prof, uint32_t slot)
{
    /* Columns are whole lines; row 0 counts nothing. */
    const uint32_t rows = prof_table_rows(&prof->table);
    const uint32_t first = next_recorder(prof, 0);

    if (first == prof->procs_count)
        return;
    if (has_carries(prof) ||
        next_recorder(prof, first + 1) != prof->procs_count) {
        for (uint32_t line = 0; line <= rows; line += LINE)
            publish_sums(prof, slot, line);
    } else {
        const shared_u64 *from = prof->procs[first].columns.slots[slot];
        uint64_t *published = prof->counters.published[slot];

        for (size_t line = 0; line <= rows; line += LINE)
            publish_line(&published[line], &from[line]);
    }
}

void
prof_counters_publish_all(struct prof *prof)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    for (uint32_t row = 1; row <= rows; row++) {
        const struct slot_counts counts = count_row(prof, row);

        for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++)
            set_published(prof, slot, row, counts.of[slot]);
    }
}

void
prof_counters_rotate(struct prof *prof)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    for (uint32_t row = 1; row <= rows; row++) {
        const struct slot_counts counts = count_row(prof, row);

        set_published(prof, PREVIOUS, row, counts.of[PREVIOUS]);
        set_published(prof, RECENT, row, published_in(prof, MOVED, row));
        set_published(prof, MOVED, row, counts.of[RECENT]);
    }
}

/* ---- a fork ---- */

/* The slot of `published` that holds the last sum noted for `slot`. */
static inline uint32_t
published_slot(const struct prof *prof, uint32_t slot)
{
    return prof->rules.heap == PROF_HEAP_STAGES && slot == RECENT ? MOVED
                                                                  : slot;
}

static void
mend_half(struct prof_proc *proc, uint32_t slot, uint32_t row, enum half half)
{
    const struct prof *prof = proc->prof;
    const struct row_counts published =
        published_in(prof, published_slot(prof, slot), row);
    const uint64_t least = half == ALLOCS ? published.allocs : published.frees;

    if (half_of(&proc->columns.slots[slot][row], half) == 0 &&
        (int64_t)(counted_of(prof, slot, row, half) - least) < 0)
        prof_counters_carry(proc, slot, row, half);
}

void
prof_counters_mend(struct prof_proc *proc)
{
    const uint32_t rows = prof_table_rows(&proc->prof->table);

    for (uint32_t slot = 0; slot < slots_of(proc->prof); slot++) {
        for (uint32_t row = 1; row <= rows; row++) {
            mend_half(proc, slot, row, ALLOCS);
            mend_half(proc, slot, row, FREES);
        }
    }
}

/* ---- all rows ---- */

/* Sum one half of a line. */
static inline uint64_t
sum_line(const shared_u64 *line, enum half half)
{
    uint64_t sum = 0;

#pragma GCC unroll 8
    for (size_t i = 0; i < LINE; i++)
        sum += half_of(&line[i], half);
    return sum;
}

/* Sum one half of every word of every processor. */
static inline uint64_t
sum_halves(const struct prof *prof, uint32_t rows, enum half half)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < prof->procs_count; i++) {
        if (!has_recorded(prof, i))
            continue;
        for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++) {
            const shared_u64 *column = prof->procs[i].columns.slots[slot];

            for (size_t line = 0; line <= rows; line += LINE)
                sum += sum_line(&column[line], half);
        }
    }
    for (uint32_t slot = 0; has_carries(prof) && slot < COUNTER_SLOTS; slot++) {
        for (uint32_t row = 1; row <= rows; row++)
            sum += carried_of(prof, slot, row, half);
    }
    return sum;
}

struct row_counts
prof_counters_recorded_all(const struct prof *prof)
{
    const uint32_t rows = prof_table_rows(&prof->table);
    struct row_counts counts;

    counts.frees = sum_halves(prof, rows, FREES);
    counts.allocs = sum_halves(prof, rows, ALLOCS);
    return counts;
}

struct row_counts
prof_counters_published_all(const struct prof *prof)
{
    const uint32_t rows = prof_table_rows(&prof->table);
    const bool low = prof->rules.heap == PROF_HEAP_RING && !has_carries(prof);
    struct row_counts counts = {0};

    for (uint32_t row = 1; row <= rows; row++) {
        const struct row_counts one =
            low ? prof_counters_published_low(&prof->counters, row)
                : prof_counters_published(prof, row);

        add_counts(&counts, one);
    }
    return counts;
}
