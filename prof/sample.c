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

/* A stack's numbers: 5 bytes each, or 2 of them with tags. */
#define IDS_BYTES_MAX ((size_t)PROF_DEPTH_LIMIT * 5 + 2)

/* The longest message that is placed whole: a sample. */
#define SAMPLE_BYTES_MAX                                  \
    (4 * (TAG_MAX + VARINT_MAX) + IDS_BYTES_MAX +         \
     SAMPLE_VALUES_MAX * (size_t)(TAG_MAX + VARINT_MAX) + \
     PROF_LABELS_MAX * (size_t)LABEL_BYTES_MAX)

_Static_assert(SAMPLE_BYTES_MAX <= BUILDER_OUT_BYTES,
               "a sample fits the buffer");

/* Go packs repeated numbers from the third on. */
static inline bool
packs(size_t count)
{
    return count > 2;
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

/*
 * The numbers of the stack as they stand in the message, without what comes
 * before packed ones. returns: bytes
 */
static size_t
put_ids(unsigned char *at, const uint32_t *ids, size_t count)
{
    unsigned char *const start = at;

    for (size_t i = 0; i < count; i++) {
        if (!packs(count))
            *at++ = tag_number(1);
        at = put_id(at, ids[i]);
    }
    return (size_t)(at - start);
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

static unsigned char *
put_bytes(unsigned char *at, const unsigned char *bytes, size_t bytes_count)
{
    memcpy(at, bytes, bytes_count);
    return at + bytes_count;
}

void
prof_builder_sample(struct builder *builder, const struct sample *sample)
{
    const size_t values_count = builder->values_count;
    unsigned char labels[PROF_LABELS_MAX * LABEL_BYTES_MAX];
    const size_t labels_bytes = put_labels(builder, labels, sample);
    const uint32_t count = prof_builder_stack(builder, sample);
    unsigned char ids[IDS_BYTES_MAX];
    const size_t ids_bytes = put_ids(ids, builder->ids, count);
    unsigned char *const start =
        prof_out_place(&builder->out, SAMPLE_BYTES_MAX);
    unsigned char *at = start;
    size_t values = 0;

    for (size_t i = 0; i < values_count; i++)
        values += varint_bytes((uint64_t)sample->values[i]);
    *at++ = tag_bytes(PROFILE_SAMPLE);
    at = put_varint(at,
                    (packs(values_count) ? TAG_MAX + varint_bytes(values)
                                         : values_count * TAG_MAX) +
                        values +
                        (packs(count) ? TAG_MAX + varint_bytes(ids_bytes) : 0) +
                        ids_bytes + labels_bytes);
    at = put_values(at, sample->values, values_count, values);
    if (packs(count)) {
        *at++ = tag_bytes(1);
        at = put_varint(at, ids_bytes);
    }
    at = put_bytes(at, ids, ids_bytes);
    at = put_bytes(at, labels, labels_bytes);
    builder->out.used += (size_t)(at - start);
}
