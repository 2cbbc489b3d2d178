/*
 * sample.c -- one sample of profile.proto: values, locations, labels.
 *
 * The message is placed whole into the output buffer: its length is known
 * before its first byte.
 */
#include <string.h>

#include "builder.h"
#include "check.h"
#include "poison.h"

enum { LABEL_BYTES_MAX = 2 + 3 * (TAG_MAX + VARINT_MAX) };

/* The longest message that is placed whole: a sample. */
#define SAMPLE_BYTES_MAX                                           \
    (4 * (TAG_MAX + VARINT_MAX) +                                  \
     (PROF_DEPTH_LIMIT + SAMPLE_VALUES_MAX) * (size_t)VARINT_MAX + \
     PROF_LABELS_MAX * (size_t)LABEL_BYTES_MAX)

_Static_assert(SAMPLE_BYTES_MAX <= BUILDER_OUT_BYTES,
               "a sample fits the buffer");

/* Go packs repeated numbers from the third on. */
static inline bool
packs(size_t count)
{
    return count > 2;
}

static size_t
repeated_bytes(size_t count, size_t varints)
{
    return packs(count) ? TAG_MAX + varint_bytes(varints) + varints
                        : count * TAG_MAX + varints;
}

static unsigned char *
put_values(unsigned char *at, const int64_t *values, size_t count,
           size_t varints)
{
    if (packs(count)) {
        *at++ = tag_bytes(2);
        at = put_varint(at, varints);
    }
    for (size_t i = 0; i < count; i++) {
        if (!packs(count))
            *at++ = tag_number(2);
        at = put_varint(at, (uint64_t)values[i]);
    }
    return at;
}

/* One byte or two without a branch: which it is cannot be foreseen. */
static inline unsigned char *
put_id(unsigned char *at, uint32_t id)
{
    const unsigned more = id >= 0x80;

    if (id >= 1U << 14)
        return put_varint(at, id);
    at[0] = (unsigned char)((id & 0x7f) | more << 7);
    at[1] = (unsigned char)(id >> 7);
    return at + 1 + more;
}

static unsigned char *
put_ids(unsigned char *at, const uint32_t *ids, size_t count, size_t varints)
{
    if (packs(count)) {
        *at++ = tag_bytes(1);
        at = put_varint(at, varints);
    }
    for (size_t i = 0; i < count; i++) {
        if (!packs(count))
            *at++ = tag_number(1);
        at = put_id(at, ids[i]);
    }
    return at;
}

/* Most samples have the keys of the one before. */
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

void
prof_builder_sample(struct builder *builder, const struct sample *sample)
{
    unsigned char labels[PROF_LABELS_MAX * LABEL_BYTES_MAX];
    const size_t labels_bytes = put_labels(builder, labels, sample);
    const uint32_t count = prof_builder_stack(builder, sample);
    unsigned char *const start =
        prof_out_place(&builder->out, SAMPLE_BYTES_MAX);
    unsigned char *at = start;
    size_t values = 0;
    size_t ids = 0;

    for (size_t i = 0; i < builder->values_count; i++)
        values += varint_bytes((uint64_t)sample->values[i]);
    for (uint32_t i = 0; i < count; i++)
        ids += varint_bytes(builder->ids[i]);
    *at++ = tag_bytes(PROFILE_SAMPLE);
    at = put_varint(at, repeated_bytes(builder->values_count, values) +
                            repeated_bytes(count, ids) + labels_bytes);
    at = put_values(at, sample->values, builder->values_count, values);
    at = put_ids(at, builder->ids, count, ids);
    memcpy(at, labels, labels_bytes);
    at += labels_bytes;
    builder->out.used += (size_t)(at - start);
}
