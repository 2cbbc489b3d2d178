/*
 * pprof_reader.c -- reads profile.proto.
 *
 * Every step walks over the fields of a message again, in file order. That is
 * slow, and easy to check.
 */
#include "model/pprof/pprof_reader.h"

#include <stdlib.h>
#include <string.h>

/* A piece of the file. */
struct bytes {
    const uint8_t *at;
    const uint8_t *end;
};

struct field {
    uint64_t number;
    uint64_t value;      /* if a varint */
    struct bytes inside; /* if length-delimited */
    bool is_varint;
};

/* Memory for everything that is read. Its size suffices for any file, since
 * each item takes at least one byte of the file. */
struct pool {
    uint8_t *at;
    uint8_t *end;
};

static bool
refuse(struct model_pprof *profile, const char *reason)
{
    if (profile->reason == NULL)
        profile->reason = reason;
    return false;
}

/* ---- wire ---- */

static bool
take_varint(struct bytes *from, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0;; shift += 7) { /* 63 is the last, either way */
        uint8_t byte;

        if (from->at == from->end)
            return false;
        byte = *from->at++;
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
}

/* returns: false at the end, or at an error (then from->at is NULL) */
static bool
take_field(struct bytes *from, struct field *field)
{
    uint64_t tag;
    uint64_t length;

    if (from->at == NULL || from->at == from->end)
        return false;
    if (!take_varint(from, &tag))
        goto wrong;
    memset(field, 0, sizeof *field);
    field->number = tag >> 3;
    field->is_varint = (tag & 7) == 0;
    if (field->number == 0)
        goto wrong;
    if (field->is_varint) {
        if (!take_varint(from, &field->value))
            goto wrong;
        return true;
    }
    if ((tag & 7) != 2 || !take_varint(from, &length) ||
        length > (uint64_t)(from->end - from->at))
        goto wrong;
    field->inside.at = from->at;
    field->inside.end = from->at + length;
    from->at += length;
    return true;
wrong:
    from->at = NULL;
    return false;
}

static void *
take_memory(struct pool *pool, size_t count, size_t each)
{
    const size_t bytes = (count * each + 15) & ~(size_t)15;
    void *taken = pool->at;

    if (bytes > (size_t)(pool->end - pool->at))
        __builtin_trap(); /* the pool is large enough for any file */
    pool->at += bytes;
    return taken;
}

static size_t
count_fields(struct bytes all, uint64_t number)
{
    struct field field;
    size_t count = 0;

    while (take_field(&all, &field))
        count += field.number == number;
    return count;
}

/* The value of the last varint field with that number, as the format demands; 0
 * if there is none. */
static uint64_t
number_of(struct bytes all, uint64_t number)
{
    struct field field;
    uint64_t value = 0;

    while (take_field(&all, &field)) {
        if (field.number == number && field.is_varint)
            value = field.value;
    }
    return value;
}

static bool
is_sound(struct bytes all)
{
    struct field field;

    while (take_field(&all, &field))
        continue;
    return all.at != NULL;
}

/* ---- strings ---- */

static bool
read_strings(struct model_pprof *profile, struct bytes all, struct pool *pool)
{
    struct field field;

    profile->strings_count = count_fields(all, 6);
    profile->strings =
        take_memory(pool, profile->strings_count, sizeof *profile->strings);
    for (size_t i = 0; take_field(&all, &field);) {
        size_t length;
        char *text;

        if (field.number != 6)
            continue;
        if (field.is_varint)
            return refuse(profile, "a string is a number");
        length = (size_t)(field.inside.end - field.inside.at);
        text = take_memory(pool, length + 1, 1);
        memcpy(text, field.inside.at, length); /* then 0, as the whole pool */
        profile->strings[i++] = text;
    }
    if (profile->strings_count == 0 || profile->strings[0][0] != '\0')
        return refuse(profile, "the first string is not empty");
    return true;
}

static const char *
string_at(struct model_pprof *profile, uint64_t number)
{
    if (number < profile->strings_count)
        return profile->strings[number];
    refuse(profile, "a string number is too large");
    return "";
}

static const char *
string_of(struct model_pprof *profile, struct bytes message, uint64_t number)
{
    return string_at(profile, number_of(message, number));
}

static struct model_pprof_type
type_of(struct model_pprof *profile, struct bytes message)
{
    if (!is_sound(message))
        refuse(profile, "a value type is broken");
    return (struct model_pprof_type){.type = string_of(profile, message, 1),
                                     .unit = string_of(profile, message, 2)};
}

/* ---- samples ---- */

/* Read the numbers of a repeated field, packed or not. in: *count is 0, *packed
 * false */
static const uint64_t *
read_numbers(struct model_pprof *profile, struct bytes message, uint64_t number,
             struct pool *pool, size_t *count, bool *packed)
{
    uint64_t *numbers =
        take_memory(pool, (size_t)(message.end - message.at), sizeof *numbers);
    struct field field;

