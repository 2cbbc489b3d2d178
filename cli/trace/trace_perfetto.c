/*
 * trace_perfetto.c -- Perfetto's protobuf, with a writer of 40 lines.
 *
 *      Trace { packet* }
 *      packet { timestamp, sequence, descriptor of a track or event on one }
 *
 * A nested message begins with its length, which is known only afterwards. So
 * four bytes are reserved and filled in at the end, padded with continuation
 * bits, which any reader of varints accepts. So one buffer and one pass are
 * enough. The buffer is reset after each packet; the largest is a stack of 1000
 * frames, about 19 KiB.
 */
#include "trace_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES_MAX 32768
#define LENGTH_BYTES     4
#define SEQUENCE_ID      1

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

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, STATE_CLEARED = 1 };

struct perfetto {
    const struct model_trace *trace;
    FILE *to;
    uint64_t *pcs; /* room for one stack */
    bool is_begun;
    uint32_t used;
    uint8_t packet[PACKET_BYTES_MAX];
};

_Static_assert(PACKET_BYTES_MAX > MODEL_TRACE_FRAMES_MAX * 19 + 1024,
               "a stack fits, with a name and the numbers of its event");

static void
put_byte(struct perfetto *out, uint8_t byte)
{
    out->packet[out->used++] = byte;
}

static void
put_varint(struct perfetto *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put_byte(out, (uint8_t)(value | 0x80));
    put_byte(out, (uint8_t)value);
}

static void
put_number(struct perfetto *out, uint32_t field, uint64_t value)
{
    put_varint(out, field << 3 | WIRE_VARINT);
    put_varint(out, value);
}

static void
put_text(struct perfetto *out, uint32_t field, const char *text)
{
    const size_t length = strlen(text);

    put_varint(out, field << 3 | WIRE_BYTES);
    put_varint(out, length);
    for (size_t i = 0; i < length; i++)
        put_byte(out, (uint8_t)text[i]);
}

/* returns: where the message begins, for end_message() */
static uint32_t
begin_message(struct perfetto *out, uint32_t field)
{
    put_varint(out, field << 3 | WIRE_BYTES);
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        put_byte(out, 0);
    return out->used;
}

static void
end_message(struct perfetto *out, uint32_t start)
{
    uint32_t length = out->used - start;

    for (unsigned i = LENGTH_BYTES; i > 0; i--) {
        out->packet[start - i] = (uint8_t)(length & 0x7f);
        if (i > 1)
            out->packet[start - i] |= 0x80;
        length >>= 7;
    }
}

static void
annotate_number(struct perfetto *out, const char *name, uint32_t field,
                uint64_t value)
{
    const uint32_t start = begin_message(out, EVENT_ANNOTATION);

    put_text(out, ANNOTATION_NAME, name);
    put_number(out, field, value);
    end_message(out, start);
}

static void
annotate_text(struct perfetto *out, const char *name, const char *text)
{
    const uint32_t start = begin_message(out, EVENT_ANNOTATION);

    put_text(out, ANNOTATION_NAME, name);
    put_text(out, ANNOTATION_STRING, text);
    end_message(out, start);
}

static void
annotate_stack(struct perfetto *out, uint64_t stack)
{
    const uint32_t frames = model_trace_stack(out->trace, stack, out->pcs);
    char pc[24];

    if (frames == 0)
        return;

    const uint32_t start = begin_message(out, EVENT_ANNOTATION);
    put_text(out, ANNOTATION_NAME, "stack");
    const uint32_t text = begin_message(out, ANNOTATION_STRING);
    for (uint32_t i = 0; i < frames; i++) {
        (void)snprintf(pc, sizeof pc, "%s0x%" PRIx64, i == 0 ? "" : " ",
                       out->pcs[i]);
        for (const char *at = pc; *at != '\0'; at++)
            put_byte(out, (uint8_t)*at);
    }
    end_message(out, text);
    end_message(out, start);
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
    const uint32_t start = begin_message(out, PACKET_TRACK_DESCRIPTOR);

    put_number(out, TRACK_UUID, item->track);
    put_text(out, TRACK_NAME, item->name);
    if (item->is_counter)
        end_message(out, begin_message(out, TRACK_COUNTER));
    end_message(out, start);
}

static void
put_event(struct perfetto *out, const struct model_trace_item *item)
{
    const uint32_t start = begin_message(out, PACKET_TRACK_EVENT);

    /* Perfetto's types have the same order as ours, from BEGIN = 1. */
    put_number(out, EVENT_TYPE, (uint64_t)item->kind);
    put_number(out, EVENT_TRACK_UUID, item->track);
    if (item->kind == MODEL_TRACE_ITEM_COUNTER)
        put_number(out, EVENT_COUNTER_VALUE, item->value);
    else if (item->kind != MODEL_TRACE_ITEM_END)
        put_text(out, EVENT_NAME, item->name);
    if (item->event != NULL)
        annotate(out, item->event);
    end_message(out, start);
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

    out->used = 0;
    const uint32_t start = begin_message(out, TRACE_PACKET);
    if (!is_track)
        put_number(out, PACKET_TIMESTAMP, item->time_ns);
    put_number(out, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    if (!out->is_begun)
        put_number(out, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    out->is_begun = true;
    if (is_track)
        put_track(out, item);
    else
        put_event(out, item);
    end_message(out, start);
    return fwrite(out->packet, 1, out->used, out->to) == out->used;
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
    free(out->pcs);
    free(out);
    return done && !ferror(to);
}
