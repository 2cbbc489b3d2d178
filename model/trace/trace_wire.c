/*
 * trace_wire.c -- see trace_wire.h. The file is untrusted: this code has no
 * assertions, and every step either moves forward by at least one byte or ends
 * the reading.
 */
#include "model/trace/trace_wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES_MAX 10

static const struct {
    const char *name;
    uint32_t args;
    bool stack;
} types[MODEL_TRACE_TYPE_COUNT] = {
#define X(id, name, args, stack) {name, args, stack},
#include "model/trace/trace_wire.def"
#undef X
};

_Static_assert(MODEL_TRACE_TYPE_COUNT == 37, "the format has types 1 to 36");

const char *
model_trace_type_name(enum model_trace_type type)
{
    return types[type].name;
}

uint32_t
model_trace_type_args(enum model_trace_type type)
{
    return types[type].args;
}

bool
model_trace_type_has_stack(enum model_trace_type type)
{
    return types[type].stack;
}

void
model_trace_explain(struct model_trace_reason *reason, uint64_t offset,
                    const char *format, ...)
{
    va_list args;

    reason->offset_bytes = offset;
    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
}

/* Parse "go A.B trace" or "go A.BC trace", followed by zeros up to 16 bytes. */
static bool
header_version(const uint8_t *header, unsigned *major, unsigned *minor)
{
    static const char tail[] = " trace\0\0\0\0";
    size_t at = 6;

    if (memcmp(header, "go ", 3) != 0 || header[4] != '.')
        return false;
    if (header[3] < '1' || header[3] > '9')
        return false;
    if (header[5] < '1' || header[5] > '9')
        return false;
    *major = header[3] - (unsigned)'0';
    *minor = header[5] - (unsigned)'0';
    while (at < 8 && header[at] >= '0' && header[at] <= '9')
        *minor = *minor * 10 + header[at++] - (unsigned)'0';
    return memcmp(header + at, tail, MODEL_TRACE_HEADER_BYTES - at) == 0;
}

bool
model_trace_wire_open(struct model_trace_wire *wire, const uint8_t *bytes,
                      size_t bytes_count)
{
    unsigned major = 0;
    unsigned minor = 0;

    *wire = (struct model_trace_wire){
        .bytes = bytes,
        .bytes_count = bytes_count,
        .at = MODEL_TRACE_HEADER_BYTES,
    };
    if (bytes_count < MODEL_TRACE_HEADER_BYTES) {
        model_trace_explain(&wire->reason, bytes_count,
                            "the header has 16 bytes, the file ends after %zu",
                            bytes_count);
        return false;
    }
    if (!header_version(bytes, &major, &minor)) {
        model_trace_explain(&wire->reason, 0, "not a trace file");
        return false;
    }
    if (major != 1 || minor != 5) {
        model_trace_explain(&wire->reason, 0,
                            "unsupported trace version %u.%u, only 1.5 is read",
                            major, minor);
        return false;
    }
    return true;
}

/* Read a number. returns: the byte after it, or NULL if it is malformed */
static inline const uint8_t *
number_next(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
    uint64_t value = 0;

    if (at < end && *at < 0x80) { /* most of them */
        *number = *at;
        return at + 1;
    }
    for (unsigned i = 0; i < NUMBER_BYTES_MAX && at < end; i++, at++) {
        value |= (uint64_t)(*at & 0x7f) << (7 * i);
        if (*at < 0x80) {
            *number = value;
            return at + 1;
        }
    }
    return NULL;
}

static enum model_trace_step
refuse_number(struct model_trace_wire *wire, const uint8_t *at)
{
    const size_t offset = (size_t)(at - wire->bytes);

    wire->is_cut = wire->bytes_count - offset < NUMBER_BYTES_MAX;
    if (wire->is_cut)
        model_trace_explain(&wire->reason, offset,
                            "the file ends inside a number");
    else
        model_trace_explain(&wire->reason, offset,
                            "a number has more than %d bytes",
                            NUMBER_BYTES_MAX);
    return MODEL_TRACE_STEP_BROKEN;
}

