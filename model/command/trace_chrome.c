/*
 * trace_chrome.c -- Chrome's trace-event JSON, one item a line.
 *
 * Times are microseconds with three decimals, so nanoseconds survive. A slice
 * is a "B" and an "E" on a thread, an instant an "i", a counter a "C"; a track
 * is a thread of process 1 with its name in an "M". All text comes from
 * trace_view.c: letters, digits and spaces, nothing that JSON would quote.
 */
#include "model/command/trace_view.h"

#include <inttypes.h>
#include <stdlib.h>

struct chrome {
    const struct model_trace *trace;
    FILE *to;
    uint64_t *pcs; /* room for one stack */
    bool has_items;
};

static void
write_args(struct chrome *chrome, const struct model_trace_event *event)
{
    FILE *to = chrome->to;
    const uint32_t frames =
        model_trace_stack(chrome->trace, event->stack, chrome->pcs);

    fprintf(to,
            ",\"args\":{\"event\":\"%s\",\"g\":%" PRIu64 ",\"arg\":%" PRIu64
            ",\"seq\":%" PRId64 ",\"offset\":%" PRIu64,
            model_trace_type_name((enum model_trace_type)event->type), event->g,
            event->arg, event->seq, event->offset_bytes);
    if (event->pc != 0)
        fprintf(to, ",\"pc\":\"0x%" PRIx64 "\"", event->pc);
    if (frames > 0) {
        fputs(",\"stack\":\"", to);
        for (uint32_t i = 0; i < frames; i++)
            fprintf(to, "%s0x%" PRIx64, i == 0 ? "" : " ", chrome->pcs[i]);
        fputc('"', to);
    }
    fputc('}', to);
}

static void
write_track(FILE *to, const struct model_trace_item *item)
{
    fprintf(to,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu64
            ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu64
            ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu64
            "}}",
            item->track, item->name, item->track, item->track);
}

static char
phase_of(enum model_trace_item_kind kind)
{
    switch (kind) {
    case MODEL_TRACE_ITEM_TRACK:
        return 'M';
    case MODEL_TRACE_ITEM_BEGIN:
        return 'B';
    case MODEL_TRACE_ITEM_END:
        return 'E';
    case MODEL_TRACE_ITEM_INSTANT:
        return 'i';
    case MODEL_TRACE_ITEM_COUNTER:
        break;
    }
    return 'C';
}

static void
write_item(struct chrome *chrome, const struct model_trace_item *item)
{
    FILE *to = chrome->to;

    fprintf(to,
            "{\"ph\":\"%c\",\"pid\":1,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64
            ".%03" PRIu64,
            phase_of(item->kind), item->track, item->time_ns / 1000,
            item->time_ns % 1000);
    if (item->kind != MODEL_TRACE_ITEM_END)
        fprintf(to, ",\"name\":\"%s\"", item->name);
    if (item->kind == MODEL_TRACE_ITEM_COUNTER)
        fprintf(to, ",\"args\":{\"value\":%" PRIu64 "}", item->value);
    else if (item->event != NULL)
        write_args(chrome, item->event);
    fputc('}', to);
}

static bool
take(void *to, const struct model_trace_item *item)
{
    struct chrome *chrome = to;

    if (item->kind == MODEL_TRACE_ITEM_TRACK && item->is_counter)
        return true; /* a counter's own name is its track */
    fputs(chrome->has_items ? ",\n" : "\n", chrome->to);
    chrome->has_items = true;
    if (item->kind == MODEL_TRACE_ITEM_TRACK)
        write_track(chrome->to, item);
    else
        write_item(chrome, item);
    return !ferror(chrome->to);
}

bool
model_trace_write_chrome(const struct model_trace *trace, FILE *to)
{
    struct chrome chrome = {
        .trace = trace,
        .to = to,
        .pcs = malloc(MODEL_TRACE_FRAMES_MAX * sizeof *chrome.pcs),
    };

    if (chrome.pcs == NULL)
        return false;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", to);
    const bool done = model_trace_view(trace, take, &chrome);
    fputs("\n]}\n", to);
    free(chrome.pcs);
    return done && !ferror(to);
}
