/*
 * cross_heap.c -- X2 and X4: the debug lines of allocations against a trace.
 *
 *      lines    tracealloc  tracealloc  tracegc          tracefree   ...
 *      trace    HeapAlloc   HeapAlloc   GCStart  GCDone  HeapAlloc
 *                                                NextGC
 *
 * Each line of an allocation, a free or the begin of a collection belongs to
 * one event of the trace, in the same order. HeapAlloc must be the sum of the
 * lines before it, and NextGC twice the bytes that are left at a GCDone (X2).
 * The task in a line must be the one that runs at that moment on that processor
 * in the trace (X4). Nothing may be swept between GCStart and GCDone; objects
 * are swept between GCSweepStart and GCSweepDone of their processor, or right
 * after a GCDone if the world is stopped for sweeping. A flush or a post-sweep
 * must lie in the phase, marking or sweeping, in which it was called (X2).
 *
 * cross_snapshot.c compares snapshots of the heap profile.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "props/cross/cross.h"
#include "sim/instruments/instrument_debug.h"

struct heaps {
    struct cross *cross;
    const struct model_trace *trace;
    const struct cross_session *session;
    uint32_t session_index;
    uint32_t line;    /* the next one */
    uint32_t control; /* the same for flushes and post-sweeps */
    uint64_t bytes;   /* according to the lines so far */
    uint64_t allocs;  /* lines of allocations so far */
    bool is_first_gc;
    bool is_marking; /* in the trace, as are the next two */
    bool owes_goal;
    uint64_t sweeping; /* a bit for each processor */
    uint32_t gc_done;
    uint64_t allocs_before[3]; /* of the last three GCDone */
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

/* The next debug line, which must belong to the trace's current event: to a
 * GCStart if `gc`, else to a HeapAlloc.
 *
 * returns: the line; NULL, and a breach is noted, if there is none left or it
 * is of the other kind */
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

/* Check where, by which task and when the line's event was done. */
static void
judge_origin(struct heaps *heaps, const struct cross_line *line,
             const struct cross_origin *origin,
             const struct model_trace_event *event)
{
    const int64_t proc = model_trace_proc_id(heaps->trace, event->proc);
    const struct cross_task *task = cross_task(&heaps->cross->tasks, event->g);

    if (event->g != line->g || proc != origin->proc ||
        (event->g != 0 && (task == NULL || task->state != CROSS_RUNNING ||
                           task->proc != origin->proc)))
        cross_breach(heaps->cross, PROPS_X4,
                     "task %" PRIu64 " did it on processor %d, by the line of "
                     "object 0x%" PRIx64 "; in the trace task %" PRIu64
                     " does on processor %" PRId64,
                     line->g, origin->proc, line->address, event->g, proc);
    if (line->kind == CROSS_LINE_ALLOC && line->g != 0)
        props_cover_hit(heaps->cross->cover, COVER_CROSS_ALLOCATOR);
    if (line->kind != CROSS_LINE_FREE || origin->kind == SIM_EV_FREE)
        return;
    if (heaps->is_marking)
        cross_breach(heaps->cross, PROPS_X2,
                     "object 0x%" PRIx64
                     " is swept between a GCStart and its GCDone of the trace",
                     line->address);
    else if (origin->kind == SIM_EV_GC_SWEEP &&
             (heaps->sweeping >> (origin->proc & 63) & 1) == 0)
        cross_breach(heaps->cross, PROPS_X2,
                     "object 0x%" PRIx64
                     " is swept on processor %d, which does not sweep by the "
                     "trace",
                     line->address, origin->proc);
    props_cover_hit(heaps->cross->cover, COVER_CROSS_SWEPT);
}

