/*
 * builder.c -- writes a profile.proto in one pass.
 *
 *      samples --> locations.c   return address -> location, function
 *                  strings.c  text -> number
 *
 * A location, function or sample is written as soon as it is complete; the
 * strings are written last. Only the tables of locations and strings stay in
 * memory. They are in the caller's scratch; if one is full, the writer returns
 * PROF_ERR_MEMORY.
 */
#include "prof/pprof/builder.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/pprof/labels.h"
#include "prof/core/poison.h"

enum {
    STRINGS_OWN = 64
}; /* strings not of locations: types, units, labels, mappings */

/* If the embedder gives no mapping: one for all code, since readers expect
 * one. */
static const struct prof_mapping all_code = {.limit = UINT64_MAX};

/* ---- memory ---- */

/* Two texts per location: its function and its file. */
static size_t
strings_for(size_t slots)
{
    return 2 * slots + STRINGS_OWN;
}

static size_t
tables_bytes(uint32_t slots_log2)
{
    const size_t slots = (size_t)1 << slots_log2;

    /* The tables of locations of all sizes together: twice the largest. */
    return 2 * slots * sizeof(struct location) +
           strings_for(slots) * sizeof(struct string) +
           slots * sizeof(struct function) + 4 * slots * sizeof(uint32_t);
}

static size_t
fixed_bytes(size_t mappings)
{
    return BUILDER_OUT_BYTES + mappings + 64;
}

enum { SLOTS_LOG2_MAX = 28 };

size_t
prof_builder_bytes(size_t locations)
{
    uint32_t slots_log2 = INDEX_LOG2_MIN;

    while (slots_log2 < SLOTS_LOG2_MAX && index_room(slots_log2) < locations)
        slots_log2++;
    return fixed_bytes(4096) + tables_bytes(slots_log2);
}

/* Take a part of the arena. It fits, because the size was checked before. */
static void *
cut(struct arena *arena, size_t bytes)
{
    void *taken = prof_arena_take(arena, bytes);

    PROF_ASSERT(taken != NULL);
    return taken;
}

static void
cut_tables(struct builder *builder, struct arena *arena, uint32_t slots_log2)
{
    const size_t slots = (size_t)1 << slots_log2;

    builder->locations_max = (uint32_t)index_room(slots_log2);
    builder->strings_max = (uint32_t)strings_for(slots);
    builder->locations_log2_max = slots_log2;
    builder->location_memory =
        cut(arena, 2 * slots * sizeof *builder->location_memory);
    prof_builder_locations_begin(builder);
    builder->strings =
        cut(arena, builder->strings_max * sizeof *builder->strings);
    builder->functions = cut(arena, slots * sizeof *builder->functions);
    index_begin(&builder->string_index,
                cut(arena, 4 * slots * sizeof(uint32_t)));
}

bool
prof_builder_init(struct builder *builder, const struct prof_output *output,
                  struct arena *arena, size_t values_count)
{
    const size_t have = (size_t)(arena->end - arena->at);
    const size_t fixed = fixed_bytes(output->mappings_count);
    uint32_t slots_log2 = INDEX_LOG2_MIN;

    PROF_ASSERT(values_count >= 1 && values_count <= SAMPLE_VALUES_MAX);
    if (have < fixed + tables_bytes(slots_log2))
        return false;
    while (slots_log2 < SLOTS_LOG2_MAX &&
           have - fixed >= tables_bytes(slots_log2 + 1))
        slots_log2++;
    memset(builder, 0, sizeof *builder);
    builder->symbols = output->symbols;
    builder->lost = output->lost;
    builder->mappings = output->mappings;
    builder->mappings_count = output->mappings_count;
    if (builder->mappings_count == 0) {
        builder->mappings = &all_code;
        builder->mappings_count = 1;
    }
    builder->values_count = values_count;
    prof_out_init(&builder->out, &output->sink, cut(arena, BUILDER_OUT_BYTES),
                  BUILDER_OUT_BYTES);
    builder->mapping_marks = cut(arena, builder->mappings_count);
    memset(builder->mapping_marks, 0, builder->mappings_count);
    cut_tables(builder, arena, slots_log2);
    (void)prof_builder_string(builder, "");
    return true;
}

void
prof_builder_value_type(struct builder *builder, uint32_t field,
                        const char *type, const char *unit)
{
    unsigned char message[2 * (TAG_MAX + VARINT_MAX)];
    unsigned char *at = message;

    *at++ = tag_number(1);
    at = put_varint(at, prof_builder_string(builder, type));
    *at++ = tag_number(2);
    at = put_varint(at, prof_builder_string(builder, unit));
    prof_out_field(&builder->out, field, message, (size_t)(at - message));
}

/* ---- the end ---- */

static void
write_mapping(struct builder *builder, uint32_t index)
{
    const struct prof_mapping *mapping = &builder->mappings[index];
    unsigned char message[7 * (TAG_MAX + VARINT_MAX)];
    unsigned char *at = message;

    at = put_number(at, 1, index + 1);
    at = put_number(at, 2, mapping->start);
    at = put_number(at, 3, mapping == &all_code ? 0 : mapping->limit);
    at = put_number(at, 4, mapping->offset);
    at = put_number(at, 5, prof_builder_string(builder, mapping->file));
    at = put_number(at, 6, prof_builder_string(builder, mapping->build_id));
    /* has_functions: true if every address in the mapping had a name */
    at = put_number(at, 7, builder->mapping_marks[index] == 1);
    prof_out_field(&builder->out, PROFILE_MAPPING, message,
                   (size_t)(at - message));
}

/* returns: does it hold a byte that is not ASCII? */
static bool
is_wide(const struct string *string)
{
    unsigned char all = 0;

    for (uint32_t i = 0; i < string->bytes; i++)
        all |= (unsigned char)string->text[i];
    return all >= 0x80;
}

/* Put a text with malformed UTF-8 escaped, as \xff; readers refuse a file that
 * has any. in: out, NULL to measure only. returns: its bytes */
static size_t
put_escaped(struct out *out, const struct string *string)
{
    const unsigned char *const text = (const unsigned char *)string->text;
    size_t length = 0;
    size_t bytes;

    for (uint32_t i = 0; i < string->bytes; i += (uint32_t)bytes) {
        const char *const digits = "0123456789abcdef";
        const char hex[] = {'\\', 'x', digits[text[i] >> 4],
                            digits[text[i] & 15]};
        uint32_t character;
        bool is_well;

        bytes = prof_utf8(&text[i], string->bytes - i, &character);
        is_well = bytes > 0;
        length += is_well ? bytes : sizeof hex;
        if (out != NULL && is_well)
            prof_out_bytes(out, &text[i], bytes);
        else if (out != NULL)
            prof_out_bytes(out, hex, sizeof hex);
        bytes = is_well ? bytes : 1;
    }
    return length;
}

static void
write_string(struct builder *builder, const struct string *string)
{
    if (is_wide(string)) {
        prof_out_field_begin(&builder->out, PROFILE_STRING,
                             put_escaped(NULL, string));
        (void)put_escaped(&builder->out, string);
    } else {
        prof_out_field(&builder->out, PROFILE_STRING, string->text,
                       string->bytes);
    }
}

enum prof_status
prof_builder_finish(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->mappings_count; i++)
        write_mapping(builder, i);
    for (uint32_t i = 0; i < builder->strings_count; i++)
        write_string(builder, &builder->strings[i]);
    return prof_out_finish(&builder->out);
}
