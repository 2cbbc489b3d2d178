/*
 * otlp.c -- see otlp.h.
 *
 * ProfilesData holds one dictionary, whose tables begin with a zero entry, and
 * a Profile for each value type of the pprof file. The format requires one
 * sample per stack, so samples of one stack with different sizes are added up.
 */
#include "record/report/otlp.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "record/symbols/map.h"
#include "common/output.h"
#include "model/pprof/pprof_reader.h"
#include "common/proto.h"

struct writer {
    const struct model_pprof *profile;
    const struct model_pprof_sample **samples; /* sorted by stack */
    struct cli_map string_of; /* address of a text -> its number */
};

/* ---- dictionary ---- */

/* Texts are identified by address, as the profile holds each text once. */
static uint64_t
string_of(const struct writer *writer, const char *text)
{
    const uint64_t found = cli_map_get(&writer->string_of, (uintptr_t)text);

    return found != CLI_MAP_NONE ? found : 0;
}

static void
know_strings(struct writer *writer)
{
    const struct model_pprof *const profile = writer->profile;

    for (size_t i = 1; i < profile->strings_count; i++)
        cli_map_put(&writer->string_of, (uintptr_t)profile->strings[i], i);
}

static void
put_mappings(const struct writer *writer, struct cli_proto *to)
{
    struct cli_proto one = {.count = 0};

    cli_proto_message(to, 1, &one);
    for (size_t i = 0; i < writer->profile->mappings_count; i++) {
        const struct model_pprof_mapping *const mapping =
            &writer->profile->mappings[i];

        cli_proto_number(&one, 1, mapping->start);
        cli_proto_number(&one, 2, mapping->limit);
        cli_proto_number(&one, 3, mapping->offset);
        cli_proto_number(&one, 4, string_of(writer, mapping->file));
        cli_proto_message(to, 1, &one);
    }
}

static uint64_t
mapping_of(const struct model_pprof *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->mappings_count; i++)
        if (profile->mappings[i].id == id)
            return i + 1;
    return 0;
}

static uint64_t
function_of(const struct model_pprof *profile, uint64_t id)
{
    const struct model_pprof_function *const found =
        model_pprof_function(profile, id);

    return found != NULL ? (uint64_t)(found - profile->functions) + 1 : 0;
}

static void
put_locations(const struct writer *writer, struct cli_proto *to)
{
    struct cli_proto one = {.count = 0};
    struct cli_proto line = {.count = 0};

    cli_proto_message(to, 2, &one);
    for (size_t i = 0; i < writer->profile->locations_count; i++) {
        const struct model_pprof_location *const location =
            &writer->profile->locations[i];

        cli_proto_number(&one, 1,
                         mapping_of(writer->profile, location->mapping));
        cli_proto_number(&one, 2, location->address);
        if (location->lines_count > 0) {
            cli_proto_number(&line, 1,
                             function_of(writer->profile, location->function));
            cli_proto_number(&line, 2, (uint64_t)location->line);
            cli_proto_message(&one, 3, &line);
        }
        cli_proto_message(to, 2, &one);
    }
}

static void
put_functions(const struct writer *writer, struct cli_proto *to)
{
    struct cli_proto one = {.count = 0};

    cli_proto_message(to, 3, &one);
    for (size_t i = 0; i < writer->profile->functions_count; i++) {
        const struct model_pprof_function *const function =
            &writer->profile->functions[i];

        cli_proto_number(&one, 1, string_of(writer, function->name));
        cli_proto_number(&one, 2, string_of(writer, function->system_name));
        cli_proto_number(&one, 3, string_of(writer, function->file));
        cli_proto_message(to, 3, &one);
    }
}

static int
compare_stacks(const void *left, const void *right)
{
    return cli_compare_stacks(*(const struct model_pprof_sample *const *)left,
                              *(const struct model_pprof_sample *const *)right);
}

/* Is this sample the first of its stack? */
static bool
begins_stack(const struct writer *writer, size_t i)
{
    return i == 0 ||
           compare_stacks(&writer->samples[i - 1], &writer->samples[i]) != 0;
}

