/*
 * places.c -- the locations and functions of a profile.proto, in one pass.
 *
 *      sample stack   [ pc a ][ pc b ][ pc a ]
 *                         |       |
 *      places          a -> id 1, b -> id 2   first use: Location, and the
 *                                             Function if its name is new
 *
 * A place has the bytes of its number as they stand in a sample: to copy four
 * of them and go on by as many as count takes no branch that depends on the
 * number. The table doubles when half full, so that most are where their hash
 * says, and the lines for the next stack are fetched while one is written. The
 * table of 2^n slots lies from slot 2^n of its memory on, so that a table and
 * the one of twice its size do not overlap.
 *
 * Invariants
 *   I1  An id is given when its message is written; ids are 1, 2, 3, ...
 *   I2  A place without a number is known but not written (hidden so far, or a
 *       root).
 *   I3  At most three quarters of the slots are taken, so that a walk ends.
 *
 * Why a place keeps no symbol: texts are the embedder's; a place hidden at
 * first is asked for again when it is written.
 */
#include <string.h>

#include "builder.h"
#include "check.h"
#include "poison.h"
#include "symbol.h"

/* -------------------------------------------------- functions and locations
 */

/* Begins a message that is shorter than 128 bytes whatever is in it. */
static inline unsigned char *
begin_short(struct builder *builder, uint32_t field, size_t bytes_max)
{
    unsigned char *const at = prof_out_place(&builder->out, 2 + bytes_max);

    PROF_ASSERT(bytes_max < 128);
    at[0] = tag_bytes(field);
    return at + 2;
}

/* in: message, of begin_short(), and its end */
static inline void
end_short(struct builder *builder, unsigned char *message,
          const unsigned char *end)
{
    message[-1] = (unsigned char)(end - message);
    builder->out.used += (size_t)(end - message) + 2;
}

static void
write_function(struct builder *builder, uint64_t id, uint32_t name,
               const char *file)
{
    const uint32_t file_name = prof_builder_string(builder, file);
    unsigned char *const message = begin_short(
        builder, PROFILE_FUNCTION, 4 * (size_t)(TAG_MAX + VARINT_MAX));
    unsigned char *at = message;

    at = put_number(at, 1, id);
    at = put_number(at, 2, name);
    at = put_number(at, 3, name);
    at = put_number(at, 4, file_name);
    end_short(builder, message, at);
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

/* There are fewer than 2^28 places, so four bytes suffice. */
static void
set_number(struct place *place, uint32_t number)
{
    unsigned char bytes[VARINT_MAX] = {0};

    place->bytes = (uint8_t)(put_varint(bytes, number) - bytes);
    memcpy(&place->word, bytes, sizeof place->word);
}

static void
write_location(struct builder *builder, struct place *place,
               const struct prof_symbol *symbol)
{
    const uint32_t name = prof_builder_string(builder, symbol->function);
    struct string *const function = &builder->strings[name];
    const bool new_function = function->function == 0;
    unsigned char *const message = begin_short(
        builder, PROFILE_LOCATION, 7 * (size_t)(TAG_MAX + VARINT_MAX));
    unsigned char *at = message;
    const uint32_t id = ++builder->locations;
    unsigned char *line;

    set_number(place, id);
    if (new_function)
        function->function = ++builder->functions_count;
    at = put_number(at, 1, id);
    at = put_number(at, 3, shown_pc(place->pc, symbol));
    *at++ = tag_bytes(4);
    line = ++at;
    at = put_number(at, 1, function->function);
    at = put_number(at, 2, symbol->line);
    line[-1] = (unsigned char)(at - line);
    at = put_number(at, 2, find_mapping(builder, place->pc, name != 0));
    end_short(builder, message, at);
    if (new_function)
        write_function(builder, function->function, name, symbol->file);
}

static inline uint64_t
hash_of(uintptr_t pc)
{
    return (uint64_t)pc * 0x9e3779b97f4a7c15U;
}

/* Where the walk for an address begins. */
static inline struct place *
home_of(const struct builder *builder, uintptr_t pc)
{
    return &builder->places[hash_of(pc) >> (64 - builder->places_log2)];
}

static inline struct place *
after(const struct builder *builder, struct place *place)
{
    struct place *const end = builder->places + (1U << builder->places_log2);

    return place + 1 < end ? place + 1 : builder->places;
}

static struct place *
empty_slot(const struct builder *builder, uintptr_t pc)
{
    struct place *place = home_of(builder, pc);

    while (place->kind != 0)
        place = after(builder, place);
    return place;
}

static void
begin_table(struct builder *builder, uint32_t places_log2)
{
    builder->places_log2 = places_log2;
    builder->places = &builder->place_memory[(size_t)1 << places_log2];
    memset(builder->places, 0, sizeof *builder->places << places_log2);
}

void
prof_builder_places_begin(struct builder *builder)
{
    begin_table(builder, INDEX_LOG2_MIN);
}

static void
widen(struct builder *builder)
{
    const struct place *const old = builder->places;
    const size_t old_slots = (size_t)1 << builder->places_log2;

    begin_table(builder, builder->places_log2 + 1);
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i].kind != 0)
            *empty_slot(builder, old[i].pc) = old[i];
    }
}