static enum model_trace_step
refuse_length(struct model_trace_wire *wire,
              const struct model_trace_record *record, uint64_t length,
              size_t filled)
{
    model_trace_explain(&wire->reason, record->offset_bytes,
                        "%s has wrong length: %" PRIu64
                        " bytes announced, its numbers fill %zu",
                        types[record->type].name, length, filled);
    return MODEL_TRACE_STEP_BROKEN;
}

/* Read the numbers of a record of kind 3, which must fill its length
 * exactly. */
static enum model_trace_step
args_by_length(struct model_trace_wire *wire, struct model_trace_record *record)
{
    const uint8_t *const end = wire->bytes + wire->bytes_count;
    const uint8_t *at = wire->bytes + wire->at;
    uint64_t length;
    uint64_t count = 0;

    const uint8_t *start = number_next(at, end, &length);
    if (start == NULL)
        return refuse_number(wire, at);
    at = start;
    while ((uint64_t)(at - start) < length) {
        uint64_t number;
        const uint8_t *next = number_next(at, end, &number);
        if (next == NULL)
            return refuse_number(wire, at);
        if (count < MODEL_TRACE_ARGS_MAX)
            record->args[count] = number;
        count++;
        at = next;
    }
    if ((uint64_t)(at - start) != length)
        return refuse_length(wire, record, length, (size_t)(at - start));
    record->arg_count = count;
    wire->at = (size_t)(at - wire->bytes);
    return MODEL_TRACE_STEP_RECORD;
}

/* Read the `count` numbers of a record of another kind. */
static enum model_trace_step
args_by_count(struct model_trace_wire *wire, struct model_trace_record *record,
              unsigned count)
{
    const uint8_t *const end = wire->bytes + wire->bytes_count;
    const uint8_t *at = wire->bytes + wire->at;

    for (unsigned i = 0; i < count; i++) {
        const uint8_t *next = number_next(at, end, &record->args[i]);
        if (next == NULL)
            return refuse_number(wire, at);
        at = next;
    }
    record->arg_count = count;
    wire->at = (size_t)(at - wire->bytes);
    return MODEL_TRACE_STEP_RECORD;
}

enum model_trace_step
model_trace_wire_next(struct model_trace_wire *wire,
                      struct model_trace_record *record)
{
    if (wire->at == wire->bytes_count)
        return MODEL_TRACE_STEP_END;

    const size_t start = wire->at++;
    const unsigned type = wire->bytes[start] & 0x3f;
    const unsigned kind = wire->bytes[start] >> 6;

    if (type == MODEL_TRACE_NONE || type >= MODEL_TRACE_TYPE_COUNT) {
        model_trace_explain(&wire->reason, start, "unknown event type %u",
                            type);
        return MODEL_TRACE_STEP_BROKEN;
    }
    *record = (struct model_trace_record){
        .offset_bytes = start,
        .type = (enum model_trace_type)type,
    };
    if (kind == 3)
        return args_by_length(wire, record);
    return args_by_count(wire, record, kind + 2);
}

uint32_t
model_trace_wire_frames(const struct model_trace_wire *wire,
                        uint64_t offset_bytes, uint64_t *pcs)
{
    const uint8_t *const end = wire->bytes + wire->bytes_count;
    const uint8_t *at = wire->bytes + offset_bytes;
    const unsigned before = *at >> 6 == 3 ? 3 : 2; /* [length,] id, frames */
    uint64_t frames = 0;

    at++;
    for (unsigned i = 0; i < before; i++)
        at = number_next(at, end, &frames);
    for (uint64_t i = 0; i < frames; i++)
        at = number_next(at, end, &pcs[i]);
    return (uint32_t)frames;
}
