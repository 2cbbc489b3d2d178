/*
 * trace_reader.c -- from records to events.
 *
 * A malformed record takes precedence over every other error, wherever it is.
 * So after a well-formed record with a wrong meaning, the reader still checks
 * the format of the rest, but not its meaning.
 *
 * Attribution. An event does not name its processor and seldom its goroutine.
 * The last Batch names the processor (0 before the first). The goroutine is the
 * one that the last GoStart on that processor started, until an event takes it
 * off the processor; batches of other processors in between do not change it.
 * So the batches of one processor must be in order; batches of different
 * processors need not.
 */
#include "model/trace/trace_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct decoder {
    uint64_t seq; /* of the last event; wraps, compared as signed */
    uint64_t ticks;
    uint64_t g;
    uint32_t proc;
};

_Static_assert(sizeof(struct model_trace_event) == 64,
               "the header promises 72 bytes per event, 8 of them for order");

void
model_trace_init(struct model_trace *trace)
{
    *trace = (struct model_trace){0};
}

void
model_trace_release(struct model_trace *trace)
{
    free(trace->events);
    free(trace->order);
    free(trace->stack_offsets);
    free(trace->proc_gs);
    model_trace_map_release(&trace->procs);
    model_trace_map_release(&trace->timers);
    model_trace_map_release(&trace->stacks);
    model_trace_init(trace);
}

/* Switch to a processor, adding it to the table if it is new. */
static bool
switch_proc(struct model_trace *trace, struct decoder *now, uint64_t id)
{
    const uint32_t known = trace->procs.count;
    const uint32_t proc = model_trace_map_put(&trace->procs, id);

    if (proc == MODEL_TRACE_ABSENT)
        return false;
    if (proc == known) {
        uint64_t *gs = model_trace_grow(trace->proc_gs, known,
                                        &trace->proc_gs_room, sizeof *gs);
        if (gs == NULL)
            return false;
        trace->proc_gs = gs;
        gs[proc] = 0;
    }
    if (known > 0)
        trace->proc_gs[now->proc] = now->g;
    now->proc = proc;
    now->g = trace->proc_gs[proc];
    return true;
}

static enum model_trace_verdict
take_batch(struct model_trace *trace, struct decoder *now,
           const struct model_trace_record *record)
{
    if (!switch_proc(trace, now, record->args[0]))
        return model_trace_no_memory(trace);
    now->seq = record->args[1];
    now->ticks = record->args[2];
    trace->batches++;
    return MODEL_TRACE_OK;
}

/* Take a frequency; the last one of the file counts. */
static enum model_trace_verdict
take_frequency(struct model_trace *trace,
               const struct model_trace_record *record)
{
    trace->ticks_per_second = (int64_t)record->args[0];
    if (trace->ticks_per_second <= 0)
        return model_trace_reject(
            trace, MODEL_TRACE_TIME_ORDER, record->offset_bytes,
            "%" PRId64 " ticks per second: the clock did not advance",
            trace->ticks_per_second);
    return MODEL_TRACE_OK;
}

/* Take a stack. One with id 0 or without frames is ignored; the last one of an
 * id counts. */
static enum model_trace_verdict
take_stack(struct model_trace *trace, const struct model_trace_record *record)
{
    const uint64_t frames = record->args[1];

    if (record->arg_count < 2)
        return model_trace_reject(
            trace, MODEL_TRACE_ERROR, record->offset_bytes,
            "Stack has %" PRIu64 " numbers, needs at least 2",
            record->arg_count);
    if (frames > MODEL_TRACE_FRAMES_MAX)
        return model_trace_reject(
            trace, MODEL_TRACE_ERROR, record->offset_bytes,
            "Stack has %" PRIu64 " frames, at most %d are allowed", frames,
            MODEL_TRACE_FRAMES_MAX);
    if (record->arg_count != 2 + frames)
        return model_trace_reject(
            trace, MODEL_TRACE_ERROR, record->offset_bytes,
            "Stack of %" PRIu64 " frames has %" PRIu64 " numbers", frames,
            record->arg_count);
    trace->stack_records++;
    if (record->args[0] == 0 || frames == 0)
        return MODEL_TRACE_OK;

    uint64_t *offsets =
        model_trace_grow(trace->stack_offsets, trace->stacks.count,
                         &trace->stack_offsets_room, sizeof *offsets);
    if (offsets == NULL)
        return model_trace_no_memory(trace);
    trace->stack_offsets = offsets;

    const uint32_t stack = model_trace_map_put(&trace->stacks, record->args[0]);
    if (stack == MODEL_TRACE_ABSENT)
        return model_trace_no_memory(trace);
    offsets[stack] = record->offset_bytes;
    return MODEL_TRACE_OK;
}