    while (take_field(&message, &field)) {
        if (field.number != number)
            continue;
        if (field.is_varint) {
            numbers[(*count)++] = field.value;
            continue;
        }
        *packed = true;
        while (field.inside.at != field.inside.end) {
            if (!take_varint(&field.inside, &numbers[*count])) {
                refuse(profile, "packed numbers are broken");
                return numbers;
            }
            ++*count;
        }
    }
    return numbers;
}

static void
read_labels(struct model_pprof *profile, struct bytes message,
            struct pool *pool, struct model_pprof_sample *sample)
{
    struct model_pprof_label *labels;
    struct field field;
    size_t i = 0;

    sample->labels_count = count_fields(message, 3);
    labels = take_memory(pool, sample->labels_count, sizeof *labels);
    while (take_field(&message, &field)) {
        if (field.number != 3)
            continue;
        if (!is_sound(field.inside))
            refuse(profile, "a label is broken");
        labels[i++] = (struct model_pprof_label){
            .key = string_of(profile, field.inside, 1),
            .text = string_of(profile, field.inside, 2),
            .number = (int64_t)number_of(field.inside, 3),
        };
    }
    sample->labels = labels;
}

static void
read_sample(struct model_pprof *profile, struct bytes message,
            struct pool *pool, struct model_pprof_sample *sample)
{
    if (!is_sound(message)) {
        refuse(profile, "a sample is broken");
        return;
    }
    sample->locations =
        read_numbers(profile, message, 1, pool, &sample->locations_count,
                     &sample->locations_packed);
    sample->values = (const int64_t *)read_numbers(profile, message, 2, pool,
                                                   &sample->values_count,
                                                   &sample->values_packed);
    read_labels(profile, message, pool, sample);
}

/* ---- other parts ---- */

static void
read_mapping(struct model_pprof *profile, struct bytes message,
             struct model_pprof_mapping *mapping)
{
    if (!is_sound(message))
        refuse(profile, "a mapping is broken");
    *mapping = (struct model_pprof_mapping){
        .id = number_of(message, 1),
        .start = number_of(message, 2),
        .limit = number_of(message, 3),
        .offset = number_of(message, 4),
        .file = string_of(profile, message, 5),
        .build_id = string_of(profile, message, 6),
        .has_functions = number_of(message, 7) != 0,
    };
}

static void
read_location(struct model_pprof *profile, struct bytes message,
              struct model_pprof_location *location)
{
    struct field field;
    struct bytes rest = message;

    if (!is_sound(message))
        refuse(profile, "a location is broken");
    *location = (struct model_pprof_location){
        .id = number_of(message, 1),
        .mapping = number_of(message, 2),
        .address = number_of(message, 3),
    };
    while (take_field(&rest, &field)) {
        if (field.number != 4)
            continue;
        if (!is_sound(field.inside))
            refuse(profile, "a line is broken");
        if (location->lines_count++ == 0) {
            location->function = number_of(field.inside, 1);
            location->line = (int64_t)number_of(field.inside, 2);
        }
        if (model_pprof_function(profile, number_of(field.inside, 1)) == NULL)
            refuse(profile, "a line has no function");
    }
}

static void
read_function(struct model_pprof *profile, struct bytes message,
              struct model_pprof_function *function)
{
    if (!is_sound(message))
        refuse(profile, "a function is broken");
    *function = (struct model_pprof_function){
        .id = number_of(message, 1),
        .name = string_of(profile, message, 2),
        .system_name = string_of(profile, message, 3),
        .file = string_of(profile, message, 4),
    };
}

/* ---- look-ups ---- */

const struct model_pprof_location *
model_pprof_location(const struct model_pprof *profile, uint64_t id)
{
    /* Ids mostly count from 1. */
    if (id - 1 < profile->locations_count &&
        profile->locations[id - 1].id == id)
        return &profile->locations[id - 1];
    for (size_t i = 0; i < profile->locations_count; i++) {
        if (profile->locations[i].id == id)
            return &profile->locations[i];
    }
    return NULL;
}

const struct model_pprof_function *
model_pprof_function(const struct model_pprof *profile, uint64_t id)
{
    /* Ids mostly count from 1. */
    if (id - 1 < profile->functions_count &&
        profile->functions[id - 1].id == id)
        return &profile->functions[id - 1];
    for (size_t i = 0; i < profile->functions_count; i++) {
        if (profile->functions[i].id == id)
            return &profile->functions[i];
    }
    return NULL;
}

static bool
has_mapping(const struct model_pprof *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->mappings_count; i++) {
        if (profile->mappings[i].id == id)
            return true;
    }
    return id == 0;
}

