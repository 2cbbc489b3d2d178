/*
 * builder.c -- numbers and messages of profile.proto, in one pass.
 *
 *      sample stack   [ pc a ][ pc b ][ pc a ]
 *                         |       |
 *      places          a -> id 1, b -> id 2      first use: Location, and the
 *      functions       name -> id                Function if its name is new
 *      strings         text -> number            kept, written last
 *
 * A location, function or sample is written the moment it is complete; only the
 * tables above stay. They are open-addressing tables in the caller's scratch,
 * sized once from it and at most three quarters full; a table that is full ends
 * the profile with PROF_ERR_MEMORY.
 *
 * Invariants
 *   I1  An id is given when its message is written; ids are 1, 2, 3, ...
 *   I2  A place with id 0 is known but not written (hidden so far, or a root).
 *   I3  strings[0] is "". Strings differ from each other.
 *
 * Why a place keeps no symbol: texts are the embedder's; a place hidden at
 * first is asked for again when it is written.
 */
#include "builder.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "check.h"
#include "poison.h"

struct place {
    uintptr_t pc;
    uint32_t id;   /* 0: not written (I2) */
    uint32_t kind; /* enum prof_frame_kind + 1; 0: the slot is empty */
};

struct string {
    const char *text; /* the embedder's or ours, until the writer returns */
    uint32_t bytes;
    uint32_t hash;
};

struct function {
    uint32_t name; /* number of the text */
    uint32_t id;   /* 0: the slot is empty */
};

enum {
    STRINGS_OWN = 64
}; /* types, units, labels, mappings: besides locations */

/* Stands for all code if the embedder names no mapping; readers want one. */
static const struct prof_mapping all_code = {.limit = UINT64_MAX};

/* -------------------------------------------------------------------- memory
 */

/* Two texts a location: its function and its file. */
static size_t
strings_for(size_t slots)
{
    return 2 * slots + STRINGS_OWN;
}

static size_t
tables_bytes(uint32_t slots_log2)
{
    const size_t slots = (size_t)1 << slots_log2;

    return slots * (sizeof(struct place) + sizeof(struct function)) +
           strings_for(slots) * sizeof(struct string) +
           4 * slots * sizeof(uint32_t);
}

static size_t
fixed_bytes(size_t mappings)
{
    return BUILDER_OUT_BYTES + PROF_DEPTH_LIMIT * sizeof(uint32_t) + mappings +
           64;
}

enum { SLOTS_LOG2_MIN = 7, SLOTS_LOG2_MAX = 28 };

size_t
prof_builder_bytes(size_t locations)
{
    uint32_t slots_log2 = SLOTS_LOG2_MIN;

    while (slots_log2 < SLOTS_LOG2_MAX &&
           ((size_t)3 << slots_log2) / 4 < locations)
        slots_log2++;
    return fixed_bytes(4096) + tables_bytes(slots_log2);
}

/* The arena was measured before: a part that fails to fit is our mistake. */
static void *
cut(struct arena *arena, size_t bytes)
{
    void *taken = prof_arena_take(arena, bytes);

    PROF_ASSERT(taken != NULL);
    return taken;
}

static void
cut_tables(struct builder *builder, struct arena *arena)
{
    const size_t slots = (size_t)1 << builder->slots_log2;
    const size_t functions = slots * sizeof *builder->functions;

    builder->places_max = (uint32_t)(slots / 4 * 3);
    builder->strings_max = (uint32_t)strings_for(slots);
    builder->places = cut(arena, slots * sizeof *builder->places);
    builder->functions = cut(arena, functions);
    builder->strings =
        cut(arena, builder->strings_max * sizeof *builder->strings);
    builder->string_slots = cut(arena, 4 * slots * sizeof(uint32_t));
    memset(builder->places, 0, slots * sizeof *builder->places);
    memset(builder->functions, 0, functions);
    memset(builder->string_slots, 0, 4 * slots * sizeof(uint32_t));
}

bool
prof_builder_init(struct builder *builder, const struct prof_output *output,
                  struct arena *arena, size_t values_count)
{
    const size_t have = (size_t)(arena->end - arena->at);
    const size_t fixed = fixed_bytes(output->mappings_count);
    uint32_t slots_log2 = SLOTS_LOG2_MIN;

    PROF_ASSERT(values_count >= 1 && values_count <= SAMPLE_VALUES_MAX);
    if (have < fixed || have - fixed < tables_bytes(slots_log2))
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
    builder->slots_log2 = slots_log2;
    prof_out_init(&builder->out, &output->sink, cut(arena, BUILDER_OUT_BYTES),
                  BUILDER_OUT_BYTES);
    builder->ids = cut(arena, PROF_DEPTH_LIMIT * sizeof *builder->ids);
    builder->mapping_marks = cut(arena, builder->mappings_count);
    memset(builder->mapping_marks, 0, builder->mappings_count);
    cut_tables(builder, arena);
    (void)prof_builder_string(builder, "");
    return true;
}