/* Set the event's goroutine, and the one that runs on the processor next. */
static void
attribute(struct model_trace_event *event, struct decoder *now)
{
    event->g = now->g;
    switch ((enum model_trace_type)event->type) {
    case MODEL_TRACE_GO_START:
        now->g = event->arg;
        event->g = event->arg;
        break;
    case MODEL_TRACE_GC_START:
    case MODEL_TRACE_GC_DONE:
    case MODEL_TRACE_SCAN_START:
    case MODEL_TRACE_SCAN_DONE:
        event->g = 0;
        break;
    case MODEL_TRACE_GO_END:
    case MODEL_TRACE_GO_STOP:
    case MODEL_TRACE_GO_SCHED:
    case MODEL_TRACE_GO_PREEMPT:
    case MODEL_TRACE_GO_SLEEP:
    case MODEL_TRACE_GO_BLOCK:
    case MODEL_TRACE_GO_BLOCK_SEND:
    case MODEL_TRACE_GO_BLOCK_RECV:
    case MODEL_TRACE_GO_BLOCK_SELECT:
    case MODEL_TRACE_GO_BLOCK_SYNC:
    case MODEL_TRACE_GO_BLOCK_COND:
    case MODEL_TRACE_GO_BLOCK_NET:
    case MODEL_TRACE_GO_SYS_BLOCK:
        now->g = 0;
        break;
    case MODEL_TRACE_GO_SYS_EXIT:
    case MODEL_TRACE_GO_WAITING:
    case MODEL_TRACE_GO_IN_SYSCALL:
        event->g = event->arg;
        break;
    case MODEL_TRACE_NONE:
    case MODEL_TRACE_BATCH:
    case MODEL_TRACE_FREQUENCY:
    case MODEL_TRACE_STACK:
    case MODEL_TRACE_GOMAXPROCS:
    case MODEL_TRACE_PROC_START:
    case MODEL_TRACE_PROC_STOP:
    case MODEL_TRACE_SWEEP_START:
    case MODEL_TRACE_SWEEP_DONE:
    case MODEL_TRACE_GO_CREATE:
    case MODEL_TRACE_GO_UNBLOCK:
    case MODEL_TRACE_GO_SYS_CALL:
    case MODEL_TRACE_HEAP_ALLOC:
    case MODEL_TRACE_NEXT_GC:
    case MODEL_TRACE_TIMER_GOROUTINE:
    case MODEL_TRACE_FUTILE_WAKEUP:
    case MODEL_TRACE_TYPE_COUNT:
        break;
    }
}

