/*
 * test_otlp.c -- each sample of an OpenTelemetry profile has its own stack,
 * also if it follows stacks whose samples add up to 0.
 *
 * The profile is made by hand, and the output is read field by field.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "otlp.h"
#include "proto.h"
#include "unit_test.h"
#include "varint.h"

enum { STACKS = 6, TYPES = 2, NONE = 0 };

/* Sums by type. One stack has two samples, which are added up. */
static const int64_t sums[STACKS][TYPES] = {
    {0, 5}, {7, 0}, {0, 0}, {-3, 1}, {INT64_C(1) << 33, 0}, {0, 9},
};

static void
put_type(struct cli_proto *profile, uint64_t type, uint64_t unit)
{
    struct cli_proto one = {.count = 0};

    cli_proto_number(&one, 1, type);
    cli_proto_number(&one, 2, unit);
    cli_proto_message(profile, 1, &one);
}

/* Stack i has one to three calls, from location 1 + i on. */
static uint64_t
location_of(uint64_t stack, uint64_t call)
{
    return 1 + (stack + call) % STACKS;
}

static void
put_sample(struct cli_proto *profile, uint64_t stack, const int64_t *values,
           int64_t less)
{
    struct cli_proto sample = {.count = 0};
    struct cli_proto list = {.count = 0};

    for (uint64_t call = 0; call <= stack % 3; call++)
        cli_proto_varint(&list, location_of(stack, call));
    cli_proto_message(&sample, 1, &list);
    for (int type = 0; type < TYPES; type++)
        cli_proto_varint(&list, (uint64_t)(values[type] - less));
    cli_proto_message(&sample, 2, &list);
    cli_proto_message(profile, 2, &sample);
}

/* Location 1 + i has address 4096 + i. */
static void
make_profile(struct cli_proto *profile)
{
    static const char *const texts[] = {"", "objects", "count", "space"};
    static const int64_t part[TYPES] = {11, 11};

    put_type(profile, 1, 2);
    put_type(profile, 3, 2);
    for (uint64_t i = 0; i < STACKS; i++) {
        put_sample(profile, i, sums[i], part[0]);
        put_sample(profile, i, part, 0);
    }
    for (uint64_t i = 0; i < STACKS; i++) {
        struct cli_proto location = {.count = 0};

        cli_proto_number(&location, 1, 1 + i);
        cli_proto_number(&location, 3, 4096 + i);
        cli_proto_message(profile, 4, &location);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cli_proto_text(profile, 6, texts[i]);
    assert_false(profile->failed);
}

/* ---- a message, read ---- */

struct message {
    const uint8_t *at;
    const uint8_t *end;
};

/* Read the next field. out: *inner, its contents if it is a message; *value, if
 * it is a number. returns: the field's number, 0 at the end */
static uint64_t
take_field(struct message *from, struct message *inner, uint64_t *value)
{
    uint64_t tag;

    if (from->at == from->end)
        return 0;
    tag = varint_take(&from->at, from->end);
    *inner = *from;
    if (tag % 8 == 0) {
        *value = varint_take(&from->at, from->end);
        return tag / 8;
    }
    *value = tag % 8 == 1 ? 8 : varint_take(&from->at, from->end);
    assert_true(tag % 8 == 1 || tag % 8 == 2);
    assert_true(*value <= (uint64_t)(from->end - from->at));
    *inner = (struct message){from->at, from->at + *value};
    from->at = inner->end;
    return tag / 8;
}

/* returns: the n-th message (from 0) of a field; empty if there is none */
static struct message
find(struct message from, uint64_t field, int n)
{
    struct message inner;
    uint64_t value;
    uint64_t found;

    while ((found = take_field(&from, &inner, &value)) != 0)
        if (found == field && n-- == 0)
            return inner;
    return (struct message){NULL, NULL};
}

static uint64_t
number_of(struct message from, uint64_t field)
{
    struct message inner;
    uint64_t value;
    uint64_t found;

    while ((found = take_field(&from, &inner, &value)) != 0)
        if (found == field)
            return value;
    return NONE;
}

/* ---- the test ---- */

/* returns: the index of the stack that a sample refers to */
static uint64_t
stack_of(struct message dictionary, struct message sample)
{
    struct message stack = find(dictionary, 7, (int)number_of(sample, 1));
    struct message indices = find(stack, 1, 0);
    uint64_t first = 0;

    assert_non_null(indices.at);
    for (uint64_t call = 0; call <= first % 3; call++) {
        const struct message location =
            find(dictionary, 2, (int)varint_take(&indices.at, indices.end));

        if (call == 0)
            first = number_of(location, 2) - 4096;
        assert_int_equal(number_of(location, 2),
                         4095 + location_of(first, call));
    }
    assert_ptr_equal(indices.at, indices.end);
    return first;
}

static void
expect_samples(struct message dictionary, struct message profile, int type)
{
    struct message sample;
    int64_t seen[STACKS] = {0};
    int count = 0;

    while ((sample = find(profile, 2, count)).at != NULL) {
        struct message values = find(sample, 4, 0);
        const uint64_t stack = stack_of(dictionary, sample);

        assert_in_range(stack, 0, STACKS - 1);
        assert_int_equal(seen[stack], 0);
        seen[stack] = (int64_t)varint_take(&values.at, values.end);
        assert_int_not_equal(seen[stack], 0);
        assert_ptr_equal(values.at, values.end);
        count++;
    }
    for (int i = 0; i < STACKS; i++)
        assert_int_equal(seen[i], sums[i][type]);
}

static size_t
load(const char *path, uint8_t *bytes, size_t room)
{
    FILE *const file = fopen(path, "rb");
    size_t count;

    assert_non_null(file);
    count = fread(bytes, 1, room, file);
    assert_int_equal(fclose(file), 0);
    return count;
}

TEST(each_sample_is_of_its_own_stack)
{
    struct cli_named_profile named = {.samples_count = 2 * STACKS};
    uint8_t bytes[4096];
    struct message data = {bytes, bytes};
    struct message dictionary;
    struct message scope;
    struct message producer;
    char path[64];

    make_profile(&named.proto);
    snprintf(path, sizeof path, "%s/x.otlp", folder);
    assert_null(cli_otlp_save(&named, path));
    data.end += load(path, bytes, sizeof bytes);
    dictionary = find(data, 2, 0);
    scope = find(find(data, 1, 0), 2, 0);
    producer = find(find(scope, 1, 0), 1, 0);
    assert_int_equal(producer.end - producer.at, 7);
    assert_memory_equal(producer.at, "profsim", 7);
    for (int type = 0; type < TYPES; type++)
        expect_samples(dictionary, find(scope, 2, type), type);
    assert_null(find(scope, 2, TYPES).at);
    free(named.proto.at);
}

TEST(what_is_no_profile_is_not_written)
{
    struct cli_named_profile named = {.samples_count = 1};
    char path[64];

    (void)state;
    cli_proto_text(&named.proto, 2, "no sample");
    snprintf(path, sizeof path, "%s/y.otlp", folder);
    assert_string_equal(cli_otlp_save(&named, path), "it is not a profile");
    assert_int_not_equal(access(path, F_OK), 0);
    free(named.proto.at);
}

int
main(void)
{
    return tests_run(folder_make, folder_clear);
}