/* ------------------------------------------------------------------- strings
 */

static bool
string_is(const struct string *string, const char *text, size_t bytes,
          uint32_t hash)
{
    return string->hash == hash && string->bytes == bytes &&
           (bytes == 0 || memcmp(string->text, text, bytes) == 0);
}

uint32_t
prof_builder_string(struct builder *builder, const char *text)
{
    const size_t bytes = prof_text_bytes(text);
    const uint32_t hash = (uint32_t)XXH3_64bits(text, bytes);
    const uint32_t mask = (4U << builder->slots_log2) - 1;
    uint32_t slot = hash & mask;
    uint32_t number;

    /* Slots keep number + 1; they outnumber strings, so the walk ends. */
    while ((number = builder->string_slots[slot]) != 0) {
        if (string_is(&builder->strings[number - 1], text, bytes, hash))
            return number - 1;
        slot = (slot + 1) & mask;
    }
    if (builder->strings_count == builder->strings_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return 0;
    }
    number = builder->strings_count++;
    builder->string_slots[slot] = number + 1;
    builder->strings[number] =
        (struct string){.text = text, .bytes = (uint32_t)bytes, .hash = hash};
    return number;
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

/* -------------------------------------------------- functions and locations
 */

static void
write_function(struct builder *builder, uint64_t id, uint32_t name,
               const char *file)
{
    unsigned char message[4 * (TAG_MAX + VARINT_MAX)];
    unsigned char *at = message;

    at = put_number(at, 1, id);
    at = put_number(at, 2, name);
    at = put_number(at, 3, name);
    at = put_number(at, 4, prof_builder_string(builder, file));
    prof_out_field(&builder->out, PROFILE_FUNCTION, message,
                   (size_t)(at - message));
}

/* returns: the slot of the function of that name, empty if it is new */
static struct function *
find_function(struct builder *builder, uint32_t name)
{
    const uint32_t mask = (1U << builder->slots_log2) - 1;
    uint32_t slot = (name * 0x9e3779b1U) >> (32 - builder->slots_log2);

    /* No more functions than places, which leave a quarter empty. */
    while (builder->functions[slot].id != 0 &&
           builder->functions[slot].name != name)
        slot = (slot + 1) & mask;
    return &builder->functions[slot];
}

/* The first mapping that holds the address; its number, 0 if none does. */
static uint32_t
find_mapping(struct builder *builder, uintptr_t pc, bool named)
{
    for (uint32_t i = 0; i < builder->mappings_count; i++) {
        const struct prof_mapping *mapping = &builder->mappings[i];

        if (pc < mapping->start || pc >= mapping->limit)
            continue;
        builder->mapping_marks[i] |= named ? 1 : 2;
        return i + 1;
    }
    return 0;
}

/* A call is before its return address; a function's entry is where it is. */
static uintptr_t
shown_pc(uintptr_t pc, const struct prof_symbol *symbol)
{
    return pc == symbol->entry || pc == 0 ? pc : pc - 1;
}

static void
write_location(struct builder *builder, struct place *place,
               const struct prof_symbol *symbol)
{
    const uint32_t name = prof_builder_string(builder, symbol->function);
    struct function *const function = find_function(builder, name);
    const bool new_function = function->id == 0;
    unsigned char message[5 * (TAG_MAX + VARINT_MAX)];
    unsigned char line[2 * (TAG_MAX + VARINT_MAX)];
    unsigned char *at = message;
    unsigned char *line_at = line;
    const size_t line_max = sizeof line;
    size_t line_bytes;

    place->id = ++builder->locations;
    if (new_function) {
        function->id = ++builder->functions_count;
        function->name = name;
    }
    line_at = put_number(line_at, 1, function->id);
    line_at = put_number(line_at, 2, symbol->line);
    line_bytes = (size_t)(line_at - line);
    PROF_ASSERT(line_bytes <= line_max);

    at = put_number(at, 1, place->id);
    at = put_number(at, 3, shown_pc(place->pc, symbol));
    *at++ = tag_bytes(4);
    *at++ = (unsigned char)line_bytes;
    memcpy(at, line, line_bytes);
    at += line_bytes;
    at = put_number(at, 2, find_mapping(builder, place->pc, name != 0));
    prof_out_field(&builder->out, PROFILE_LOCATION, message,
                   (size_t)(at - message));
    if (new_function)
        write_function(builder, function->id, name, symbol->file);
}

static void
ask(const struct builder *builder, uintptr_t pc, struct prof_symbol *symbol)
{
    memset(symbol, 0, sizeof *symbol);
    if (builder->symbols.find != NULL)
        builder->symbols.find(builder->symbols.context, pc, symbol);
}

static inline uint32_t
home_of(uintptr_t pc, uint32_t slots_log2)
{
    return (uint32_t)(((uint64_t)pc * 0x9e3779b97f4a7c15U) >>
                      (64 - slots_log2));
}

/*
 * Find or take the place of an address.
 *
 * out:     *symbol, only if *fresh
 * returns: NULL if there is no room
 */
static struct place *
find_place(struct builder *builder, uintptr_t pc, struct prof_symbol *symbol,
           bool *fresh)
{
    const uint32_t mask = (1U << builder->slots_log2) - 1;
    uint32_t slot = home_of(pc, builder->slots_log2);
    struct place *place = &builder->places[slot];

    *fresh = false;
    while (place->kind != 0) {
        if (place->pc == pc)
            return place;
        slot = (slot + 1) & mask;
        place = &builder->places[slot];
    }
    if (builder->places_count == builder->places_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return NULL;
    }
    *fresh = true;
    ask(builder, pc, symbol);
    builder->places_count++;
    place->pc = pc;
    place->kind = (uint32_t)symbol->kind + 1;
    return place;
}

static inline bool
place_is(const struct place *place, enum prof_frame_kind kind)
{
    return place->kind == (uint32_t)kind + 1;
}

/* returns: the number of a place, written now if it is not yet */
static uint32_t
place_id(struct builder *builder, struct place *place,
         struct prof_symbol *symbol, bool fresh)
{
    if (place->id == 0) {
        if (!fresh)
            ask(builder, place->pc, symbol);
        write_location(builder, place, symbol);
    }
    return place->id;
}

/* ------------------------------------------------------------------- samples
 */

/* How many of the runtime's frames stand at the leaf; 0 if all are its. */
static uint32_t
runtime_frames(struct builder *builder, const struct sample *sample)
{
    struct prof_symbol symbol;
    bool fresh;

    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct place *place =
            find_place(builder, sample->stack[i], &symbol, &fresh);

        if (place == NULL)
            return 0;
        if (!place_is(place, PROF_FRAME_RUNTIME) &&
            !place_is(place, PROF_FRAME_ROOT))
            return i;
    }
    return 0;
}

