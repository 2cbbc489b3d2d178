/*
 * named_profile.c -- see named_profile.h.
 *
 * A message's fields may be in any order, and repeated ones need not be
 * adjacent. So everything is copied unchanged, with two exceptions: each
 * location that has no name gets a line with one, and each mapping is marked as
 * having names. The functions and strings for these lines are appended to the
 * file.
 */
#include "record/report/named_profile.h"

#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "record/symbols/map.h"
#include "record/symbols/names.h"
#include "model/pprof/pprof_reader.h"
#include "common/command/saved_file.h"

enum { MAPPING = 3, LOCATION, FUNCTION, STRING, DEFAULT_TYPE = 14 };

struct naming {
    struct cli_proto to;
    const struct model_pprof *profile;
    struct cli_strings added;   /* texts, behind those of the profile */
    struct cli_map function_of; /* name and file -> id */
    uint64_t functions;         /* the largest id */
    struct cli_proto tail;      /* functions and strings to append */
};

/* ---- names ---- */

/* returns: the number of a text, the same for equal texts */
static uint64_t
string_of(struct naming *naming, const char *text)
{
    const size_t before = naming->added.count;
    size_t number;

    if (*text == '\0')
        return 0;
    number = cli_strings_number(&naming->added, text);
    if (number == before)
        cli_proto_text(&naming->tail, STRING, text);
    return naming->profile->strings_count + number;
}

/* returns: the largest id of a function; ids may have gaps */
static uint64_t
largest_function(const struct model_pprof *profile)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < profile->functions_count; i++)
        if (profile->functions[i].id > largest)
            largest = profile->functions[i].id;
    return largest;
}

static uint64_t
function_of(struct naming *naming, const struct prof_symbol *symbol)
{
    const uint64_t name = string_of(naming, symbol->function);
    const uint64_t file =
        string_of(naming, symbol->file != NULL ? symbol->file : "");
    const uint64_t key = name << 32 | file;
    const uint64_t found = cli_map_get(&naming->function_of, key);
    struct cli_proto function = {.count = 0};

    if (found != CLI_MAP_NONE)
        return found;
    cli_map_put(&naming->function_of, key, ++naming->functions);
    cli_proto_number(&function, 1, naming->functions);
    cli_proto_number(&function, 2, name);
    cli_proto_number(&function, 3, name);
    cli_proto_number(&function, 4, file);
    cli_proto_message(&naming->tail, FUNCTION, &function);
    return naming->functions;
}

/* Does a location have a name? A writer without names may give it a line that
 * has none. */
static bool
has_name(const struct naming *naming, const struct model_pprof_location *at)
{
    const struct model_pprof_function *const function =
        model_pprof_function(naming->profile, at->function);

    return at->lines_count > 1 || (function != NULL && *function->name != '\0');
}

/*
 * Write a location: a new one if a name was found, else a copy. The location's
 * address lies inside the call, but the look-up takes a return address, hence +
 * 1.
 */
static void
put_location(struct naming *naming, const uint8_t *bytes, size_t count,
             const struct model_pprof_location *location,
             const struct prof_symbols *symbols)
{
    struct prof_symbol symbol = {0};
    struct cli_proto line = {.count = 0};
    struct cli_proto all = {.count = 0};

    if (!has_name(naming, location))
        symbols->find(symbols->context, (uintptr_t)location->address + 1,
                      &symbol);
    if (symbol.function == NULL || *symbol.function == '\0') {
        cli_proto_bytes(&naming->to, LOCATION, bytes, count);
        return;
    }
    cli_proto_number(&line, 1, function_of(naming, &symbol));
    cli_proto_number(&line, 2, symbol.line);
    cli_proto_number(&all, 1, location->id);
    cli_proto_number(&all, 2, location->mapping);
    cli_proto_number(&all, 3, location->address);
    cli_proto_message(&all, 4, &line);
    cli_proto_message(&naming->to, LOCATION, &all);
}

/* Copy a mapping, with the flags that it has functions, files and lines. */
static void
put_mapping(struct naming *naming, const uint8_t *bytes, size_t count)
{
    struct cli_proto all = {.count = 0};

    cli_proto_put(&all, bytes, count);
    for (uint32_t field = 7; field <= 9; field++)
        cli_proto_number(&all, field, 1);
    cli_proto_message(&naming->to, MAPPING, &all);
}

