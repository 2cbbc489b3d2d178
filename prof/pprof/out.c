/* out.c -- a buffer in front of a sink (out.h has the invariants). */
#include "prof/pprof/out.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/core/poison.h"

void
prof_out_init(struct out *out, const struct prof_sink *sink, void *bytes,
              size_t room)
{
    *out = (struct out){
        .sink = *sink, .bytes = bytes, .room = room, .status = PROF_OK};
}

void
prof_out_fail(struct out *out, enum prof_status status)
{
    if (out->status == PROF_OK)
        out->status = status;
}

void
prof_out_drain(struct out *out)
{
    if (out->status == PROF_OK && out->used > 0)
        out->status = out->sink.write(out->sink.context, out->bytes, out->used);
    out->used = 0;
}

enum prof_status
prof_out_finish(struct out *out)
{
    prof_out_drain(out);
    return out->status;
}

void
prof_out_bytes(struct out *out, const void *bytes, size_t bytes_count)
{
    const unsigned char *from = bytes;

    while (bytes_count > 0) {
        const size_t left = out->room - out->used;
        const size_t part = bytes_count < left ? bytes_count : left;

        memcpy(&out->bytes[out->used], from, part);
        out->used += part;
        from += part;
        bytes_count -= part;
        if (out->used == out->room)
            prof_out_drain(out);
    }
}

size_t
prof_text_bytes(const char *text)
{
    const char *end;

    if (text == NULL)
        return 0;
    end = memchr(text, '\0', TEXT_BYTES_MAX);
    return end != NULL ? (size_t)(end - text) : TEXT_BYTES_MAX;
}

void
prof_out_text(struct out *out, const char *text)
{
    prof_out_bytes(out, text, prof_text_bytes(text));
}

static size_t
digits_of(char digits[OUT_DIGITS_MAX], uint64_t value, uint64_t base)
{
    size_t count = 1;

    for (uint64_t rest = value / base; rest != 0; rest /= base)
        count++;
    for (size_t i = count; i > 0; i--) {
        digits[i - 1] = "0123456789abcdef"[value % base];
        value /= base;
    }
    return count;
}

size_t
prof_out_decimal(char digits[OUT_DIGITS_MAX], uint64_t value)
{
    return digits_of(digits, value, 10);
}

size_t
prof_out_hex(char digits[OUT_DIGITS_MAX], uint64_t value)
{
    return digits_of(digits, value, 16);
}

void
prof_out_u64(struct out *out, uint64_t value)
{
    char digits[OUT_DIGITS_MAX];

    prof_out_bytes(out, digits, prof_out_decimal(digits, value));
}

void
prof_out_i64(struct out *out, int64_t value)
{
    if (value < 0)
        prof_out_bytes(out, "-", 1);
    prof_out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void
prof_out_0x(struct out *out, uint64_t value)
{
    char digits[OUT_DIGITS_MAX];

    prof_out_bytes(out, "0x", 2);
    prof_out_bytes(out, digits, prof_out_hex(digits, value));
}

void
prof_out_number(struct out *out, uint32_t field, uint64_t value)
{
    unsigned char *const start = prof_out_reserve(out, TAG_MAX + VARINT_MAX);

    out->used += (size_t)(put_number(start, field, value) - start);
}

void
prof_out_field_begin(struct out *out, uint32_t field, size_t bytes_count)
{
    unsigned char *const start = prof_out_reserve(out, TAG_MAX + VARINT_MAX);
    unsigned char *at = start;

    *at++ = tag_bytes(field);
    at = put_varint(at, bytes_count);
    out->used += (size_t)(at - start);
}

void
prof_out_field(struct out *out, uint32_t field, const void *bytes,
               size_t bytes_count)
{
    prof_out_field_begin(out, field, bytes_count);
    prof_out_bytes(out, bytes, bytes_count);
}
