/*
 * heap.c -- the heap profile: events wait until an object's allocation and its
 * free belong to the same collection.
 *
 * An object allocated in cycle C may be found dead by the collection that ends
 * cycle C at the earliest, or C+1 if it was allocated while that one was
 * marking; its sweep runs in the following cycle. A profile that counted both
 * at once would favour the young. So an allocation made in cycle C is published
 * at C+2, and a free swept in cycle C at C+1:
 *
 *      cycle       C         C+1        C+2
 *      alloc       x - - - - - - - - - ->  publish
 *      free                   x - - - - ->  publish
 *
 * PROF_HEAP_RING (cycle C, C kept modulo PROF_CYCLE_WRAP, a multiple of 3):
 *
 *      slots[C % 3]      to be published by the flush of cycle C
 *      slots[(C+1) % 3]  frees being swept, allocations of cycle C-1
 *      slots[(C+2) % 3]  allocations being made
 *
 * PROF_HEAP_STAGES: slots[PREVIOUS] and slots[RECENT]; each turn publishes the
 * previous and makes the recent previous, bucket by bucket.
 *
 * Invariants
 *   I1  cycle < PROF_CYCLE_WRAP.
 *   I2  For each row and counter, active + all slots = events recorded.
 *   I3  Ring: between next_cycle and next_cycle nobody adds to slots[C % 3],
 *       and only frees are added to slots[(C+1) % 3].
 *   I4  active changes only under the control lock.
 *   I5  Of slots that are being added to, the frees are taken before the
 *       allocations: an object freed in between shows neither.
 *
 * Why the record path needs no lock: I3 separates who adds from who publishes,
 * and each event is one atomic add, because the size is part of the bucket's
 * key (bytes = count x size). Why moving a slot is a plain read and a plain
 * write (`drain`): I3 again; where events may still arrive, it is an exchange.
 * Most buckets are idle in most cycles: eight of them are a line of a column,
 * and a line without events is passed over after one look at each counter.
 * Why the cycle is read relaxed: next_cycle runs with the world stopped, and
 * the stop and the restart order it against every record call. In a running
 * world grace.c does; for that each record call reads the cycle and adds inside
 * its processor's section, two plain stores.
 *
 * Who may run with whom: record calls with all but next_cycle (and with that in
 * a running world); control calls exclude each other, next_cycle by refusing
 * instead of waiting, since whoever holds the lock may be stopped.
 * After a refusal (BUSY) no cycle lies between the allocations of now and the
 * sweep to come: its frees wait where the allocations do (frees_late) until a
 * next_cycle is accepted, and the next collection shows both.
 *
 * Source of the rules: docs/semantics.md, "Heap profile".
 */
#include "check.h"
#include "instance.h"
#include "poison.h"

enum { PREVIOUS = 0, RECENT = 1 }; /* PROF_HEAP_STAGES: names of two slots */

enum { LINE_ROWS = PROF_BLOCK_ALIGN / sizeof(shared_u64) }; /* of a column */

_Static_assert(PROF_CYCLE_WRAP % LANE_SLOTS == 0,
               "slots follow each other across the wrap");

/* ----------------------------------------------------------------- recording
 */

static inline uint32_t
cycle_now(const struct prof *prof)
{
    return cycle_of_word(load_relaxed(&prof->cycle_word));
}

/* The slot that is published `ahead` cycles from now; RING only. */
static inline struct lane *
slot_ahead(struct prof *prof, uint32_t ahead)
{
    const uint32_t word = load_relaxed(&prof->cycle_word);

    return &prof->slots[(word >> CYCLE_SLOT_SHIFT) + ahead];
}

static inline struct lane *
slot_of_allocs(struct prof *prof)
{
    return prof->rules.heap == PROF_HEAP_RING ? slot_ahead(prof, 2)
                                              : &prof->slots[RECENT];
}

