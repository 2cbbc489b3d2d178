/*
 * heap.c -- the heap profile: each event is published after a delay, so that a
 * snapshot shows the heap as one collection saw it.
 *
 * The first collection that may find an object of cycle C dead is the one that
 * ends cycle C, or the one that ends C+1 if the first was already marking. The
 * sweep runs in the following cycle. If events were published at once, a
 * snapshot would show young objects that no collection has examined yet. So an
 * allocation of cycle C is published in cycle C+2, and a free swept in cycle C
 * is published in cycle C+1:
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
 * PROF_HEAP_STAGES has slots[PREVIOUS] and slots[RECENT]. For each bucket, a
 * rotation publishes the previous counts and makes the recent ones previous.
 *
 * A slot is one column of counters per processor; publishing it records the
 * sums (counters.c).
 *
 * Invariants
 *   I1  cycle < PROF_CYCLE_WRAP.
 *   I2  For each row, published + waiting in all slots = events recorded.
 *   I3  Ring: between next_cycle and next_cycle nothing is added to
 *       slots[C % 3], and only frees are added to slots[(C+1) % 3].
 *   I4  Published counts change only under the control lock.
 *   I5  In slots to which threads still add, frees are read before allocations.
 *       So no sum has a free without its allocation.
 *   I6  If advancing the cycle only changes its number, next_cycle does so
 *       under the cycle lock, else under the control lock. Other control calls
 *       hold both locks, so the cycle does not change during them.
 *
 * Why record calls need no lock: each processor adds to its own columns, and
 * each event is one addition, because the size is part of the bucket's key
 * (bytes = count x size). Why there is a ring nevertheless: no thread adds to
 * the slot that is published (I3), so a snapshot shows one collection and not
 * half of the next. Why the cycle is read relaxed: next_cycle runs with the
 * world stopped, and the stop and the restart order it against every record
 * call. If the world runs, grace.c orders it; for this, each record call reads
 * the cycle and adds inside its processor's section, which costs two plain
 * stores.
 *
 * Concurrency: record calls may run together with all calls but next_cycle
 * (under PROF_WORLD_RUNNING with that, too). Control calls exclude each other.
 * If another call holds the lock, next_cycle does not wait, since that call's
 * thread may be stopped; it returns PROF_ERR_BUSY. Then current allocations and
 * the coming sweep share a cycle. So until a next_cycle succeeds, frees go to
 * the allocation slot (frees_in_alloc_slot), and the next collection shows
 * both.
 *
 * Source of the rules: docs/semantics.md, "Heap profile".
 */
#include "prof/core/assertion.h"
#include "prof/core/control.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

_Static_assert(PROF_CYCLE_WRAP % COUNTER_SLOTS == 0,
               "slots follow each other across the wrap");

/* ---- recording ---- */

/* The slot that is published `ahead` cycles from now; the index may be too
 * large by COUNTER_SLOTS (struct columns). RING only. */
static inline uint32_t
slot_ahead(const struct prof *prof, uint32_t ahead)
{
    const uint32_t word = load_relaxed(&prof->cycle_word);

    return (word >> CYCLE_SLOT_SHIFT) + ahead;
}

static inline uint32_t
slot_of_allocs(const struct prof *prof)
{
    return prof->rules.heap == PROF_HEAP_RING ? slot_ahead(prof, 2) : RECENT;
}

static inline uint32_t
slot_of_frees(const struct prof *prof)
{
    /* Acquire [pair: late]: a thread that reads 0 sees the new cycle, too. */
    if (load_acquire(&prof->frees_in_alloc_slot) != 0)
        return slot_of_allocs(prof);
    return prof->rules.heap == PROF_HEAP_RING ? slot_ahead(prof, 1) : PREVIOUS;
}

/* Under exact rules a bucket has one rate, which the sampler has noted. */
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
        const uint32_t slot = slot_of_allocs(prof);

        proc->allocs_hint = proc->columns.slots[slot];
        if (add_owned_half_relaxed(&proc->columns.slots[slot][row], ALLOCS))
            prof_counters_carry(proc, slot, row, ALLOCS);
        section_end(&proc->section, calls);
    }
    return row;
}

