/*
 * cross_heap.c -- X2 and X4: the heap by three instruments.
 *
 *      lines    tracealloc  tracealloc  tracegc   tracefree    ...
 *      trace    HeapAlloc   HeapAlloc   GCStart   HeapAlloc    GCDone
 *      profile                                         snapshot
 *
 * Each line of an allocation, free or beginning collection is one event of the
 * trace, in the same order: so the sums of the lines are what HeapAlloc must
 * say (X2), and the task in a line is the one that the trace has on that
 * processor (X4). A snapshot shows the allocations before one of the last two
 * GCDone (X2), and no more of a stack and size than lines tell of (X4).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cross.h"
#include "instrument_debug.h"
#include "prof/text.h"

struct heaps {
    struct cross *cross;
    const struct cross_session *session;
    uint32_t line;   /* the next one */
    uint64_t bytes;  /* by the lines so far */
    uint64_t allocs; /* lines of allocations so far */
    uint64_t goal;   /* of the last NextGC */
    bool is_first_gc;
    uint32_t gc_done;
    uint64_t allocs_before[3]; /* the last GCDone, and the two before it */
};

static bool
read_lines(struct cross *cross)
{
    const struct sim_debug_text text = sim_debug_text(cross->world);

    if (cross->lines.count != 0 || text.bytes_count == 0)
        return true;
    if (cross_lines_read(&cross->lines, text.bytes, text.bytes_count))
        return true;
    cross_breach(cross, PROPS_X2, "the lines of allocations cannot be read");
    return false;
}

static void
take_line(struct heaps *heaps)
{
    const struct cross_line *line = &heaps->cross->lines.all[heaps->line++];

    if (line->kind == CROSS_LINE_ALLOC) {
        heaps->bytes += line->size_bytes;
        heaps->allocs++;
    } else if (line->kind == CROSS_LINE_FREE) {
        heaps->bytes -= line->size_bytes;
    }
}

/* returns: the line that an event of the trace stands for, NULL and a breach
 *          if there is none of that kind */
static const struct cross_line *
line_of(struct heaps *heaps, bool gc)
{
    const struct cross_line *line = &heaps->cross->lines.all[heaps->line];

    if (heaps->line < heaps->session->lines_end &&
        (line->kind == CROSS_LINE_GC) == gc)
        return line;
    cross_breach(heaps->cross, PROPS_X2,
                 "the trace has a %s where the lines of allocations have %s",
                 gc ? "GCStart" : "HeapAlloc",
                 heaps->line >= heaps->session->lines_end ? "nothing more"
                 : line->kind == CROSS_LINE_GC            ? "tracegc"
                                                          : "no tracegc");
    return NULL;
}

static void
judge_heap_alloc(struct heaps *heaps, const struct model_trace_event *event)
{
    const struct cross_line *line = line_of(heaps, false);

    if (line == NULL)
        return;
    take_line(heaps);
    if (event->arg != heaps->bytes)
        cross_breach(heaps->cross, PROPS_X2,
                     "HeapAlloc is %" PRIu64 " in the trace, %" PRIu64
                     " by allocations and frees",
                     event->arg, heaps->bytes);
    if (event->g != line->g)
        cross_breach(heaps->cross, PROPS_X4,
                     "task %" PRIu64 " did it, by the line of object 0x%" PRIx64
                     "; in the trace task %" PRIu64
                     " runs on that processor then",
                     line->g, line->address, event->g);
    props_cover_hit(heaps->cross->cover, COVER_CROSS_HEAP_ALLOC);
    if (line->kind == CROSS_LINE_ALLOC && line->g != 0)
        props_cover_hit(heaps->cross->cover, COVER_CROSS_ALLOCATOR);
}

static void
judge_gc_start(struct heaps *heaps)
{
    if (heaps->is_first_gc && heaps->session->was_collecting) {
        heaps->is_first_gc = false; /* it is told of, and began before */
        return;
    }
    heaps->is_first_gc = false;
    if (line_of(heaps, true) != NULL)
        take_line(heaps);
}