static inline struct lane *
slot_of_frees(struct prof *prof)
{
    /* Acquire [pair: late]: if it is over, the new cycle is seen, too. */
    if (load_acquire(&prof->frees_late) != 0)
        return slot_of_allocs(prof);
    return prof->rules.heap == PROF_HEAP_RING ? slot_ahead(prof, 1)
                                              : &prof->slots[PREVIOUS];
}

/* Under exact rules a bucket is of one rate: the sampler has said which. */
static inline enum bucket_kind
kind_of_next(struct prof_proc *proc)
{
    return (enum bucket_kind)(KIND_HEAP | prof_sampler_take(&proc->sampler)
                                              << KIND_BITS);
}

prof_bucket
prof_heap_alloc(struct prof_proc *proc, const uintptr_t *stack, uint32_t depth,
                uint64_t size_bytes)
{
    struct prof *prof = proc->prof;
    const uint32_t row =
        prof_table_intern_counted(&prof->table, kind_of_next(proc), stack,
                                  depth, size_bytes, proc->allocs_hint);

    if (row != 0) {
        const uint64_t calls = section_begin(&proc->section);
        shared_u64 *allocs = slot_of_allocs(prof)->allocs;

        proc->allocs_hint = allocs;
        add_relaxed(&allocs[row], 1);
        section_end(&proc->section, calls);
    }
    return row;
}

void
prof_heap_free(struct prof_proc *proc, prof_bucket bucket)
{
    struct prof *prof = proc->prof;
    uint64_t calls;

    if (bucket == PROF_BUCKET_NONE)
        return;
    PROF_ASSERT(bucket <= prof->table.rows_max); /* guards the columns */
    calls = section_begin(&proc->section);
    /* Release [pair: free]: the object's allocation was counted before. */
    add_release(&slot_of_frees(prof)->frees[bucket], 1);
    section_end(&proc->section, calls);
}

void
prof_heap_free_explicit(struct prof_proc *proc, prof_bucket bucket)
{
    struct prof *prof = proc->prof;
    uint64_t calls;

    if (bucket == PROF_BUCKET_NONE)
        return;
    PROF_ASSERT(bucket <= prof->table.rows_max); /* guards the columns */
    if (prof->rules.explicit_free == PROF_EXPLICIT_DROPPED) {
        add_relaxed(&prof->no_free_path, 1);
        return;
    }
    calls = section_begin(&proc->section);
    /* Release [pair: free]: as in prof_heap_free(). */
    add_release(&slot_of_allocs(prof)->frees[bucket], 1);
    section_end(&proc->section, calls);
}

/* ---------------------------------------------------------------- publishing
 */

/* Add to a counter that only the holder of the control lock changes (I4). */
static inline void
add_owned(shared_u64 *to, uint64_t events)
{
    if (events != 0)
        store_relaxed(to, load_relaxed(to) + events);
}

/* Take all of a counter that nobody adds to (I3). */
static inline uint64_t
drain(shared_u64 *from)
{
    const uint64_t events = load_relaxed(from);

    if (events != 0)
        store_relaxed(from, 0);
    return events;
}

/* Take all of a counter that others may be adding to; nothing is lost. */
static inline uint64_t
drain_shared(shared_u64 *from)
{
    /* Acquire [pair: free]: of frees taken, the allocations are seen. */
    return load_relaxed(from) != 0 ? swap_acquire(from, 0) : 0;
}

/* Not 0 if something has been counted in this line of a column. */
static inline uint64_t
any_of_line(const shared_u64 *line)
{
    return load_relaxed(&line[0]) | load_relaxed(&line[1]) |
           load_relaxed(&line[2]) | load_relaxed(&line[3]) |
           load_relaxed(&line[4]) | load_relaxed(&line[5]) |
           load_relaxed(&line[6]) | load_relaxed(&line[7]);
}

/* Publish a column that is at rest. Row 0 counts nothing; columns are whole
 * lines. */