/* Count a free in a slot. context: inside the processor's section */
static inline void
count_free(struct prof_proc *proc, uint32_t slot, prof_bucket bucket)
{
    /* Release [pair: free]: the object's allocation was counted before. */
    if (add_owned_half_release(&proc->columns.slots[slot][bucket], FREES))
        prof_counters_carry(proc, slot, bucket, FREES);
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
    count_free(proc, slot_of_frees(prof), bucket);
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
    count_free(proc, slot_of_allocs(prof), bucket);
    section_end(&proc->section, calls);
}

/* ---- publishing ---- */

/* Publish the slot that is due in `ahead` cycles; RING only. */
static void
publish_slot(struct prof *prof, uint32_t ahead)
{
    prof_counters_publish(prof, slot_ahead(prof, ahead) % COUNTER_SLOTS);
}

/* The first-snapshot rule: publish all that was ever recorded. */
static void
publish_all(struct prof *prof)
{
    prof->publishes_all = true;
    signal_fence(); /* what a fork copies is in this order */
    if (prof->rules.heap == PROF_HEAP_RING) {
        prof_counters_publish_all(prof);
    } else {
        prof_counters_rotate(prof);
        prof_counters_rotate(prof);
    }
    signal_fence(); /* the same */
    prof->publishes_all = false;
}

void
prof_heap_mend(struct prof *prof)
{
    if (prof->publishes_all)
        publish_all(prof);
}

/* ---- cycles ---- */

/* Begin a call that publishes: take the locks, unless a grace period lasts. */
static enum prof_status
begin_publishing(struct prof *prof)
{
    lock_control(prof);
    if (prof_grace_is_over(prof))
        return PROF_OK;
    unlock_control(prof);
    return PROF_ERR_BUSY;
}

static inline void
advance(struct prof *prof)
{
    const uint32_t word = load_relaxed(&prof->cycle_word);

    store_relaxed(&prof->cycle_word, next_cycle_word(word));
    /* Release [pair: late]: the new cycle first, so that frees use it. */
    store_release(&prof->frees_in_alloc_slot, 0);
}

static enum prof_status
refuse(struct prof *prof)
{
    /* Relaxed: the sweep begins after this call, and sees it. */
    store_relaxed(&prof->frees_in_alloc_slot, 1);
    return PROF_ERR_BUSY;
}

/* Advance the cycle when this takes more than a store. */
static enum prof_status
next_cycle_locked(struct prof *prof)
{
    if (!prof_port_lock_try(&prof->control))
        return refuse(prof);
    if (!prof_grace_is_over(prof)) {
        (void)refuse(prof);
        prof_port_lock_release(&prof->control);
        return PROF_ERR_BUSY;
    }
    if (prof->rules.heap == PROF_HEAP_STAGES &&
        prof->rules.rotate == PROF_ROTATE_STOPPED)
        prof_counters_rotate(prof);
    advance(prof);
    prof_grace_begin(prof);
    prof_port_lock_release(&prof->control);
    return PROF_OK;
}

/* Not inlined, so that the fast path saves no registers. */
static __attribute__((noinline)) enum prof_status
next_cycle_slowly(struct prof *prof)
{
    return advances_at_once(prof) ? refuse(prof) : next_cycle_locked(prof);
}

enum prof_status
prof_heap_next_cycle(struct prof *prof)
{
    if (!try_cycle_lock(prof))
        return next_cycle_slowly(prof);
    advance(prof);
    unlock_cycle(prof);
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
            publish_slot(prof, 0);
        else if (prof->rules.rotate == PROF_ROTATE_RESTARTED)
            prof_counters_rotate(prof);
        store_relaxed(&prof->cycle_word, word | 1);
    }
    unlock_control(prof);
    return PROF_OK;
}