/* ---- copying ---- */

static uint64_t
read_varint(const uint8_t **at)
{
    uint64_t value = 0;

    for (uint32_t shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 0x7f) << shift;
        if ((*(*at)++ & 0x80) == 0)
            return value;
    }
}

/* Copy the fields: numbers and texts. The profile was read whole before, so
 * they are sound. */
static void
copy_fields(struct naming *naming, const uint8_t *at, const uint8_t *end,
            const struct prof_symbols *symbols)
{
    size_t location = 0;

    while (at < end) {
        const uint8_t *const begin = at;
        const uint64_t tag = read_varint(&at);
        const uint64_t number = read_varint(&at);
        const uint8_t *const text = at;

        if ((tag & 7) != 0)
            at += number; /* the bytes of a text */
        if (tag == (LOCATION << 3 | 2))
            put_location(naming, text, number,
                         &naming->profile->locations[location++], symbols);
        else if (tag == (MAPPING << 3 | 2))
            put_mapping(naming, text, number);
        else
            cli_proto_put(&naming->to, begin, (size_t)(at - begin));
    }
    cli_proto_put(&naming->to, naming->tail.at, naming->tail.count);
}

static void
name_all(struct naming *naming, const uint8_t *bytes, size_t bytes_count)
{
    const struct model_pprof *const profile = naming->profile;
    struct prof_mapping *const mappings =
        cli_need(calloc(profile->mappings_count + 1, sizeof *mappings));
    struct cli_names *names;
    struct prof_symbols symbols;

    for (size_t i = 0; i < profile->mappings_count; i++)
        mappings[i] = (struct prof_mapping){
            .start = profile->mappings[i].start,
            .limit = profile->mappings[i].limit,
            .offset = profile->mappings[i].offset,
            .file = profile->mappings[i].file,
        };
    names = cli_names_open(mappings, profile->mappings_count);
    symbols = cli_names_symbols(names);
    naming->functions = largest_function(profile);
    copy_fields(naming, bytes, bytes + bytes_count, &symbols);
    cli_names_close(names);
    free(mappings);
}

const char *
cli_named_profile_make(struct cli_named_profile *named, const uint8_t *bytes,
                       size_t bytes_count)
{
    struct model_pprof profile;
    struct naming naming = {.profile = &profile};
    const char *reason = "it is not a profile";

    *named = (struct cli_named_profile){.samples_count = 0};
    if (model_pprof_read(&profile, bytes, bytes_count)) {
        named->samples_count = profile.samples_count;
        name_all(&naming, bytes, bytes_count);
        reason = NULL;
    }
    model_pprof_release(&profile);
    cli_strings_release(&naming.added);
    cli_map_release(&naming.function_of);
    free(naming.tail.at);
    named->proto = naming.to;
    return reason;
}

const char *
cli_named_profile_show(struct cli_named_profile *named, const char *type)
{
    struct model_pprof profile;
    uint64_t string = 0;

    if (!model_pprof_read(&profile, named->proto.at, named->proto.count))
        return "it is not a profile";
    while (string < profile.strings_count &&
           strcmp(profile.strings[string], type) != 0)
        string++;
    if (string < profile.strings_count)
        cli_proto_number(&named->proto, DEFAULT_TYPE, string);
    model_pprof_release(&profile);
    return NULL;
}

void
cli_named_profile_release(struct cli_named_profile *named)
{
    free(named->proto.at);
}

const char *
cli_named_profile_save(const struct cli_named_profile *named, const char *path)
{
    const struct cli_bytes bytes = {named->proto.at, named->proto.count};

    return cli_save_at(path, NULL, cli_save_bytes, &bytes);
}

int
cli_compare_stacks(const struct model_pprof_sample *a,
                   const struct model_pprof_sample *b)
{
    for (size_t i = 0; i < a->locations_count && i < b->locations_count; i++)
        if (a->locations[i] != b->locations[i])
            return a->locations[i] < b->locations[i] ? -1 : 1;
    return a->locations_count < b->locations_count
               ? -1
               : a->locations_count > b->locations_count;
}