static void
put_stacks(const struct writer *writer, struct cli_proto *to)
{
    const struct model_pprof *const profile = writer->profile;
    struct cli_proto one = {.count = 0};
    struct cli_proto indices = {.count = 0};

    cli_proto_message(to, 7, &one);
    for (size_t i = 0; i < profile->samples_count; i++) {
        const struct model_pprof_sample *const sample = writer->samples[i];

        if (!begins_stack(writer, i))
            continue;
        for (size_t k = 0; k < sample->locations_count; k++)
            cli_proto_varint(
                &indices,
                (uint64_t)(model_pprof_location(profile, sample->locations[k]) -
                           profile->locations) +
                    1);
        cli_proto_message(&one, 1, &indices);
        cli_proto_message(to, 7, &one);
    }
}

static void
put_dictionary(const struct writer *writer, struct cli_proto *to)
{
    struct cli_proto dictionary = {.count = 0};
    struct cli_proto none = {.count = 0};

    put_mappings(writer, &dictionary);
    put_locations(writer, &dictionary);
    put_functions(writer, &dictionary);
    cli_proto_message(&dictionary, 4, &none); /* links */
    for (size_t i = 0; i < writer->profile->strings_count; i++)
        cli_proto_text(&dictionary, 5, writer->profile->strings[i]);
    cli_proto_message(&dictionary, 6, &none); /* attributes */
    put_stacks(writer, &dictionary);
    cli_proto_message(to, 2, &dictionary);
}

/* ---- profiles ---- */

static void
put_type(const struct writer *writer, struct cli_proto *to, uint32_t field,
         const struct model_pprof_type *type)
{
    struct cli_proto one = {.count = 0};

    cli_proto_number(&one, 1, string_of(writer, type->type));
    cli_proto_number(&one, 2, string_of(writer, type->unit));
    cli_proto_message(to, field, &one);
}

/* Write the samples, one for each stack: the sum of the stack's samples, unless
 * it is 0. */
static void
put_samples(const struct writer *writer, struct cli_proto *to, size_t type)
{
    const size_t count = writer->profile->samples_count;
    struct cli_proto one = {.count = 0};
    struct cli_proto values = {.count = 0};
    uint64_t stack = 0;

    for (size_t i = 0; i < count;) {
        int64_t sum = 0;

        stack++;
        do
            sum += writer->samples[i++]->values[type];
        while (i < count && !begins_stack(writer, i));
        if (sum == 0)
            continue;
        cli_proto_number(&one, 1, stack);
        cli_proto_varint(&values, (uint64_t)sum);
        cli_proto_message(&one, 4, &values);
        cli_proto_message(to, 2, &one);
    }
}

static void
put_data(const struct writer *writer, struct cli_proto *to)
{
    const struct model_pprof *const profile = writer->profile;
    struct cli_proto resource = {.count = 0};
    struct cli_proto scope = {.count = 0};
    struct cli_proto one = {.count = 0};

    cli_proto_text(&one, 1, "profsim");
    cli_proto_message(&scope, 1, &one);
    for (size_t i = 0; i < profile->types_count; i++) {
        put_type(writer, &one, 1, &profile->types[i]);
        put_samples(writer, &one, i);
        cli_proto_fixed(&one, 3, (uint64_t)profile->time_ns);
        cli_proto_number(&one, 4, (uint64_t)profile->duration_ns);
        put_type(writer, &one, 5, &profile->period_type);
        cli_proto_number(&one, 6, (uint64_t)profile->period);
        cli_proto_message(&scope, 2, &one);
    }
    cli_proto_message(&resource, 2, &scope);
    cli_proto_message(to, 1, &resource);
    put_dictionary(writer, to);
}

const char *
cli_otlp_save(const struct cli_named_profile *named, const char *path)
{
    const struct props_output output = {.path = path};
    struct model_pprof profile;
    struct writer writer = {.profile = &profile};
    struct cli_proto data = {.count = 0};
    const char *reason = "it is not a profile";

    if (model_pprof_read(&profile, named->proto.at, named->proto.count)) {
        writer.samples =
            cli_need(calloc(profile.samples_count + 1, sizeof(void *)));
        for (size_t i = 0; i < profile.samples_count; i++)
            writer.samples[i] = &profile.samples[i];
        qsort(writer.samples, profile.samples_count, sizeof(void *),
              compare_stacks);
        know_strings(&writer);
        put_data(&writer, &data);
        reason = props_output_write(&output, data.at, data.count);
    }
    free(writer.samples);
    cli_map_release(&writer.string_of);
    model_pprof_release(&profile);
    free(data.at);
    return reason;
}
