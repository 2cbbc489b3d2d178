/*
 * trace_view.h -- an accepted trace in the terms of timeline viewers: tracks
 * with slices, instants and counters.
 *
 *      "P 0"          slices: which goroutine runs; instants in between
 *      "P 0 thread"   slices: which thread drives the processor
 *      "P 0 scan"     slices: scans of the collector, "P 0 sweep": sweeps
 *      "GC"           slices: collections
 *      "timers", "network", "syscalls"   instants
 *      "HeapAlloc", "NextGC", "Gomaxprocs"   counters
 *
 * Every event becomes exactly one item, so all formats have the same number of
 * items. A slice that is still open at the end gets an END without an event. A
 * track is declared once, just before its first item.
 */
#ifndef MODEL_COMMAND_TRACE_VIEW_H
#define MODEL_COMMAND_TRACE_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include "model/trace/trace_reader.h"

enum model_trace_item_kind {
    MODEL_TRACE_ITEM_TRACK,
    MODEL_TRACE_ITEM_BEGIN,
    MODEL_TRACE_ITEM_END,
    MODEL_TRACE_ITEM_INSTANT,
    MODEL_TRACE_ITEM_COUNTER,
};

struct model_trace_item {
    enum model_trace_item_kind kind;
    uint64_t track;   /* from 1; dense enough for a thread id */
    bool is_counter;  /* TRACK: will hold counters */
    char name[48];    /* of the track, slice, instant or counter */
    uint64_t time_ns; /* since the first event; not for TRACK */
    uint64_t value;   /* COUNTER */
    const struct model_trace_event *event; /* NULL: TRACK, END at the end */
};

/* Called for each item. returns: false to stop */
typedef bool (*model_trace_item_fn)(void *to,
                                    const struct model_trace_item *item);

/*
 * Call `take` for every item of an accepted trace, in chronological order.
 *
 * returns: false without memory or if `take` stopped
 */
bool model_trace_view(const struct model_trace *trace, model_trace_item_fn take,
                      void *to);

/* Write an accepted trace as Chrome trace-event JSON. returns: as above */
bool model_trace_write_chrome(const struct model_trace *trace, FILE *to);

/* Write an accepted trace as a Perfetto protobuf. returns: as above */
bool model_trace_write_perfetto(const struct model_trace *trace, FILE *to);

#endif