static void
publish_column(shared_u64 *to, shared_u64 *from, uint32_t rows)
{
    for (size_t line = 0; line <= rows; line += LINE_ROWS) {
        if (any_of_line(&from[line]) == 0)
            continue;
#pragma GCC unroll 8
        for (size_t i = 0; i < LINE_ROWS; i++)
            add_owned(&to[line + i], drain(&from[line + i]));
    }
}

/* Publish a column that may still be added to. */
static void
publish_shared_column(shared_u64 *to, shared_u64 *from, uint32_t rows)
{
    for (size_t line = 0; line <= rows; line += LINE_ROWS) {
        if (any_of_line(&from[line]) == 0)
            continue;
        for (size_t i = 0; i < LINE_ROWS; i++)
            add_owned(&to[line + i], drain_shared(&from[line + i]));
    }
}

/* Publish a slot that is at rest. */
static void
publish_slot(struct prof *prof, const struct lane *slot)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    publish_column(prof->active.allocs, slot->allocs, rows);
    publish_column(prof->active.frees, slot->frees, rows);
}

/* Publish a slot that frees may still be added to, but no allocations (I5). */
static void
publish_swept_slot(struct prof *prof, const struct lane *slot)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    publish_shared_column(prof->active.frees, slot->frees, rows);
    publish_column(prof->active.allocs, slot->allocs, rows);
}

/* Publish a slot that may still be added to; frees first (I5). */
static void
publish_shared_slot(struct prof *prof, const struct lane *slot)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    for (uint32_t row = 1; row <= rows; row++) {
        add_owned(&prof->active.frees[row], drain_shared(&slot->frees[row]));
        add_owned(&prof->active.allocs[row], drain_shared(&slot->allocs[row]));
    }
}

/* Move up one stage: publish the previous, make the recent previous. */
static void
stages_turn(struct prof *prof)
{
    const struct lane *previous = &prof->slots[PREVIOUS];
    const struct lane *recent = &prof->slots[RECENT];
    const uint32_t rows = prof_table_rows(&prof->table);

    publish_shared_slot(prof, previous);
    for (uint32_t row = 1; row <= rows; row++) {
        /* Release [pair: free]: the frees drained above bring it along. */
        add_release(&previous->frees[row], drain_shared(&recent->frees[row]));
        add_relaxed(&previous->allocs[row], drain_shared(&recent->allocs[row]));
    }
}

/*
 * Publish all slots of a ring. An object's free may be in another slot than its
 * allocation, so all frees are taken before any allocation (I5).
 */
static void
publish_all_slots(struct prof *prof)
{
    const uint32_t rows = prof_table_rows(&prof->table);

    for (uint32_t row = 1; row <= rows; row++) {
        uint64_t frees = 0;
        uint64_t allocs = 0;

        for (uint32_t i = 0; i < LANE_SLOTS; i++)
            frees += drain_shared(&prof->slots[i].frees[row]);
        for (uint32_t i = 0; i < LANE_SLOTS; i++)
            allocs += drain_shared(&prof->slots[i].allocs[row]);
        add_owned(&prof->active.frees[row], frees);
        add_owned(&prof->active.allocs[row], allocs);
    }
}

/* The first-snapshot rule: publish all that was ever recorded. */
static void
publish_all(struct prof *prof)
{
    if (prof->rules.heap == PROF_HEAP_RING) {
        publish_all_slots(prof);
    } else {
        stages_turn(prof);
        stages_turn(prof);
    }
}

/* -------------------------------------------------------------------- cycles
 */

/* Begin a call that publishes: nobody else does, and nobody is late. */
static enum prof_status
begin_publishing(struct prof *prof)
{
    port_lock_take(&prof->control);
    if (prof_grace_is_over(prof))
        return PROF_OK;
    port_lock_release(&prof->control);
    return PROF_ERR_BUSY;
}

