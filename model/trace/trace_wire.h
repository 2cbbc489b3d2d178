/*
 * trace_wire.h -- the bytes of a "go 1.5 trace" file, one record at a time.
 *
 *      16 bytes header | record | record | ... end of file after any record
 *
 *      record:  byte0 = kind << 6 | type
 *               kind 0, 1, 2: kind + 2 numbers
 *               kind 3:       a length, then numbers that fill it exactly
 *      number: unsigned LEB128 of at most 10 bytes; bits above 63 in the tenth
 *               byte are dropped
 *
 * This layer does not know what a record means: it returns the type, the first
 * MODEL_TRACE_ARGS_MAX numbers and how many there were. docs/trace-format.md
 * describes the whole format.
 */
#ifndef MODEL_TRACE_TRACE_WIRE_H
#define MODEL_TRACE_TRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_TRACE_ANY          UINT32_MAX
#define MODEL_TRACE_ARGS_MAX     5
#define MODEL_TRACE_HEADER_BYTES 16
#define MODEL_TRACE_FRAMES_MAX   1000

enum model_trace_type {
#define X(id, name, args, stack) MODEL_TRACE_##id,
#include "model/trace/trace_wire.def"
#undef X
    MODEL_TRACE_TYPE_COUNT
};

/* Why a file is rejected, and at which byte. */
struct model_trace_reason {
    uint64_t offset_bytes;
    char text[192];
};

struct model_trace_record {
    uint64_t offset_bytes;               /* of byte0 */
    uint64_t args[MODEL_TRACE_ARGS_MAX]; /* the first numbers; unused ones are
                                            0 */
    uint64_t arg_count;                  /* may exceed MODEL_TRACE_ARGS_MAX */
    enum model_trace_type type;
};

struct model_trace_wire {
    const uint8_t *bytes; /* owned by the caller */
    size_t bytes_count;
    size_t at;
    bool is_cut; /* malformed only because the bytes end too early */
    struct model_trace_reason reason;
};

enum model_trace_step {
    MODEL_TRACE_STEP_RECORD,
    MODEL_TRACE_STEP_END,
    MODEL_TRACE_STEP_BROKEN, /* wire->reason says why */
};

/* returns: the name of a type (later Go tools write STW for scans) */
const char *model_trace_type_name(enum model_trace_type type);

/* returns: how many numbers the type takes, MODEL_TRACE_ANY for stacks */
uint32_t model_trace_type_args(enum model_trace_type type);

/* returns: whether the last number of the type is a stack id */
bool model_trace_type_has_stack(enum model_trace_type type);

/* State what is wrong at an offset; formats like printf(). */
void model_trace_explain(struct model_trace_reason *reason, uint64_t offset,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Check the header and move to the first record.
 *
 * out:     *wire, which borrows `bytes` until its last use
 * returns: false if this is not a go 1.5 trace; wire->reason says why
 */
bool model_trace_wire_open(struct model_trace_wire *wire, const uint8_t *bytes,
                           size_t bytes_count);

/*
 * Read one record.
 *
 * out:     *record, only if the result is MODEL_TRACE_STEP_RECORD
 */
enum model_trace_step model_trace_wire_next(struct model_trace_wire *wire,
                                            struct model_trace_record *record);

/*
 * Get the frames of a stack record that was read before, with no more frames
 * than are allowed.
 *
 * out:     pcs, room for MODEL_TRACE_FRAMES_MAX
 * in:      offset_bytes, where the record begins
 * returns: how many frames were written
 */
uint32_t model_trace_wire_frames(const struct model_trace_wire *wire,
                                 uint64_t offset_bytes, uint64_t *pcs);

#endif
