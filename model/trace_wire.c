/*
 * trace_wire.c -- see trace_wire.h. The file is foreign: nothing here asserts,
 * every step moves forward by at least one byte or ends.
 */
#include "trace_wire.h"

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
#include "trace_event.def"
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

/* "go A.B trace" or "go A.BC trace" and zeros up to 16 bytes. */
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

void
model_trace_wire_rewind(struct model_trace_wire *wire)
{
    wire->at = MODEL_TRACE_HEADER_BYTES;
}

static bool
number_next(struct model_trace_wire *wire, uint64_t *number)
{
    const size_t start = wire->at;
    uint64_t value = 0;

    for (unsigned i = 0; i < NUMBER_BYTES_MAX; i++) {
        if (wire->at == wire->bytes_count) {
            model_trace_explain(&wire->reason, start,
                                "the file ends inside a number");
            return false;
        }
        const uint8_t byte = wire->bytes[wire->at++];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            *number = value;
            return true;
        }
    }
    model_trace_explain(&wire->reason, start, "a number has more than %d bytes",
                        NUMBER_BYTES_MAX);
    return false;
}

static bool
arg_next(struct model_trace_wire *wire, struct model_trace_record *record)
{
    uint64_t number;

    if (!number_next(wire, &number))
        return false;
    if (record->arg_count < MODEL_TRACE_ARGS_MAX)
        record->args[record->arg_count] = number;
    record->arg_count++;
    return true;
}

/* The numbers of a record of kind 3: they must end where the length says. */
static bool
args_by_length(struct model_trace_wire *wire, struct model_trace_record *record)
{
    uint64_t length;

    if (!number_next(wire, &length))
        return false;

    const size_t start = wire->at;
    while (wire->at - start < length) {
        if (!arg_next(wire, record))
            return false;
    }
    if (wire->at - start != length) {
        model_trace_explain(&wire->reason, record->offset_bytes,
                            "%s has wrong length: %" PRIu64
                            " bytes announced, its numbers fill %zu",
                            types[record->type].name, length, wire->at - start);
        return false;
    }
    return true;
}

enum model_trace_step
model_trace_wire_next(struct model_trace_wire *wire,
                      struct model_trace_record *record)
{
    if (wire->at == wire->bytes_count)
        return MODEL_TRACE_STEP_END;

    const size_t start = wire->at;
    const uint8_t byte0 = wire->bytes[wire->at++];
    const unsigned type = byte0 & 0x3f;
    const unsigned kind = byte0 >> 6;

    if (type == MODEL_TRACE_NONE || type >= MODEL_TRACE_TYPE_COUNT) {
        model_trace_explain(&wire->reason, start, "unknown event type %u",
                            type);
        return MODEL_TRACE_STEP_BROKEN;
    }
    *record = (struct model_trace_record){
        .offset_bytes = start,
        .type = (enum model_trace_type)type,
    };
    if (kind == 3) {
        if (!args_by_length(wire, record))
            return MODEL_TRACE_STEP_BROKEN;
        return MODEL_TRACE_STEP_RECORD;
    }
    for (unsigned i = 0; i < kind + 2; i++) {
        if (!arg_next(wire, record))
            return MODEL_TRACE_STEP_BROKEN;
    }
    return MODEL_TRACE_STEP_RECORD;
}

uint32_t
model_trace_wire_frames(const struct model_trace_wire *wire,
                        uint64_t offset_bytes, uint64_t *pcs)
{
    struct model_trace_wire at = *wire;
    struct model_trace_record record;
    uint64_t number = 0;
    uint32_t count = 0;

    at.at = (size_t)offset_bytes;
    if (model_trace_wire_next(&at, &record) != MODEL_TRACE_STEP_RECORD)
        return 0;
    at.at = (size_t)offset_bytes + 1;
    if (at.bytes[offset_bytes] >> 6 == 3)
        (void)number_next(&at, &number); /* the length */
    (void)number_next(&at, &number);     /* the id */
    (void)number_next(&at, &number);     /* how many frames */
    while (count < record.args[1] && count < MODEL_TRACE_FRAMES_MAX &&
           number_next(&at, &pcs[count]))
        count++;
    return count;
}
