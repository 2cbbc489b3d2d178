/* trace_view.c -- see trace_view.h. */
#include "model/command/trace_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each processor has the first four; of the others there is one each. */
enum track {
    TRACK_RUN,
    TRACK_THREAD,
    TRACK_SCAN,
    TRACK_SWEEP,
    TRACKS_OF_PROC,
    TRACK_GC = TRACKS_OF_PROC,
    TRACK_TIMERS,
    TRACK_NETWORK,
    TRACK_SYSCALLS,
    TRACK_HEAP,
    TRACK_NEXT_GC,
    TRACK_PROCS,
    TRACK_END,
    TRACKS_ONCE = TRACK_END - TRACKS_OF_PROC,
};

static const char *const track_names[] = {
    [TRACK_RUN] = "",
    [TRACK_THREAD] = " thread",
    [TRACK_SCAN] = " scan",
    [TRACK_SWEEP] = " sweep",
    [TRACK_GC] = "GC",
    [TRACK_TIMERS] = "timers",
    [TRACK_NETWORK] = "network",
    [TRACK_SYSCALLS] = "syscalls",
    [TRACK_HEAP] = "HeapAlloc",
    [TRACK_NEXT_GC] = "NextGC",
    [TRACK_PROCS] = "Gomaxprocs",
};

struct look {
    enum model_trace_item_kind kind;
    enum track track;
};

#define RUN_END                         \
    {                                   \
        MODEL_TRACE_ITEM_END, TRACK_RUN \
    }

/* Events not listed here are instants, on the track that the reader found. */
static const struct look looks[MODEL_TRACE_TYPE_COUNT] = {
    [MODEL_TRACE_GO_START] = {MODEL_TRACE_ITEM_BEGIN, TRACK_RUN},
    [MODEL_TRACE_GO_END] = RUN_END,
    [MODEL_TRACE_GO_STOP] = RUN_END,
    [MODEL_TRACE_GO_SCHED] = RUN_END,
    [MODEL_TRACE_GO_PREEMPT] = RUN_END,
    [MODEL_TRACE_GO_SLEEP] = RUN_END,
    [MODEL_TRACE_GO_BLOCK] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_SEND] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_RECV] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_SELECT] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_SYNC] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_COND] = RUN_END,
    [MODEL_TRACE_GO_BLOCK_NET] = RUN_END,
    [MODEL_TRACE_GO_SYS_BLOCK] = RUN_END,
    [MODEL_TRACE_PROC_START] = {MODEL_TRACE_ITEM_BEGIN, TRACK_THREAD},
    [MODEL_TRACE_PROC_STOP] = {MODEL_TRACE_ITEM_END, TRACK_THREAD},
    [MODEL_TRACE_GC_START] = {MODEL_TRACE_ITEM_BEGIN, TRACK_GC},
    [MODEL_TRACE_GC_DONE] = {MODEL_TRACE_ITEM_END, TRACK_GC},
    [MODEL_TRACE_SCAN_START] = {MODEL_TRACE_ITEM_BEGIN, TRACK_SCAN},
    [MODEL_TRACE_SCAN_DONE] = {MODEL_TRACE_ITEM_END, TRACK_SCAN},
    [MODEL_TRACE_SWEEP_START] = {MODEL_TRACE_ITEM_BEGIN, TRACK_SWEEP},
    [MODEL_TRACE_SWEEP_DONE] = {MODEL_TRACE_ITEM_END, TRACK_SWEEP},
    [MODEL_TRACE_HEAP_ALLOC] = {MODEL_TRACE_ITEM_COUNTER, TRACK_HEAP},
    [MODEL_TRACE_NEXT_GC] = {MODEL_TRACE_ITEM_COUNTER, TRACK_NEXT_GC},
    [MODEL_TRACE_GOMAXPROCS] = {MODEL_TRACE_ITEM_COUNTER, TRACK_PROCS},
};

static struct look
look_of(const struct model_trace_event *event)
{
    if (looks[event->type].kind != MODEL_TRACE_ITEM_TRACK)
        return looks[event->type];
    if (event->track == MODEL_TRACE_ON_TIMERS)
        return (struct look){MODEL_TRACE_ITEM_INSTANT, TRACK_TIMERS};
    if (event->track == MODEL_TRACE_ON_NETWORK)
        return (struct look){MODEL_TRACE_ITEM_INSTANT, TRACK_NETWORK};
    if (event->track == MODEL_TRACE_ON_SYSCALLS)
        return (struct look){MODEL_TRACE_ITEM_INSTANT, TRACK_SYSCALLS};
    return (struct look){MODEL_TRACE_ITEM_INSTANT, TRACK_RUN};
}

