/*
 * simplify.c -- shrinking on events, after the choices have been shrunk.
 *
 * Each step makes a candidate from the best list so far, and keeps it if it
 * fails in the same way. The steps:
 *   - leave out blocks of events, from all of them down to one;
 *   - set a field to the most ordinary value: no delay, task 0, size 16;
 *   - give the world its defaults;
 *   - move an event, if another one can then be left out.
 * Every candidate that is kept is plainer or shorter, so the search ends.
 */
#include "props/campaign/simplify.h"

#include <stdlib.h>
#include <string.h>

struct work {
    struct props_event_list *best;
    struct props_event_list next; /* the candidate */
    struct sim_event *saved;      /* for move_one() */
    bool (*still_fails)(void *context, const struct props_event_list *list);
    void *context;
};

static void
copy_events(struct sim_event *to, const struct sim_event *from, uint32_t count)
{
    memcpy(to, from, count * sizeof *to);
}

/* Begin a candidate that equals the best list. */
static void
begin(struct work *w)
{
    w->next.config = w->best->config;
    w->next.events_count = w->best->events_count;
    copy_events(w->next.events, w->best->events, w->best->events_count);
}

/* Keep the candidate if it fails. */
static bool
keep(struct work *w)
{
    if (!w->still_fails(w->context, &w->next))
        return false;
    w->best->config = w->next.config;
    w->best->events_count = w->next.events_count;
    copy_events(w->best->events, w->next.events, w->next.events_count);
    return true;
}

static bool
leave_out(struct work *w)
{
    bool better = false;

    for (uint32_t block = w->best->events_count; block > 0; block /= 2) {
        for (uint32_t end = w->best->events_count; end >= block; end--) {
            if (end > w->best->events_count)
                continue;
            begin(w);
            copy_events(&w->next.events[end - block], &w->best->events[end],
                        w->best->events_count - end);
            w->next.events_count -= block;
            better |= keep(w);
        }
    }
    return better;
}

/* The plainest stack of an event: none, if its kind may lack one; else 0. */
static uint32_t
plain_stack(const struct work *w, enum sim_event_kind kind)
{
    return w->best->config.scheduled &&
                   strchr(sim_event_arguments(kind), 'S') != NULL
               ? TRUTH_NO_STACK
               : 0;
}

/* Set each field of each event to its plainest value, one at a time. */
static void
make_plain(struct work *w)
{
    for (uint32_t i = 0; i < w->best->events_count; i++) {
        const struct sim_event *event = &w->best->events[i];

        if (event->delay_ticks != 0) {
            begin(w);
            w->next.events[i].delay_ticks = 0;
            keep(w);
        }
        if (event->task != 0) {
            begin(w);
            w->next.events[i].task = 0;
            keep(w);
        }
        if (event->kind == SIM_EV_ALLOC && event->size_bytes != 16) {
            begin(w);
            w->next.events[i].size_bytes = 16;
            keep(w);
        }
        if (event->stack != plain_stack(w, event->kind)) {
            begin(w);
            w->next.events[i].stack = plain_stack(w, event->kind);
            keep(w);
        }
    }
}

static void
make_default(struct work *w)
{
    begin(w);
    w->next.config.procs = 1;
    keep(w);
    begin(w);
    memset(w->next.config.clocks, 0, sizeof w->next.config.clocks);
    keep(w);
    begin(w);
    w->next.config.cycle_first = 0;
    keep(w);
    begin(w);
    w->next.config.hash = PROF_HASH_MULTILINEAR;
    keep(w);
    begin(w);
    w->next.config.depth_max = 32;
    keep(w);
    begin(w);
    w->next.config.frames_max = 0;
    keep(w);
    begin(w);
    w->next.config.seed = 0;
    keep(w);
    begin(w);
    w->next.config.waiters_all = false;
    keep(w);
}

static void
move_event(struct sim_event *events, uint32_t from, uint32_t to)
{
    const struct sim_event moved = events[from];

    if (from < to)
        memmove(&events[from], &events[from + 1], (to - from) * sizeof *events);
    else
        memmove(&events[to + 1], &events[to], (from - to) * sizeof *events);
    events[to] = moved;
}

/* Move an event. Undo that unless another event can then be left out. */
static bool
move_one(struct work *w, uint32_t from, uint32_t to)
{
    const uint32_t count = w->best->events_count;

    begin(w);
    move_event(w->next.events, from, to);
    copy_events(w->saved, w->best->events, count);
    if (!keep(w))
        return false;
    if (leave_out(w))
        return true;
    copy_events(w->best->events, w->saved, count);
    return false;
}

static bool
move_events(struct work *w)
{
    const uint32_t count = w->best->events_count;
    const uint32_t few = 32; /* quadratic: only worth it near the end */

    if (count > few)
        return false;
    for (uint32_t from = 0; from < count; from++) {
        for (uint32_t to = 0; to < count; to++) {
            if (from != to && move_one(w, from, to))
                return true;
        }
    }
    return false;
}

bool
props_simplify(struct props_event_list *list,
               bool (*still_fails)(void *context,
                                   const struct props_event_list *list),
               void *context)
{
    const size_t room = (size_t)list->events_count + 1;
    struct work w = {
        .best = list,
        .next = {.events = calloc(room, sizeof *w.next.events)},
        .saved = calloc(room, sizeof *w.saved),
        .still_fails = still_fails,
        .context = context,
    };
    const bool memory = w.next.events != NULL && w.saved != NULL;

    if (memory) {
        do {
            leave_out(&w);
            make_plain(&w);
            make_default(&w);
        } while (leave_out(&w) || move_events(&w));
    }
    free(w.next.events);
    free(w.saved);
    return memory;
}
