/*
 * trace_order.c -- the true order of events, and which wake-ups were futile.
 *
 * Order. Sequence numbers were drawn in the order in which the clock was read,
 * so sorting by them restores the order of events. Events with the same number
 * (no writer should produce them) keep the order of the file, so that the
 * verdict depends on the bytes alone. In the sorted order time must not run
 * backwards; equal times are fine.
 *
 *      batches     [1 2 5][7 8] [3 4 6]      two processors
 *      sorted      1 2 3 4 5 6 7 8           runs merged two by two
 *
 * Futile wake-ups. If a goroutine was woken, found its condition gone and
 * blocked again, the trace has this sequence:
 *
 *      unblock g | start g | (preempt g | start g)* | futile g | block g
 *
 * The sequence says nothing about the program, so all its events are removed,
 * including the first, on any processor and by any goroutine. A trace may begin
 * in the middle of one.
 */
#include "model/trace/trace_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool
seq_before(const struct model_trace *trace, uint32_t a, uint32_t b)
{
    return trace->events[a].seq < trace->events[b].seq;
}

/* returns: the end of the run that does not descend and begins at `start` */
static uint32_t
run_end(const struct model_trace *trace, const uint32_t *from, uint32_t start)
{
    uint32_t end = start + 1;

    while (end < trace->events_count &&
           !seq_before(trace, from[end], from[end - 1]))
        end++;
    return end;
}

/* Merge [start, middle) and [middle, end); on a tie the first run wins. */
static void
merge(const struct model_trace *trace, const uint32_t *from, uint32_t *to,
      const uint32_t bounds[3])
{
    uint32_t left = bounds[0];
    uint32_t right = bounds[1];

    for (uint32_t at = bounds[0]; at < bounds[2]; at++) {
        const bool take_right =
            right < bounds[2] &&
            (left == bounds[1] || seq_before(trace, from[right], from[left]));
        to[at] = take_right ? from[right++] : from[left++];
    }
}

/* Merge neighbouring runs, in one pass. returns: how many runs there are now */
static uint32_t
merge_pass(const struct model_trace *trace, const uint32_t *from, uint32_t *to)
{
    uint32_t runs = 0;
    uint32_t start = 0;

    while (start < trace->events_count) {
        const uint32_t middle = run_end(trace, from, start);
        const uint32_t end = middle < trace->events_count
                                 ? run_end(trace, from, middle)
                                 : middle;
        merge(trace, from, to, (const uint32_t[]){start, middle, end});
        runs++;
        start = end;
    }
    return runs;
}

static bool
make_room(struct model_trace *trace)
{
    const uint64_t room = trace->events_room;

    if (trace->order_room >= room)
        return true;
    free(trace->order);
    trace->order = malloc(2 * room * sizeof *trace->order);
    trace->order_room = trace->order == NULL ? 0 : (uint32_t)room;
    return trace->order != NULL;
}

static enum model_trace_verdict
check_time(struct model_trace *trace)
{
    for (uint32_t i = 1; i < trace->order_count; i++) {
        const struct model_trace_event *before = model_trace_at(trace, i - 1);
        const struct model_trace_event *after = model_trace_at(trace, i);
        if (after->ticks < before->ticks)
            return model_trace_reject(
                trace, MODEL_TRACE_TIME_ORDER, after->offset_bytes,
                "event %" PRId64 " at tick %" PRId64 " follows event %" PRId64
                " at tick %" PRId64 " (offset 0x%" PRIx64 ")",
                after->seq, after->ticks, before->seq, before->ticks,
                before->offset_bytes);
    }
    return MODEL_TRACE_OK;
}

