/*
 * trace_perfetto.c -- Perfetto's protobuf.
 *
 *      Trace { packet* }
 *      packet { timestamp, sequence, descriptor of a track or event on one }
 *
 * The buffer is reset after each packet; the largest is a stack of 1000 frames,
 * about 19 KiB.
 */
#include "model/command/trace_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/proto.h"

#define SEQUENCE_ID 1

/* Field numbers of the messages named before the underscore. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_COUNTER = 8,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10,
};

enum { STATE_CLEARED = 1 };

struct perfetto {
    const struct model_trace *trace;
    FILE *to;
    uint64_t *pcs; /* room for one stack */
    bool is_begun;
    struct cli_proto packet;
};

static void
annotate_number(struct perfetto *out, const char *name, uint32_t field,
                uint64_t value)
{
    const size_t start = cli_proto_begin(&out->packet, EVENT_ANNOTATION);

    cli_proto_text(&out->packet, ANNOTATION_NAME, name);
    cli_proto_value(&out->packet, field, value);
    cli_proto_end(&out->packet, start);
}

static void
annotate_text(struct perfetto *out, const char *name, const char *text)
{
    const size_t start = cli_proto_begin(&out->packet, EVENT_ANNOTATION);

    cli_proto_text(&out->packet, ANNOTATION_NAME, name);
    cli_proto_text(&out->packet, ANNOTATION_STRING, text);
    cli_proto_end(&out->packet, start);
}

static void
annotate_stack(struct perfetto *out, uint64_t stack)
{
    const uint32_t frames = model_trace_stack(out->trace, stack, out->pcs);
    char pc[24];

    if (frames == 0)
        return;

    const size_t start = cli_proto_begin(&out->packet, EVENT_ANNOTATION);
    cli_proto_text(&out->packet, ANNOTATION_NAME, "stack");
    const size_t text = cli_proto_begin(&out->packet, ANNOTATION_STRING);
    for (uint32_t i = 0; i < frames; i++) {
        (void)snprintf(pc, sizeof pc, "%s0x%" PRIx64, i == 0 ? "" : " ",
                       out->pcs[i]);
        cli_proto_put(&out->packet, pc, strlen(pc));
    }
    cli_proto_end(&out->packet, text);
    cli_proto_end(&out->packet, start);
}

static void
annotate(struct perfetto *out, const struct model_trace_event *event)
{
    char pc[24];

    annotate_text(out, "event",
                  model_trace_type_name((enum model_trace_type)event->type));
    annotate_number(out, "g", ANNOTATION_UINT, event->g);
    annotate_number(out, "arg", ANNOTATION_UINT, event->arg);
    annotate_number(out, "seq", ANNOTATION_INT, (uint64_t)event->seq);
    annotate_number(out, "offset", ANNOTATION_UINT, event->offset_bytes);
    if (event->pc != 0) {
        (void)snprintf(pc, sizeof pc, "0x%" PRIx64, event->pc);
        annotate_text(out, "pc", pc);
    }
    annotate_stack(out, event->stack);
}

static void
put_track(struct perfetto *out, const struct model_trace_item *item)
{
    const size_t start = cli_proto_begin(&out->packet, PACKET_TRACK_DESCRIPTOR);

    cli_proto_value(&out->packet, TRACK_UUID, item->track);
    cli_proto_text(&out->packet, TRACK_NAME, item->name);
    if (item->is_counter)
        cli_proto_end(&out->packet,
                      cli_proto_begin(&out->packet, TRACK_COUNTER));
    cli_proto_end(&out->packet, start);
}

static void
put_event(struct perfetto *out, const struct model_trace_item *item)
{
    const size_t start = cli_proto_begin(&out->packet, PACKET_TRACK_EVENT);

    /* Perfetto's types have the same order as ours, from BEGIN = 1. */
    cli_proto_value(&out->packet, EVENT_TYPE, (uint64_t)item->kind);
    cli_proto_value(&out->packet, EVENT_TRACK_UUID, item->track);
    if (item->kind == MODEL_TRACE_ITEM_COUNTER)
        cli_proto_value(&out->packet, EVENT_COUNTER_VALUE, item->value);
    else if (item->kind != MODEL_TRACE_ITEM_END)
        cli_proto_text(&out->packet, EVENT_NAME, item->name);
    if (item->event != NULL)
        annotate(out, item->event);
    cli_proto_end(&out->packet, start);
}

_Static_assert(MODEL_TRACE_ITEM_BEGIN == 1 && MODEL_TRACE_ITEM_END == 2 &&
                   MODEL_TRACE_ITEM_INSTANT == 3 &&
                   MODEL_TRACE_ITEM_COUNTER == 4,
               "item kinds are written as Perfetto's types");

static bool
take(void *to, const struct model_trace_item *item)
{
    struct perfetto *out = to;
    const bool is_track = item->kind == MODEL_TRACE_ITEM_TRACK;

    out->packet.count = 0;
    const size_t start = cli_proto_begin(&out->packet, TRACE_PACKET);
    if (!is_track)
        cli_proto_value(&out->packet, PACKET_TIMESTAMP, item->time_ns);
    cli_proto_value(&out->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    if (!out->is_begun)
        cli_proto_value(&out->packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    out->is_begun = true;
    if (is_track)
        put_track(out, item);
    else
        put_event(out, item);
    cli_proto_end(&out->packet, start);
    return fwrite(out->packet.at, 1, out->packet.count, out->to) ==
           out->packet.count;
}

bool
model_trace_write_perfetto(const struct model_trace *trace, FILE *to)
{
    struct perfetto *out = calloc(1, sizeof *out);
    bool done = false;

    if (out == NULL)
        return false;
    out->trace = trace;
    out->to = to;
    out->pcs = malloc(MODEL_TRACE_FRAMES_MAX * sizeof *out->pcs);
    if (out->pcs != NULL)
        done = model_trace_view(trace, take, out);
    free(out->packet.at);
    free(out->pcs);
    free(out);
    return done && !ferror(to);
}
