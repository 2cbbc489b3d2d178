/*
 * contention.c -- the block and mutex profiles: count and ticks per stack.
 *
 * A contention bucket uses two counters of its row in the active lane: count
 * in `allocs`, cycles in `frees`. It is published at once and never cleared.
 *
 * Invariants
 *   I1  A block event counts at least 1 tick, a mutex event at least 0: clocks
 *       of two processors may disagree (golang/go#8976).
 */
#include "check.h"
#include "instance.h"
#include "poison.h"

static enum bucket_kind
bucket_kind_of(enum prof_contention kind)
{
    return kind == PROF_BLOCK ? KIND_BLOCK : KIND_MUTEX;
}

void
prof_contention_event(struct prof_proc *proc, enum prof_contention kind,
                      const uintptr_t *stack, uint32_t depth, int64_t cycles)
{
    struct prof *prof = proc->prof;
    const int64_t least = kind == PROF_BLOCK ? 1 : 0;
    const uint32_t row =
        prof_table_intern(&prof->table, bucket_kind_of(kind), stack, depth, 0);

    if (row == 0)
        return;
    add_relaxed(&prof->active.allocs[row], 1);
    add_relaxed(&prof->active.frees[row],
                (uint64_t)(cycles < least ? least : cycles));
}

static const struct entry *
contention_entry(const struct prof *prof, enum prof_contention kind,
                 uint32_t row)
{
    const struct entry *entry = prof_table_entry(&prof->table, row);

    return entry != NULL && entry->kind == bucket_kind_of(kind) ? entry : NULL;
}

enum prof_status
prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                         struct prof_contention_record *records,
                         size_t records_max, size_t *count)
{
    const uint32_t rows = prof_table_rows(&prof->table);
    size_t listed = 0;

    *count = 0;
    for (uint32_t row = rows; row > 0; row--)
        *count += contention_entry(prof, kind, row) != NULL;
    if (*count > records_max)
        return PROF_ERR_SHORT;
    for (uint32_t row = rows; row > 0 && listed < *count; row--) {
        const struct entry *entry = contention_entry(prof, kind, row);

        if (entry == NULL)
            continue;
        records[listed++] = (struct prof_contention_record){
            .count = load_relaxed(&prof->active.allocs[row]),
            .cycles = load_relaxed(&prof->active.frees[row]),
            .stack = entry->frames,
            .depth = entry->depth,
        };
    }
    *count = listed;
    return PROF_OK;
}