static enum model_trace_verdict
take_event(struct model_trace *trace, struct decoder *now,
           const struct model_trace_record *record)
{
    /* Events before the first Batch belong to processor 0. */
    if (trace->procs.count == 0 && !switch_proc(trace, now, 0))
        return model_trace_no_memory(trace);

    struct model_trace_event *events =
        model_trace_grow(trace->events, trace->events_count,
                         &trace->events_room, sizeof *events);
    if (events == NULL)
        return model_trace_no_memory(trace);
    trace->events = events;

    struct model_trace_event *event = &events[trace->events_count++];
    const uint64_t count = record->arg_count;
    const bool has_stack = model_trace_type_has_stack(record->type);

    now->seq += record->args[0];
    now->ticks += record->args[1];
    *event = (struct model_trace_event){
        .offset_bytes = record->offset_bytes,
        .seq = (int64_t)now->seq,
        .ticks = (int64_t)now->ticks,
        .proc = now->proc,
        .type = (uint8_t)record->type,
        .stack = has_stack ? record->args[count - 1] : 0,
        .arg = has_stack && count == 3 ? 0 : record->args[2],
        .pc = record->type == MODEL_TRACE_GO_CREATE ? record->args[3] : 0,
    };
    attribute(event, now);
    if (record->type == MODEL_TRACE_GO_SYS_EXIT) {
        /* Written late, when a processor was found; the arguments have the
           time at which it happened. */
        event->seq = (int64_t)record->args[3];
        if (record->args[4] != 0)
            event->ticks = (int64_t)record->args[4];
    }
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
take_record(struct model_trace *trace, struct decoder *now,
            const struct model_trace_record *record)
{
    const uint32_t want = model_trace_type_args(record->type);

    if (want != MODEL_TRACE_ANY && record->arg_count != want)
        return model_trace_reject(
            trace, MODEL_TRACE_ERROR, record->offset_bytes,
            "%s has %" PRIu64 " numbers, needs %" PRIu32,
            model_trace_type_name(record->type), record->arg_count, want);
    if (record->type == MODEL_TRACE_BATCH)
        return take_batch(trace, now, record);
    if (record->type == MODEL_TRACE_FREQUENCY)
        return take_frequency(trace, record);
    if (record->type == MODEL_TRACE_STACK)
        return take_stack(trace, record);
    if (record->type != MODEL_TRACE_TIMER_GOROUTINE)
        return take_event(trace, now, record);
    if (model_trace_map_put(&trace->timers, record->args[0]) ==
        MODEL_TRACE_ABSENT)
        return model_trace_no_memory(trace);
    return MODEL_TRACE_OK;
}

/* The bytes are not a trace: forget all events. */
static enum model_trace_verdict
refuse_bytes(struct model_trace *trace)
{
    trace->events_count = 0;
    trace->reason = trace->wire.reason;
    trace->verdict = MODEL_TRACE_ERROR;
    return trace->verdict;
}

static enum model_trace_verdict
decode(struct model_trace *trace, const uint8_t *bytes, size_t bytes_count)
{
    struct decoder now = {0};
    struct model_trace_record record;
    enum model_trace_step step;

    if (!model_trace_wire_open(&trace->wire, bytes, bytes_count))
        return refuse_bytes(trace);
    while ((step = model_trace_wire_next(&trace->wire, &record)) ==
           MODEL_TRACE_STEP_RECORD) {
        if (trace->verdict == MODEL_TRACE_OK)
            (void)take_record(trace, &now, &record);
    }
    if (step == MODEL_TRACE_STEP_BROKEN)
        return refuse_bytes(trace);
    if (trace->verdict != MODEL_TRACE_OK)
        return trace->verdict;
    if (trace->events_count == 0)
        return model_trace_reject(trace, MODEL_TRACE_ERROR, bytes_count,
                                  "trace is empty");
    if (trace->ticks_per_second == 0)
        return model_trace_reject(trace, MODEL_TRACE_ERROR, bytes_count,
                                  "no Frequency in the file");
    return MODEL_TRACE_OK;
}

/* Set the track of events that belong to no processor, such as syscall
 * exits. */
static void
set_tracks(struct model_trace *trace)
{
    for (uint32_t i = 0; i < trace->events_count; i++) {
        struct model_trace_event *event = &trace->events[i];
        if (event->type == MODEL_TRACE_GO_SYS_EXIT)
            event->track = MODEL_TRACE_ON_SYSCALLS;
        else if (event->type == MODEL_TRACE_GC_START)
            event->track = MODEL_TRACE_ON_GC;
        else if (event->type == MODEL_TRACE_GO_UNBLOCK &&
                 model_trace_map_find(&trace->timers, event->g) !=
                     MODEL_TRACE_ABSENT)
            event->track = MODEL_TRACE_ON_TIMERS;
    }
}

/* Forget the previous file, keep the memory. */
static void
start_over(struct model_trace *trace)
{
    trace->verdict = MODEL_TRACE_OK;
    trace->events_count = 0;
    trace->order_count = 0;
    trace->ticks_per_second = 0;
    trace->batches = 0;
    trace->stack_records = 0;
    trace->futile_events = 0;
    trace->duplicate_seqs = 0;
    model_trace_map_clear(&trace->procs);
    model_trace_map_clear(&trace->timers);
    model_trace_map_clear(&trace->stacks);
}

enum model_trace_verdict
model_trace_read(struct model_trace *trace, const uint8_t *bytes,
                 size_t bytes_count)
{
    start_over(trace);
    if (decode(trace, bytes, bytes_count) != MODEL_TRACE_OK)
        return trace->verdict;
    if (model_trace_sort(trace) != MODEL_TRACE_OK)
        return trace->verdict;
    set_tracks(trace);
    if (model_trace_drop_futile(trace) != MODEL_TRACE_OK)
        return trace->verdict;
    return model_trace_obey(trace);
}

uint32_t
model_trace_count(const struct model_trace *trace)
{
    return trace->order_count;
}

uint64_t
model_trace_span_ns(const struct model_trace *trace, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    const wide ns =
        (wide)ticks * 1000000000u / (wide)(uint64_t)trace->ticks_per_second;

    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t
model_trace_ns(const struct model_trace *trace, int64_t ticks)
{
    return model_trace_span_ns(trace,
                               (uint64_t)ticks - (uint64_t)trace->first_ticks);
}

uint32_t
model_trace_stack(const struct model_trace *trace, uint64_t stack,
                  uint64_t *pcs)
{
    const uint32_t at = model_trace_map_find(&trace->stacks, stack);

    if (stack == 0 || at == MODEL_TRACE_ABSENT)
        return 0;
    return model_trace_wire_frames(&trace->wire, trace->stack_offsets[at], pcs);
}
