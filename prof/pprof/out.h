/*
 * out.h -- a buffer in front of a sink, and how profile.proto writes numbers.
 *
 * Invariants
 *   I1  After the first status that is not PROF_OK the sink is not called
 *       again, and that status stays.
 *   I2  used <= room; bytes[0 .. used) have not reached the sink.
 */
#ifndef PROF_PPROF_OUT_H
#define PROF_PPROF_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/core/assertion.h"
#include "prof/sink.h"
#include "prof/core/varint.h"

struct out {
    struct prof_sink sink;
    unsigned char *bytes;
    size_t room;
    size_t used;
    enum prof_status status; /* the first that is not PROF_OK (I1) */
};

void prof_out_init(struct out *out, const struct prof_sink *sink, void *bytes,
                   size_t room);

/* Record an error that is not the sink's; the first error counts. */
void prof_out_fail(struct out *out, enum prof_status status);

/* Pass everything to the sink. returns: the status of the whole stream */
PROF_NODISCARD enum prof_status prof_out_finish(struct out *out);

/* Pass what is buffered to the sink. */
void prof_out_drain(struct out *out);

/*
 * returns: room for up to `bytes_max` bytes, at most `room`; the caller
 *          then adds what it wrote to `used`
 */
static inline unsigned char *
prof_out_reserve(struct out *out, size_t bytes_max)
{
    PROF_ASSERT(bytes_max <= out->room);
    if (bytes_max > out->room - out->used)
        prof_out_drain(out);
    return &out->bytes[out->used];
}

void prof_out_bytes(struct out *out, const void *bytes, size_t bytes_count);
/* Longer texts are cut, which bounds the search for their end. */
enum { TEXT_BYTES_MAX = 4096 };

/* returns: the length of the text, at most TEXT_BYTES_MAX; 0 for NULL */
size_t prof_text_bytes(const char *text);

void prof_out_text(struct out *out, const char *text);

/* ---- text numbers ---- */

enum { OUT_DIGITS_MAX = 20 };

/* out: digits, without a final '\0'. returns: how many, 1 .. OUT_DIGITS_MAX */
size_t prof_out_decimal(char digits[OUT_DIGITS_MAX], uint64_t value);
size_t prof_out_hex(char digits[OUT_DIGITS_MAX], uint64_t value);

void prof_out_u64(struct out *out, uint64_t value);
void prof_out_i64(struct out *out, int64_t value);
void prof_out_0x(struct out *out, uint64_t value);

/* ---- wire format ---- */

enum { TAG_MAX = 1 };

/* Field numbers stay below 16, so a tag is one byte. */
static inline unsigned char
tag_number(uint32_t field)
{
    return (unsigned char)(field << 3);
}

static inline unsigned char
tag_bytes(uint32_t field)
{
    return (unsigned char)(field << 3 | 2);
}

static inline unsigned char *
put_number(unsigned char *at, uint32_t field, uint64_t value)
{
    if (value == 0)
        return at;
    *at++ = tag_number(field);
    return put_varint(at, value);
}

/* Write a number field of the outermost message; 0 is left out. */
void prof_out_number(struct out *out, uint32_t field, uint64_t value);

/* Write a length-delimited field of the outermost message; or its begin only,
 * then follow bytes_count bytes. */
void prof_out_field_begin(struct out *out, uint32_t field, size_t bytes_count);
void prof_out_field(struct out *out, uint32_t field, const void *bytes,
                    size_t bytes_count);

#endif