enum prof_status
prof_heap_post_sweep(struct prof *prof)
{
    enum prof_status status = begin_publishing(prof);

    if (status != PROF_OK)
        return status;
    if (prof->rules.heap == PROF_HEAP_RING)
        publish_slot(prof, 1);
    unlock_control(prof);
    return PROF_OK;
}

struct prof_heap_phase
prof_heap_phase(const struct prof *prof)
{
    const uint32_t word = load_relaxed(&prof->cycle_word);

    return (struct prof_heap_phase){.cycle = cycle_of_word(word),
                                    .flushed = (word & 1) != 0};
}

/* ---- reading ---- */

/* The rate at which a bucket was sampled. */
static inline int64_t
rate_of(const struct prof *prof, const struct entry *entry)
{
    const uint32_t rate_index = entry->kind >> KIND_BITS;

    if (prof->rules.sampler != PROF_SAMPLER_EXACT)
        return prof_heap_rate(prof); /* Go remembers no other */
    return rate_index == 0
               ? 1
               : (int64_t)load_relaxed(&prof->heap_rates[rate_index - 1]);
}

static inline struct row_counts
published_of(const struct prof *prof, uint32_t row)
{
    if (prof->rules.heap == PROF_HEAP_RING &&
        load_relaxed(&prof->counters.carries) == 0)
        return prof_counters_published_low(&prof->counters, row);
    return prof_counters_published(prof, row);
}

/* A row's record: published events, or (`all`) all that were recorded. */
static inline struct prof_heap_record
record_of(const struct prof *prof, uint32_t row, struct bucket bucket, bool all)
{
    const struct row_counts counts =
        all ? prof_counters_recorded(prof, row) : published_of(prof, row);

    return (struct prof_heap_record){
        .allocs = counts.allocs,
        .frees = counts.frees,
        .size_bytes = bucket.entry->size_bytes,
        .rate_bytes = rate_of(prof, bucket.entry),
        .stack = bucket.frames,
        .depth = bucket.entry->depth,
    };
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

/* Has nothing at all been published yet? Published counts only grow, so once
 * one is found above 0, has_published saves further searches. */
static bool
is_clear(struct prof *prof, uint32_t rows)
{
    for (uint32_t row = rows; row > 0 && !prof->has_published; row--) {
        const struct row_counts counts = prof_counters_published(prof, row);

        prof->has_published = (counts.allocs | counts.frees) != 0;
    }
    return !prof->has_published;
}

/*
 * List the selected buckets, newest first, as far as there is room.
 *
 * returns: the number of selected buckets, even those without room
 */
static inline size_t
list_selected(const struct prof *prof, uint32_t rows, enum prof_select select,
              bool all, struct prof_heap_record *records, size_t records_max)
{
    size_t count = 0;

    for (uint32_t row = rows; row > 0; row--) {
        const struct bucket bucket = heap_bucket(prof, row);
        struct prof_heap_record record;

        if (bucket.entry == NULL)
            continue;
        record = record_of(prof, row, bucket, all);
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
        publish_slot(prof, 0);
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
    unlock_control(prof);
    return status;
}

void
prof_heap_iterate(struct prof *prof,
                  void (*visit)(void *context,
                                const struct prof_heap_record *record),
                  void *context)
{
    lock_control(prof);
    for (uint32_t row = prof_table_rows(&prof->table); row > 0; row--) {
        const struct bucket bucket = heap_bucket(prof, row);

        if (bucket.entry != NULL) {
            const struct prof_heap_record record =
                record_of(prof, row, bucket, false);

            visit(context, &record);
        }
    }
    unlock_control(prof);
}

struct prof_heap_totals
prof_heap_totals(struct prof *prof)
{
    struct row_counts published;
    struct row_counts recorded;

    lock_control(prof);
    published = prof_counters_published_all(prof);
    recorded = prof_counters_recorded_all(prof);
    unlock_control(prof);
    return (struct prof_heap_totals){
        .allocs_published = published.allocs,
        .frees_published = published.frees,
        .allocs_pending = recorded.allocs - published.allocs,
        .frees_pending = recorded.frees - published.frees,
    };
}