enum model_trace_verdict
model_trace_sort(struct model_trace *trace)
{
    if (!make_room(trace))
        return model_trace_no_memory(trace);

    uint32_t *from = trace->order;
    uint32_t *to = trace->order + trace->order_room;
    for (uint32_t i = 0; i < trace->events_count; i++)
        from[i] = i;
    while (merge_pass(trace, from, to) > 1) {
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (to != trace->order)
        memcpy(trace->order, to, trace->events_count * sizeof *to);
    trace->order_count = trace->events_count;
    trace->first_ticks = model_trace_at(trace, 0)->ticks;

    for (uint32_t i = 1; i < trace->order_count; i++) {
        if (model_trace_at(trace, i)->seq == model_trace_at(trace, i - 1)->seq)
            trace->duplicate_seqs++;
    }
    return check_time(trace);
}

/* The events of a goroutine since it was last unblocked, as a chain. */
struct wakeup {
    uint32_t last; /* index of the last event plus 1; 0: none */
    bool is_futile;
};

struct wakeups {
    struct model_trace_map gs;
    struct wakeup *of; /* by index in gs */
    uint32_t of_room;
    uint32_t *before; /* for each event, index of the previous one in its chain
                         plus 1 */
};

static struct wakeup *
wakeup_of(struct wakeups *wakeups, uint64_t g)
{
    const uint32_t known = wakeups->gs.count;
    const uint32_t at = model_trace_map_put(&wakeups->gs, g);

    if (at == MODEL_TRACE_ABSENT)
        return NULL;
    if (at == known) {
        struct wakeup *of =
            model_trace_grow(wakeups->of, known, &wakeups->of_room, sizeof *of);
        if (of == NULL)
            return NULL;
        wakeups->of = of;
        of[at] = (struct wakeup){0};
    }
    return &wakeups->of[at];
}

/* The goroutine blocks: if its wake-up was futile, remove the whole chain. */
static void
settle(struct model_trace *trace, struct wakeups *wakeups,
       struct wakeup *wakeup, uint32_t block)
{
    if (wakeup->is_futile) {
        trace->events[block].is_futile = true;
        for (uint32_t at = wakeup->last; at != 0; at = wakeups->before[at - 1])
            trace->events[at - 1].is_futile = true;
    }
    *wakeup = (struct wakeup){0};
}

enum role { ROLE_NONE, ROLE_FIRST, ROLE_MIDDLE, ROLE_BLOCK };

/* The role of an event in a wake-up. Sleep, network waits and syscalls never
 * end a futile one. */
static enum role
role_of(uint8_t type)
{
    if (type == MODEL_TRACE_GO_UNBLOCK)
        return ROLE_FIRST;
    if (type == MODEL_TRACE_GO_START || type == MODEL_TRACE_GO_PREEMPT ||
        type == MODEL_TRACE_FUTILE_WAKEUP)
        return ROLE_MIDDLE;
    if (type == MODEL_TRACE_GO_BLOCK || type == MODEL_TRACE_GO_BLOCK_SEND ||
        type == MODEL_TRACE_GO_BLOCK_RECV ||
        type == MODEL_TRACE_GO_BLOCK_SELECT ||
        type == MODEL_TRACE_GO_BLOCK_SYNC || type == MODEL_TRACE_GO_BLOCK_COND)
        return ROLE_BLOCK;
    return ROLE_NONE;
}

static bool
follow(struct model_trace *trace, struct wakeups *wakeups, uint32_t index)
{
    const struct model_trace_event *event = &trace->events[index];
    const enum role role = role_of(event->type);

    if (role == ROLE_NONE)
        return true;

    struct wakeup *wakeup =
        wakeup_of(wakeups, role == ROLE_FIRST ? event->arg : event->g);
    if (wakeup == NULL)
        return false;
    if (role == ROLE_BLOCK) {
        settle(trace, wakeups, wakeup, index);
        return true;
    }
    wakeups->before[index] = role == ROLE_FIRST ? 0 : wakeup->last;
    wakeup->last = index + 1;
    if (event->type == MODEL_TRACE_FUTILE_WAKEUP)
        wakeup->is_futile = true;
    return true;
}

static void
drop_marked(struct model_trace *trace)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < trace->order_count; i++) {
        if (!model_trace_at(trace, i)->is_futile)
            trace->order[kept++] = trace->order[i];
    }
    trace->futile_events = trace->order_count - kept;
    trace->order_count = kept;
}

enum model_trace_verdict
model_trace_drop_futile(struct model_trace *trace)
{
    /* After sorting, the scratch half of `order` is free. */
    struct wakeups wakeups = {.before = trace->order + trace->order_room};
    bool done = true;

    for (uint32_t i = 0; done && i < trace->order_count; i++)
        done = follow(trace, &wakeups, trace->order[i]);
    model_trace_map_release(&wakeups.gs);
    free(wakeups.of);
    if (!done)
        return model_trace_no_memory(trace);
    drop_marked(trace);
    return MODEL_TRACE_OK;
}