static void
judge_heap_alloc(struct heaps *heaps, const struct model_trace_event *event)
{
    const struct cross_line *line = line_of(heaps, false);

    if (line == NULL)
        return;
    if (heaps->line < heaps->cross->origins_count)
        judge_origin(heaps, line, &heaps->cross->origins[heaps->line], event);
    take_line(heaps);
    if (event->arg != heaps->bytes)
        cross_breach(heaps->cross, PROPS_X2,
                     "HeapAlloc is %" PRIu64 " in the trace, %" PRIu64
                     " by allocations and frees",
                     event->arg, heaps->bytes);
    props_cover_hit(heaps->cross->cover, COVER_CROSS_HEAP_ALLOC);
}

/* A collection begins when the heap is twice what the last one left. */
static void
judge_next_gc(struct heaps *heaps, const struct model_trace_event *event)
{
    if (event->arg != 2 * heaps->bytes || !heaps->owes_goal)
        cross_breach(heaps->cross, PROPS_X2,
                     "NextGC is %" PRIu64 " in the trace%s; %" PRIu64
                     " bytes are left by allocations and frees",
                     event->arg, heaps->owes_goal ? "" : ", without a GCDone",
                     heaps->bytes);
    heaps->owes_goal = false;
    props_cover_hit(heaps->cross->cover, COVER_CROSS_NEXT_GC);
}

static void
expect_goal(struct heaps *heaps)
{
    if (heaps->owes_goal)
        cross_breach(heaps->cross, PROPS_X2,
                     "after a GCDone of the trace there is no NextGC");
    heaps->owes_goal = false;
}

static void
judge_gc_start(struct heaps *heaps)
{
    const bool is_announced =
        heaps->is_first_gc && heaps->session->was_collecting;

    heaps->is_first_gc = false;
    if (heaps->is_marking && !is_announced)
        cross_breach(heaps->cross, PROPS_X2,
                     "the trace has a GCStart while it is marking");
    expect_goal(heaps);
    heaps->is_marking = true;
    if (is_announced)
        return; /* announced at the start, but begun before */
    if (line_of(heaps, true) != NULL)
        take_line(heaps);
}

/* Are snapshots made by the ring, of every allocation, and flushed? */
static bool
snapshots_count(const struct heaps *heaps)
{
    const struct cross *cross = heaps->cross;
    struct prof *prof = sim_world_prof(cross->world);
    struct prof_drops drops;

    if (prof == NULL || cross->unflushed || cross->heap_rated ||
        cross->is_short ||
        !cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_HEAP_PROFILE)))
        return false;
    drops = prof_drops(prof);
    return drops.no_bucket + drops.no_frames == 0;
}

static void
judge_gc_done(struct heaps *heaps)
{
    const struct cross *cross = heaps->cross;
    const bool counts = snapshots_count(heaps);

    if (!heaps->is_marking)
        cross_breach(heaps->cross, PROPS_X2,
                     "the trace has a GCDone while it is not marking");
    heaps->is_marking = false;
    heaps->owes_goal = heaps->allocs > 0; /* otherwise there is no heap yet */
    heaps->allocs_before[2] = heaps->allocs_before[1];
    heaps->allocs_before[1] = heaps->allocs_before[0];
    heaps->allocs_before[0] = heaps->allocs;
    heaps->gc_done++;
    for (uint32_t i = 0; i < cross->snapshots_count; i++) {
        const struct cross_snapshot *snapshot = &cross->snapshots[i];

        if (snapshot->at.session != heaps->session_index ||
            snapshot->at.gc_done != heaps->gc_done)
            continue;
        if (counts)
            cross_snapshot(heaps->cross, snapshot, heaps->allocs_before);
        else
            props_cover_hit(cross->cover, COVER_CROSS_SNAPSHOT_UNJUDGED);
    }
}

/* ------------------------------------------------------------------- controls
 */

static const struct cross_control *
control_next(const struct heaps *heaps)
{
    const struct cross *cross = heaps->cross;

    return heaps->control < cross->controls_count &&
                   cross->controls[heaps->control].at.session ==
                       heaps->session_index
               ? &cross->controls[heaps->control]
               : NULL;
}