static void
judge_snapshot(struct heaps *heaps, const struct cross_snapshot *snapshot)
{
    const uint64_t *before = heaps->allocs_before;

    /* Where nothing had been published, the first snapshot showed all. */
    const bool is_exact = snapshot->gc_done > 2 && before[2] > 0;

    if (snapshot->gc_done < 2 || before[1] == 0)
        return;
    if (snapshot->allocs > before[0] || snapshot->allocs < before[1] ||
        (is_exact && snapshot->allocs != before[0] &&
         snapshot->allocs != before[1]))
        cross_breach(heaps->cross, PROPS_X2,
                     "a heap snapshot shows %" PRIu64
                     " allocations; before the last GCDone of the trace were "
                     "%" PRIu64 ", before the one before it %" PRIu64,
                     snapshot->allocs, before[0], before[1]);
    if (is_exact)
        props_cover_hit(heaps->cross->cover, COVER_CROSS_SNAPSHOT);
}

/* Are snapshots those of the ring, of every allocation, and flushed? */
static bool
snapshots_count(const struct heaps *heaps)
{
    const struct cross *cross = heaps->cross;
    struct prof *prof = sim_world_prof(cross->world);
    struct prof_drops drops;

    if (prof == NULL || cross->unflushed || cross->heap_rated ||
        !cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_HEAP_PROFILE)))
        return false;
    drops = prof_drops(prof);
    return drops.no_bucket + drops.no_frames == 0;
}

static void
judge_gc_done(struct heaps *heaps, uint32_t session)
{
    heaps->allocs_before[2] = heaps->allocs_before[1];
    heaps->allocs_before[1] = heaps->allocs_before[0];
    heaps->allocs_before[0] = heaps->allocs;
    heaps->gc_done++;
    if (!snapshots_count(heaps))
        return;
    for (uint32_t i = 0; i < heaps->cross->snapshots_count; i++) {
        const struct cross_snapshot *snapshot = &heaps->cross->snapshots[i];

        if (snapshot->session == session && snapshot->gc_done == heaps->gc_done)
            judge_snapshot(heaps, snapshot);
    }
}

/* ---- records ---- */

static bool
is_at(const struct cross *cross, const struct cross_line *line,
      const struct prof_heap_record *record)
{
    const uint64_t *frames = &cross->lines.frames[line->frames_at];
    const uint32_t depth_max = sim_world_config(cross->world)->depth_max;
    const uint32_t depth = line->depth < depth_max ? line->depth : depth_max;

    if (line->size_bytes != record->size_bytes ||
        (record->depth != depth && line->depth < PROF_TASK_FRAMES_MAX))
        return false;
    for (uint32_t i = 0; i < record->depth && i < depth; i++) {
        if (record->stack[i] != frames[i])
            return false;
    }
    return true;
}

static void
judge_record(void *context, const struct prof_heap_record *record)
{
    struct cross *cross = context;
    uint64_t told = 0;

    for (uint32_t i = 0; i < cross->lines.count; i++) {
        const struct cross_line *line = &cross->lines.all[i];

        told += line->kind == CROSS_LINE_ALLOC && is_at(cross, line, record);
    }
    if (record->allocs > told)
        cross_breach(cross, PROPS_X4,
                     "the heap profile has %" PRIu64 " objects of %" PRIu64
                     " bytes at 0x%" PRIxPTR ", of which %" PRIu64
                     " were told of",
                     record->allocs, record->size_bytes,
                     record->depth > 0 ? record->stack[0] : 0, told);
}

void
cross_heap(struct cross *cross, uint32_t session,
           const struct model_trace *trace)
{
    struct heaps heaps = {.cross = cross,
                          .session = &cross->sessions[session],
                          .is_first_gc = true};
    const struct model_trace_event *event;

    if (!cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_DEBUG_LINES)) ||
        cross->numbers_are_made_up || !read_lines(cross) ||
        !cross_tasks_begin(&cross->tasks, trace))
        return;
    while (heaps.line < heaps.session->lines_begin)
        take_line(&heaps);
    while ((event = cross_tasks_next(&cross->tasks)) != NULL) {
        if (event->type == MODEL_TRACE_HEAP_ALLOC)
            judge_heap_alloc(&heaps, event);
        else if (event->type == MODEL_TRACE_GC_START)
            judge_gc_start(&heaps);
        else if (event->type == MODEL_TRACE_GC_DONE)
            judge_gc_done(&heaps, session);
    }
    if (heaps.line != heaps.session->lines_end)
        cross_breach(cross, PROPS_X2,
                     "%" PRIu32
                     " lines of allocations have no event in the trace",
                     heaps.session->lines_end - heaps.line);
    if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_HEAP_PROFILE)))
        prof_heap_iterate(sim_world_prof(cross->world), judge_record, cross);
}