enum prof_status
prof_heap_next_cycle(struct prof *prof)
{
    uint32_t cycle;

    if (!port_lock_try(&prof->control)) {
        /* Relaxed: the sweep begins after this call, and sees it. */
        store_relaxed(&prof->frees_late, 1);
        return PROF_ERR_BUSY;
    }
    if (!prof_grace_is_over(prof)) {
        store_relaxed(&prof->frees_late, 1); /* the same */
        port_lock_release(&prof->control);
        return PROF_ERR_BUSY;
    }
    if (prof->rules.heap == PROF_HEAP_STAGES &&
        prof->rules.turn == PROF_TURN_STOPPED)
        stages_turn(prof);
    cycle = cycle_now(prof) + 1;
    if (cycle == PROF_CYCLE_WRAP)
        cycle = 0;
    store_relaxed(&prof->cycle_word, cycle_word_of(cycle));
    /* Release [pair: late]: first the new cycle, then frees go by it. */
    store_release(&prof->frees_late, 0);
    prof_grace_begin(prof);
    port_lock_release(&prof->control);
    return PROF_OK;
}

enum prof_status
prof_heap_flush(struct prof *prof)
{
    enum prof_status status = begin_publishing(prof);
    uint32_t word;

    if (status != PROF_OK)
        return status;
    word = load_relaxed(&prof->cycle_word);
    if ((word & 1) == 0) {
        if (prof->rules.heap == PROF_HEAP_RING)
            publish_slot(prof, slot_ahead(prof, 0));
        else if (prof->rules.turn == PROF_TURN_RESTARTED)
            stages_turn(prof);
        store_relaxed(&prof->cycle_word, word | 1);
    }
    port_lock_release(&prof->control);
    return PROF_OK;
}

enum prof_status
prof_heap_post_sweep(struct prof *prof)
{
    enum prof_status status = begin_publishing(prof);

    if (status != PROF_OK)
        return status;
    if (prof->rules.heap == PROF_HEAP_RING)
        publish_swept_slot(prof, slot_ahead(prof, 1));
    port_lock_release(&prof->control);
    return PROF_OK;
}

struct prof_heap_phase
prof_heap_phase(const struct prof *prof)
{
    const uint32_t word = load_relaxed(&prof->cycle_word);

    return (struct prof_heap_phase){.cycle = cycle_of_word(word),
                                    .flushed = (word & 1) != 0};
}

/* ------------------------------------------------------------------- reading
 */

static uint64_t
pending(const struct prof *prof, uint32_t row, bool frees)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < LANE_SLOTS; i++) {
        const struct lane *slot = &prof->slots[i];

        events += load_relaxed(frees ? &slot->frees[row] : &slot->allocs[row]);
    }
    return events;
}

/* The rate that a bucket was sampled at. */
static inline int64_t
rate_of(const struct prof *prof, const struct entry *entry)
{
    const uint32_t place = entry->kind >> KIND_BITS;

    if (prof->rules.sampler != PROF_SAMPLER_EXACT)
        return prof_heap_rate(prof); /* Go remembers no other */
    return place == 0 ? 1 : (int64_t)load_relaxed(&prof->heap_rates[place - 1]);
}

/* What a row shows, now or (`with_pending`) after the first-snapshot rule. */
static inline struct prof_heap_record
record_of(const struct prof *prof, uint32_t row, struct bucket bucket,
          bool with_pending)
{
    struct prof_heap_record record = {
        .allocs = load_relaxed(&prof->active.allocs[row]),
        .frees = load_relaxed(&prof->active.frees[row]),
        .size_bytes = bucket.entry->size_bytes,
        .rate_bytes = rate_of(prof, bucket.entry),
        .stack = bucket.frames,
        .depth = bucket.entry->depth,
    };

    if (with_pending) {
        record.allocs += pending(prof, row, false);
        record.frees += pending(prof, row, true);
    }
    return record;
}

/* A row's bucket; entry is NULL if it is not of the heap. */
static inline struct bucket
heap_bucket(const struct prof *prof, uint32_t row)
{
    struct bucket bucket = prof_table_bucket(&prof->table, row);

    if (bucket.entry != NULL && (bucket.entry->kind & KIND_MASK) != KIND_HEAP)
        bucket.entry = NULL;
    return bucket;
}