static struct place *
add_place(struct builder *builder, uintptr_t pc, enum prof_frame_kind kind)
{
    struct place *place;

    if (builder->places_count == builder->places_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return NULL;
    }
    if (builder->places_count >= 1U << (builder->places_log2 - 1) &&
        builder->places_log2 < builder->places_log2_max)
        widen(builder);
    place = empty_slot(builder, pc);
    place->pc = pc;
    place->kind = (uint8_t)(kind + 1);
    builder->places_count++;
    return place;
}

static inline bool
place_is(const struct place *place, enum prof_frame_kind kind)
{
    return place->kind == (uint8_t)(kind + 1);
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
    *fresh = false;
    for (struct place *place = home_of(builder, pc); place->kind != 0;
         place = after(builder, place)) {
        if (place->pc == pc)
            return place;
    }
    *fresh = true;
    *symbol = symbol_of(&builder->symbols, pc);
    return add_place(builder, pc, symbol->kind);
}

/* Write a place if it is not yet. */
static void
written(struct builder *builder, struct place *place,
        struct prof_symbol *symbol, bool fresh)
{
    if (place->bytes != 0)
        return;
    if (!fresh)
        *symbol = symbol_of(&builder->symbols, place->pc);
    write_location(builder, place, symbol);
}

/* -------------------------------------------------------------------- stacks
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
        if (place_is(place, PROF_FRAME_PROGRAM))
            return i;
    }
    return 0;
}

/* In a word, so that what does not know its length need not ask. */
static inline unsigned char *
put_place(unsigned char *at, const struct place *place)
{
    memcpy(at, &place->word, sizeof place->word);
    return at + place->bytes;
}

/* Number a frame. returns: the end of the number, NULL if there is no room */
static unsigned char *
number_frame(struct builder *builder, uintptr_t pc, unsigned char *at)
{
    struct prof_symbol symbol;
    bool fresh;
    struct place *place = find_place(builder, pc, &symbol, &fresh);

    if (place == NULL)
        return NULL;
    if (place_is(place, PROF_FRAME_ROOT))
        return at;
    written(builder, place, &symbol, fresh);
    return put_place(at, place);
}

void
prof_builder_fetch(const struct builder *builder, const uintptr_t *stack,
                   uint32_t depth)
{
    enum { FETCH_MAX = 16 };

    for (uint32_t i = 0; i < depth && i < FETCH_MAX; i++)
        __builtin_prefetch(home_of(builder, stack[i]));
}

/* A frame of the program, known, and in the first slot for it. */
static inline bool
is_at_home(const struct builder *builder, uintptr_t pc)
{
    const struct place *const home = home_of(builder, pc);

    return home->pc == pc && place_is(home, PROF_FRAME_PROGRAM);
}

uint32_t
prof_builder_stack(struct builder *builder, const struct sample *sample,
                   unsigned char **end)
{
    const uint32_t depth =
        sample->depth < PROF_DEPTH_LIMIT ? sample->depth : PROF_DEPTH_LIMIT;
    const uintptr_t *const stack = sample->stack;
    unsigned char *at = *end;
    uint32_t count = 0;
    uint32_t i = 0;

    if (sample->hide_runtime && depth > 0 && !is_at_home(builder, stack[0]))
        i = runtime_frames(builder, sample);
    for (; i < depth; i++) {
        const struct place *const home = home_of(builder, stack[i]);
        unsigned char *const end_of_one =
            home->pc == stack[i] && home->bytes != 0
                ? put_place(at, home)
                : number_frame(builder, stack[i], at);

        if (end_of_one == NULL)
            return 0;
        count += end_of_one != at;
        at = end_of_one;
    }
    /* Readers drop a sample that is nowhere, and their totals with it. */
    if (count == 0 && builder->lost != 0) {
        unsigned char *const end_of_one =
            number_frame(builder, builder->lost, at);

        if (end_of_one == NULL)
            return 0;
        count += end_of_one != at;
        at = end_of_one;
    }
    *end = at;
    return count;
}
