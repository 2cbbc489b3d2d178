/*
 * sample.c -- one sample of profile.proto: values, locations, labels.
 *
 * The output buffer has room for the whole message, so its length can be
 * written before its content.
 */
#include <string.h>

#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/core/poison.h"

enum { LABEL_BYTES_MAX = 2 + 3 * (TAG_MAX + VARINT_MAX) };

#define VALUES_BYTES_MAX (SAMPLE_VALUES_MAX * (size_t)(TAG_MAX + VARINT_MAX))
#define LABELS_BYTES_MAX (PROF_LABELS_MAX * (size_t)LABEL_BYTES_MAX)

enum { COPY_SLACK = 16 };

/* The longest message. */
#define SAMPLE_BYTES_MAX                                               \
    (4 * (TAG_MAX + VARINT_MAX) + STACK_BYTES_MAX + VALUES_BYTES_MAX + \
     LABELS_BYTES_MAX + COPY_SLACK)

_Static_assert(SAMPLE_BYTES_MAX <= BUILDER_OUT_BYTES,
               "a sample fits the buffer");

/* Go packs a repeated field if it has three numbers or more. */
static inline bool
packs(size_t count)
{
    return count > 2;
}

/* returns: the end of the values, with tags if they are not packed */
static unsigned char *
put_values(unsigned char *at, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!packs(count))
            *at++ = tag_number(2);
        at = put_varint(at, (uint64_t)values[i]);
    }
    return at;
}

/* Insert a tag before each number, as for numbers that are not packed. returns:
 * their end */
static unsigned char *
put_tags(unsigned char *ids, unsigned char *end)
{
    bool is_first = true; /* is it the first byte of a number? */

    for (unsigned char *at = ids; at < end; at++) {
        if (is_first) {
            memmove(at + 1, at, (size_t)(end - at));
            *at++ = tag_number(1);
            end++;
        }
        is_first = (*at & 0x80) == 0;
    }
    return end;
}

/* The number of a label's key. Most samples have the same keys as the one
 * before. */
static uint32_t
key_number(struct builder *builder, const char *key)
{
    if (key != builder->last_key) {
        builder->last_key_number = prof_builder_string(builder, key);
        builder->last_key = key;
    }
    return builder->last_key_number;
}

/* returns: bytes of all label fields, written to `at` */
static size_t
put_labels(struct builder *builder, unsigned char *at,
           const struct sample *sample)
{
    unsigned char *const start = at;

    for (uint32_t i = 0; i < sample->labels_count; i++) {
        const struct sample_label *label = &sample->labels[i];
        unsigned char *const length = at + 1;

        *at = tag_bytes(3);
        at = put_number(length + 1, 1, key_number(builder, label->key));
        if (label->text != NULL)
            at = put_number(at, 2, prof_builder_string(builder, label->text));
        at = put_number(at, 3, (uint64_t)label->number);
        *length = (unsigned char)(at - length - 1);
    }
    return (size_t)(at - start);
}

/*
 * Copy in steps of whole words, since a call of memcpy() would take longer for
 * most parts.
 *
 * in:      at and bytes, each with COPY_SLACK bytes more, of any content
 */
static inline unsigned char *
put_bytes(unsigned char *at, const unsigned char *bytes, size_t bytes_count)
{
    for (size_t i = 0; i < bytes_count; i += COPY_SLACK)
        memcpy(&at[i], &bytes[i], COPY_SLACK);
    return at + bytes_count;
}

/* A part of a sample, and the tag and length before it if its numbers are
 * packed. */
struct part {
    size_t bytes;
    bool is_packed;
};

static inline size_t
part_bytes(const struct part *part)
{
    return part->bytes +
           (part->is_packed ? TAG_MAX + varint_bytes(part->bytes) : 0);
}

static inline unsigned char *
put_part(unsigned char *at, uint32_t field, const struct part *part,
         const unsigned char *bytes)
{
    if (part->is_packed) {
        *at++ = tag_bytes(field);
        at = put_varint(at, part->bytes);
    }
    return put_bytes(at, bytes, part->bytes);
}

void
prof_builder_sample(struct builder *builder, const struct sample *sample)
{
    unsigned char labels[LABELS_BYTES_MAX + COPY_SLACK];
    unsigned char ids[STACK_BYTES_MAX + COPY_SLACK];
    unsigned char values[VALUES_BYTES_MAX + COPY_SLACK];
    unsigned char *ids_end = ids;
    /* Functions get their strings' numbers first, as in Go. */
    const uint32_t count = prof_builder_stack(builder, sample, &ids_end);
    const size_t labels_bytes = put_labels(builder, labels, sample);
    const struct part stack = {
        (size_t)((packs(count) ? ids_end : put_tags(ids, ids_end)) - ids),
        packs(count)};
    const size_t values_count = builder->values_count;
    const struct part numbers = {
        (size_t)(put_values(values, sample->values, values_count) - values),
        packs(values_count)};
    unsigned char *const start =
        prof_out_reserve(&builder->out, SAMPLE_BYTES_MAX);
    unsigned char *at = start;

    *at++ = tag_bytes(PROFILE_SAMPLE);
    at = put_varint(at,
                    part_bytes(&numbers) + part_bytes(&stack) + labels_bytes);
    at = put_part(at, 2, &numbers, values);
    at = put_part(at, 1, &stack, ids);
    at = put_bytes(at, labels, labels_bytes);
    builder->out.used += (size_t)(at - start);
}