struct view {
    const struct model_trace *trace;
    model_trace_item_fn take;
    void *to;
    struct track_state {
        bool is_declared;
        bool is_open; /* has a slice without an end */
    } * tracks;
    uint64_t tracks_count;
};

/* Tracks that exist once come first, then four for each processor. */
static uint64_t
track_index(const struct model_trace_event *event, enum track track)
{
    if (track >= TRACKS_OF_PROC)
        return (uint64_t)(track - TRACKS_OF_PROC);
    return (uint64_t)TRACKS_ONCE + (uint64_t)event->proc * TRACKS_OF_PROC +
           (uint64_t)track;
}

static bool
declare(struct view *view, uint64_t index,
        const struct model_trace_event *event, enum track track)
{
    struct model_trace_item item = {
        .kind = MODEL_TRACE_ITEM_TRACK,
        .track = index + 1,
        .is_counter = track >= TRACK_HEAP,
    };

    if (view->tracks[index].is_declared)
        return true;
    view->tracks[index].is_declared = true;
    if (track >= TRACKS_OF_PROC)
        (void)snprintf(item.name, sizeof item.name, "%s", track_names[track]);
    else
        (void)snprintf(item.name, sizeof item.name, "P %" PRId64 "%s",
                       model_trace_proc_id(view->trace, event->proc),
                       track_names[track]);
    return view->take(view->to, &item);
}

static void
name_item(struct model_trace_item *item, enum track track)
{
    const struct model_trace_event *event = item->event;
    const bool begins = item->kind == MODEL_TRACE_ITEM_BEGIN;
    const char *plain =
        track == TRACK_GC || track == TRACK_SCAN || track == TRACK_SWEEP
            ? track_names[track]
            : model_trace_type_name((enum model_trace_type)event->type);

    if (begins && track == TRACK_RUN)
        (void)snprintf(item->name, sizeof item->name, "g %" PRIu64, event->g);
    else if (begins && track == TRACK_THREAD)
        (void)snprintf(item->name, sizeof item->name, "thread %" PRIu64,
                       event->arg);
    else
        (void)snprintf(item->name, sizeof item->name, "%s",
                       plain + (plain[0] == ' '));
}

static bool
show(struct view *view, const struct model_trace_event *event)
{
    const struct look look = look_of(event);
    const uint64_t index = track_index(event, look.track);
    struct model_trace_item item = {
        .kind = look.kind,
        .track = index + 1,
        .time_ns = model_trace_ns(view->trace, event->ticks),
        .value = event->arg,
        .event = event,
    };

    if (!declare(view, index, event, look.track))
        return false;
    if (look.kind == MODEL_TRACE_ITEM_BEGIN)
        view->tracks[index].is_open = true;
    if (look.kind == MODEL_TRACE_ITEM_END)
        view->tracks[index].is_open = false;
    name_item(&item, look.track);
    return view->take(view->to, &item);
}

static bool
close_slices(struct view *view)
{
    const uint32_t count = model_trace_count(view->trace);
    struct model_trace_item item = {.kind = MODEL_TRACE_ITEM_END};

    item.time_ns = model_trace_ns(
        view->trace, model_trace_at(view->trace, count - 1)->ticks);
    for (uint64_t i = 0; i < view->tracks_count; i++) {
        item.track = i + 1;
        if (view->tracks[i].is_open && !view->take(view->to, &item))
            return false;
    }
    return true;
}

bool
model_trace_view(const struct model_trace *trace, model_trace_item_fn take,
                 void *to)
{
    struct view view = {
        .trace = trace,
        .take = take,
        .to = to,
        .tracks_count = (uint64_t)TRACKS_ONCE +
                        (uint64_t)trace->procs.count * TRACKS_OF_PROC,
    };
    bool done = true;

    view.tracks = calloc(view.tracks_count, sizeof *view.tracks);
    if (view.tracks == NULL)
        return false;
    for (uint32_t i = 0; done && i < model_trace_count(trace); i++)
        done = show(&view, model_trace_at(trace, i));
    done = done && close_slices(&view);
    free(view.tracks);
    return done;
}