/* Judge the flushes and post-sweeps between the last event and the next one. */
static void
judge_controls(struct heaps *heaps)
{
    const struct cross_control *control = control_next(heaps);

    for (; control != NULL && control->at.lines == heaps->line &&
           control->at.gc_done == heaps->gc_done;
         control = control_next(heaps)) {
        if (control->at.is_marking != heaps->is_marking)
            cross_breach(heaps->cross, PROPS_X2,
                         "%s comes while the trace is %s",
                         sim_event_word(control->kind),
                         heaps->is_marking ? "marking" : "not marking");
        heaps->control++;
        props_cover_hit(heaps->cross->cover, COVER_CROSS_CONTROL);
    }
}

static void
begin_lines(struct heaps *heaps)
{
    const struct cross *cross = heaps->cross;
    const uint32_t from =
        heaps->session_index > 0
            ? cross->sessions[heaps->session_index - 1].lines_end
            : 0;

    while (heaps->line < heaps->session->lines_begin) {
        if (heaps->line >= from &&
            cross->lines.all[heaps->line].kind == CROSS_LINE_ALLOC)
            props_cover_hit(cross->cover, COVER_CROSS_UNTRACED);
        take_line(heaps);
    }
    while (heaps->control < cross->controls_count &&
           cross->controls[heaps->control].at.session < heaps->session_index)
        heaps->control++;
}

static void
end_lines(struct heaps *heaps)
{
    judge_controls(heaps);
    expect_goal(heaps);
    if (heaps->line != heaps->session->lines_end)
        cross_breach(heaps->cross, PROPS_X2,
                     "%" PRIu32
                     " lines of allocations have no event in the trace",
                     heaps->session->lines_end - heaps->line);
    else if (control_next(heaps) != NULL)
        cross_breach(heaps->cross, PROPS_X2,
                     "%s comes after %" PRIu32
                     " GCDone; the trace has %" PRIu32,
                     sim_event_word(control_next(heaps)->kind),
                     control_next(heaps)->at.gc_done, heaps->gc_done);
}

static void
judge_event(struct heaps *heaps, const struct model_trace_event *event)
{
    const uint64_t proc =
        UINT64_C(1) << (model_trace_proc_id(heaps->trace, event->proc) & 63);

    switch ((int)event->type) {
    case MODEL_TRACE_HEAP_ALLOC:
        judge_heap_alloc(heaps, event);
        break;
    case MODEL_TRACE_NEXT_GC:
        judge_next_gc(heaps, event);
        break;
    case MODEL_TRACE_GC_START:
        judge_gc_start(heaps);
        break;
    case MODEL_TRACE_GC_DONE:
        judge_gc_done(heaps);
        break;
    case MODEL_TRACE_SWEEP_START:
        heaps->sweeping |= proc;
        break;
    case MODEL_TRACE_SWEEP_DONE:
        heaps->sweeping &= ~proc;
        break;
    default:
        break;
    }
}

void
cross_heap(struct cross *cross, uint32_t session,
           const struct model_trace *trace)
{
    struct heaps heaps = {.cross = cross,
                          .trace = trace,
                          .session = &cross->sessions[session],
                          .session_index = session,
                          .is_first_gc = true,
                          .is_marking =
                              cross->sessions[session].was_collecting};
    const struct model_trace_event *event;

    if (!cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_DEBUG_LINES)) ||
        cross->numbers_are_made_up || !read_lines(cross))
        return;
    cross_tasks_begin(&cross->tasks, trace, cross->order);
    begin_lines(&heaps);
    while ((event = cross_tasks_next(&cross->tasks)) != NULL) {
        judge_controls(&heaps); /* what came before it */
        judge_event(&heaps, event);
    }
    end_lines(&heaps);
    if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_HEAP_PROFILE)) &&
        !cross->compared_published) {
        cross->compared_published = true;
        cross_published(cross);
    }
}
