/*
 * cross_snapshot.c -- X2 and X4: heap snapshots against the lines of
 * allocations.
 *
 *      lines      a a a      a a        a          an allocation each
 *      trace            GCDone    GCDone   GCDone
 *      snapshot                                    shows the first 3, or 5
 *
 * A snapshot shows the allocations before one of the last two GCDone of the
 * trace; the total of the snapshot shows before which one. Then each record
 * must have as many objects as there are lines with its stack and size before
 * that GCDone, and each of these lines must have a record.
 */
#include <inttypes.h>
#include <string.h>

#include "props/cross/cross.h"
#include "prof/text.h"

/* Does a line have the stack of a record? A line has at most
 * PROF_TASK_FRAMES_MAX frames; a record may have more. */
static bool
is_at(const struct cross *cross, const struct cross_line *line,
      const struct prof_heap_record *record)
{
    const uint64_t *frames = &cross->lines.frames[line->frames_at];
    const uint32_t depth_max = sim_world_config(cross->world)->depth_max;
    const uint32_t depth = line->depth < depth_max ? line->depth : depth_max;

    if (line->size_bytes != record->size_bytes || record->depth < depth ||
        (record->depth > depth && line->depth < PROF_TASK_FRAMES_MAX))
        return false;
    for (uint32_t i = 0; i < depth; i++) {
        if (record->stack[i] != frames[i])
            return false;
    }
    return true;
}

/* Count the allocations of the record among the first `limit` lines. */
static uint64_t
reported_of(const struct cross *cross, const struct prof_heap_record *record,
            uint64_t limit)
{
    uint64_t allocs = 0;
    uint64_t reported = 0;

    for (uint32_t i = 0; i < cross->lines.count && allocs < limit; i++) {
        const struct cross_line *line = &cross->lines.all[i];

        if (line->kind != CROSS_LINE_ALLOC)
            continue;
        allocs++;
        reported += is_at(cross, line, record);
    }
    return reported;
}

/* Are two records equal in all frames that a line can have? */
static bool
are_alike(const struct prof_heap_record *a, const struct prof_heap_record *b)
{
    return a->depth >= PROF_TASK_FRAMES_MAX &&
           b->depth >= PROF_TASK_FRAMES_MAX && a->size_bytes == b->size_bytes &&
           memcmp(a->stack, b->stack,
                  PROF_TASK_FRAMES_MAX * sizeof *a->stack) == 0;
}

static bool
are_distinct(const struct prof_heap_record *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (are_alike(&records[i], &records[j]))
                return false;
        }
    }
    return true;
}

/* Check that the snapshot shows the first `allocs` allocations. */
static void
compare_records(struct cross *cross, const struct cross_snapshot *snapshot)
{
    const struct prof_heap_record *records =
        &cross->records[snapshot->records_at];
    uint64_t reported = 0;

    if (!are_distinct(records, snapshot->records_count)) {
        props_cover_hit(cross->cover, COVER_CROSS_SNAPSHOT_UNJUDGED);
        return;
    }
    for (uint32_t i = 0; i < snapshot->records_count; i++) {
        const uint64_t of_it =
            reported_of(cross, &records[i], snapshot->allocs);

        reported += of_it;
        if (of_it != records[i].allocs)
            cross_breach(cross, PROPS_X4,
                         "a heap snapshot has %" PRIu64 " objects of %" PRIu64
                         " bytes at 0x%" PRIxPTR ", of which %" PRIu64
                         " were told of by then",
                         records[i].allocs, records[i].size_bytes,
                         records[i].depth > 0 ? records[i].stack[0] : 0, of_it);
        if (of_it > 0)
            props_cover_hit(cross->cover, COVER_CROSS_RECORD);
    }
    if (reported != snapshot->allocs)
        cross_breach(cross, PROPS_X4,
                     "%" PRIu64 " objects were told of and are in no record "
                     "of a heap snapshot",
                     snapshot->allocs - reported);
}

/* Nothing is published while the collector marks. */
static void
compare_with_last(struct cross *cross, const struct cross_snapshot *snapshot)
{
    const struct cross_snapshot *last = snapshot - 1;

    if (snapshot == cross->snapshots || !snapshot->at.is_marking ||
        !last->at.is_marking || last->at.session != snapshot->at.session ||
        last->at.gc_done != snapshot->at.gc_done ||
        last->controls != snapshot->controls)
        return;
    if (last->allocs != snapshot->allocs || last->frees != snapshot->frees)
        cross_breach(cross, PROPS_X2,
                     "between a GCStart and its GCDone the heap profile "
                     "changes: %" PRIu64 " allocations and %" PRIu64
                     " frees, then %" PRIu64 " and %" PRIu64,
                     last->allocs, last->frees, snapshot->allocs,
                     snapshot->frees);
    props_cover_hit(cross->cover, COVER_CROSS_MARKING);
}

void
cross_snapshot(struct cross *cross, const struct cross_snapshot *snapshot,
               const uint64_t allocs_before[3])
{
    const uint64_t *before = allocs_before;

    /* If nothing had been published before, the first snapshot showed
     * everything. */
    const bool is_exact = snapshot->at.gc_done > 2 && before[2] > 0;

    if (!is_exact)
        props_cover_hit(cross->cover, COVER_CROSS_SNAPSHOT_UNJUDGED);
    if (snapshot->at.gc_done < 2 || before[1] == 0)
        return;
    if (snapshot->allocs > before[0] || snapshot->allocs < before[1] ||
        (is_exact && snapshot->allocs != before[0] &&
         snapshot->allocs != before[1])) {
        cross_breach(cross, PROPS_X2,
                     "a heap snapshot shows %" PRIu64
                     " allocations; before the last GCDone of the trace were "
                     "%" PRIu64 ", before the one before it %" PRIu64,
                     snapshot->allocs, before[0], before[1]);
        return;
    }
    if (!is_exact)
        return;
    props_cover_hit(cross->cover, COVER_CROSS_SNAPSHOT);
    compare_records(cross, snapshot);
    compare_with_last(cross, snapshot);
}

static void
compare_published(void *context, const struct prof_heap_record *record)
{
    struct cross *cross = context;
    const uint64_t reported = reported_of(cross, record, UINT64_MAX);

    if (record->allocs > reported)
        cross_breach(cross, PROPS_X4,
                     "the heap profile has %" PRIu64 " objects of %" PRIu64
                     " bytes at 0x%" PRIxPTR ", of which %" PRIu64
                     " were told of",
                     record->allocs, record->size_bytes,
                     record->depth > 0 ? record->stack[0] : 0, reported);
}

void
cross_published(struct cross *cross)
{
    prof_heap_iterate(sim_world_prof(cross->world), compare_published, cross);
}