static inline bool
selected(const struct prof_heap_record *record, enum prof_select select)
{
    return select == PROF_SELECT_ALL || prof_heap_inuse_bytes(record) != 0;
}

/* Has nothing at all been published yet? */
static bool
is_clear(const struct prof *prof, uint32_t rows)
{
    for (uint32_t row = rows; row > 0; row--) {
        if (heap_bucket(prof, row).entry != NULL &&
            (load_relaxed(&prof->active.allocs[row]) |
             load_relaxed(&prof->active.frees[row])) != 0)
            return false;
    }
    return true;
}

/*
 * List what is selected, newest first, as far as there is room.
 *
 * returns: how many there are to list, also those that found no room
 */
static inline size_t
list_selected(const struct prof *prof, uint32_t rows, enum prof_select select,
              bool with_pending, struct prof_heap_record *records,
              size_t records_max)
{
    size_t count = 0;

    for (uint32_t row = rows; row > 0; row--) {
        const struct bucket bucket = heap_bucket(prof, row);
        struct prof_heap_record record;

        if (bucket.entry == NULL)
            continue;
        record = record_of(prof, row, bucket, with_pending);
        if (!selected(&record, select))
            continue;
        if (count < records_max)
            records[count] = record;
        count++;
    }
    return count;
}

static enum prof_status
snapshot_locked(struct prof *prof, enum prof_select select,
                struct prof_heap_record *records, size_t records_max,
                size_t *count)
{
    uint32_t rows;
    bool first;

    if (prof->rules.heap == PROF_HEAP_RING)
        publish_slot(prof, slot_ahead(prof, 0));
    rows = prof_table_rows(&prof->table);
    first = is_clear(prof, rows);
    *count = rows; /* no more than so many, if that is enough to know */
    if (first || rows > records_max)
        *count = list_selected(prof, rows, select, first, NULL, 0);
    if (first && (*count <= records_max || prof->rules.sizing_consumes_first))
        publish_all(prof);
    if (*count > records_max)
        return PROF_ERR_SHORT;
    /* Buckets may have arrived since they were counted. */
    *count = list_selected(prof, rows, select, false, records, records_max);
    return *count > records_max ? PROF_ERR_SHORT : PROF_OK;
}

enum prof_status
prof_heap_snapshot(struct prof *prof, enum prof_select select,
                   struct prof_heap_record *records, size_t records_max,
                   size_t *count)
{
    enum prof_status status = begin_publishing(prof);

    if (status != PROF_OK)
        return status;
    status = snapshot_locked(prof, select, records, records_max, count);
    port_lock_release(&prof->control);
    return status;
}

void
prof_heap_iterate(struct prof *prof,
                  void (*visit)(void *context,
                                const struct prof_heap_record *record),
                  void *context)
{
    port_lock_take(&prof->control);
    for (uint32_t row = prof_table_rows(&prof->table); row > 0; row--) {
        const struct bucket bucket = heap_bucket(prof, row);

        if (bucket.entry != NULL) {
            const struct prof_heap_record record =
                record_of(prof, row, bucket, false);

            visit(context, &record);
        }
    }
    port_lock_release(&prof->control);
}

struct prof_heap_totals
prof_heap_totals(struct prof *prof)
{
    struct prof_heap_totals totals = {0};

    port_lock_take(&prof->control);
    for (uint32_t row = prof_table_rows(&prof->table); row > 0; row--) {
        if (heap_bucket(prof, row).entry == NULL)
            continue;
        totals.allocs_published += load_relaxed(&prof->active.allocs[row]);
        totals.frees_published += load_relaxed(&prof->active.frees[row]);
        totals.allocs_pending += pending(prof, row, false);
        totals.frees_pending += pending(prof, row, true);
    }
    port_lock_release(&prof->control);
    return totals;
}