/*
 * The number of an address that is in its home place and was written before:
 * nearly all frames of a large profile. 0 if it takes a closer look.
 */
static inline uint32_t
known_number(const struct builder *builder, uintptr_t pc)
{
    const struct place *place =
        &builder->places[home_of(pc, builder->slots_log2)];

    return place->pc == pc ? place->id : 0;
}

/* Number a frame. returns: false if there is no room */
static bool
number_frame(struct builder *builder, uintptr_t pc, uint32_t *count)
{
    struct prof_symbol symbol;
    bool fresh;
    struct place *place = find_place(builder, pc, &symbol, &fresh);

    if (place == NULL)
        return false;
    if (!place_is(place, PROF_FRAME_ROOT))
        builder->ids[(*count)++] = place_id(builder, place, &symbol, fresh);
    return true;
}

uint32_t
prof_builder_stack(struct builder *builder, const struct sample *sample)
{
    const uint32_t depth =
        sample->depth < PROF_DEPTH_LIMIT ? sample->depth : PROF_DEPTH_LIMIT;
    uint32_t i = sample->hide_runtime ? runtime_frames(builder, sample) : 0;
    uint32_t count = 0;

    for (; i < depth; i++) {
        const uint32_t known = known_number(builder, sample->stack[i]);

        if (known != 0)
            builder->ids[count++] = known;
        else if (!number_frame(builder, sample->stack[i], &count))
            return count;
    }
    /* Readers drop a sample that is nowhere, and their totals with it. */
    if (count == 0 && builder->lost != 0)
        (void)number_frame(builder, builder->lost, &count);
    return count;
}

/* ------------------------------------------------------------------- the end
 */

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
    /* Only if every address looked up in it had a name. */
    at = put_number(at, 7, builder->mapping_marks[index] == 1);
    prof_out_field(&builder->out, PROFILE_MAPPING, message,
                   (size_t)(at - message));
}

enum prof_status
prof_builder_finish(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->mappings_count; i++)
        write_mapping(builder, i);
    for (uint32_t i = 0; i < builder->strings_count; i++)
        prof_out_field(&builder->out, PROFILE_STRING, builder->strings[i].text,
                       builder->strings[i].bytes);
    return prof_out_finish(&builder->out);
}