static void
check_ids(struct model_pprof *profile)
{
    for (size_t i = 0; i < profile->mappings_count; i++) {
        if (profile->mappings[i].id == 0)
            refuse(profile, "a mapping has no id");
        for (size_t j = 0; j < i; j++) {
            if (profile->mappings[i].id == profile->mappings[j].id)
                refuse(profile, "two mappings have one id");
        }
    }
    for (size_t i = 0; i < profile->functions_count; i++) {
        const struct model_pprof_function *function = &profile->functions[i];

        if (function->id == 0 ||
            model_pprof_function(profile, function->id) != function)
            refuse(profile, "a function's id is 0 or taken");
    }
    for (size_t i = 0; i < profile->locations_count; i++) {
        const struct model_pprof_location *location = &profile->locations[i];

        if (location->id == 0 ||
            model_pprof_location(profile, location->id) != location)
            refuse(profile, "a location's id is 0 or taken");
        if (!has_mapping(profile, location->mapping))
            refuse(profile, "a location has no mapping");
    }
}

static void
check_samples(struct model_pprof *profile)
{
    for (size_t i = 0; i < profile->samples_count; i++) {
        const struct model_pprof_sample *sample = &profile->samples[i];

        if (sample->values_count != profile->types_count)
            refuse(profile, "a sample has a wrong number of values");
        for (size_t j = 0; j < sample->locations_count; j++) {
            if (model_pprof_location(profile, sample->locations[j]) == NULL)
                refuse(profile, "a sample has an unknown location");
        }
    }
}

/* ---- reading ---- */

static void
take_room(struct model_pprof *profile, struct bytes all, struct pool *pool)
{
    profile->types_count = count_fields(all, 1);
    profile->samples_count = count_fields(all, 2);
    profile->mappings_count = count_fields(all, 3);
    profile->locations_count = count_fields(all, 4);
    profile->functions_count = count_fields(all, 5);
    profile->types =
        take_memory(pool, profile->types_count, sizeof *profile->types);
    profile->samples =
        take_memory(pool, profile->samples_count, sizeof *profile->samples);
    profile->mappings =
        take_memory(pool, profile->mappings_count, sizeof *profile->mappings);
    profile->locations =
        take_memory(pool, profile->locations_count, sizeof *profile->locations);
    profile->functions =
        take_memory(pool, profile->functions_count, sizeof *profile->functions);
    profile->fields = take_memory(pool, (size_t)(all.end - all.at), 1);
}

/* Functions first: lines refer to them. */
static void
read_functions(struct model_pprof *profile, struct bytes all)
{
    struct field field;
    size_t i = 0;

    while (take_field(&all, &field)) {
        if (field.number == 5)
            read_function(profile, field.inside, &profile->functions[i++]);
    }
}

static void
read_parts(struct model_pprof *profile, struct bytes all, struct pool *pool)
{
    struct field field;
    size_t types = 0;
    size_t samples = 0;
    size_t mappings = 0;
    size_t locations = 0;

    profile->default_type = "";
    profile->period_type = (struct model_pprof_type){"", ""};
    while (take_field(&all, &field)) {
        profile->fields[profile->fields_count++] = (uint8_t)field.number;
        if (field.number == 1)
            profile->types[types++] = type_of(profile, field.inside);
        else if (field.number == 2)
            read_sample(profile, field.inside, pool,
                        &profile->samples[samples++]);
        else if (field.number == 3)
            read_mapping(profile, field.inside, &profile->mappings[mappings++]);
        else if (field.number == 4)
            read_location(profile, field.inside,
                          &profile->locations[locations++]);
        else if (field.number == 9)
            profile->time_ns = (int64_t)field.value;
        else if (field.number == 10)
            profile->duration_ns = (int64_t)field.value;
        else if (field.number == 11)
            profile->period_type = type_of(profile, field.inside);
        else if (field.number == 12)
            profile->period = (int64_t)field.value;
        else if (field.number == 14)
            profile->default_type = string_at(profile, field.value);
        else if (field.number > 14)
            refuse(profile, "a field is unknown");
    }
}

bool
model_pprof_read(struct model_pprof *profile, const void *bytes,
                 size_t bytes_count)
{
    const struct bytes all = {.at = bytes,
                              .end = (const uint8_t *)bytes + bytes_count};
    /* No item takes more than 128 bytes per byte of its encoding. */
    const size_t room = bytes_count * 128 + 4096;
    struct pool pool;

    memset(profile, 0, sizeof *profile);
    profile->memory = calloc(1, room);
    if (profile->memory == NULL)
        return refuse(profile, "not enough memory");
    pool = (struct pool){.at = profile->memory,
                         .end = (uint8_t *)profile->memory + room};
    if (bytes_count == 0 || !is_sound(all))
        return refuse(profile, "the outermost message is broken");
    take_room(profile, all, &pool);
    if (!read_strings(profile, all, &pool))
        return false;
    read_functions(profile, all);
    read_parts(profile, all, &pool);
    check_ids(profile);
    check_samples(profile);
    return profile->reason == NULL;
}

void
model_pprof_release(struct model_pprof *profile)
{
    free(profile->memory);
    profile->memory = NULL;
}
