/*
 * places.c -- the locations and functions of a profile.proto, in one pass.
 *
 *      sample stack   [ pc a ][ pc b ][ pc a ]
 *                         |       |
 *      shown           a -> 1                 nearly all frames end here
 *      places          a -> id 1, b -> id 2   first use: Location, and the
 *                                             Function if its name is new
 *
 * `shown` has a slot for each hash and remembers whoever was there last, with
 * the bytes of the number as they stand in a sample: to copy four of them and
 * go on by as many as count takes no branch that depends on the number. Loads
 * from it for the next stack are begun while this one is written.
 *
 * Invariants
 *   I1  An id is given when its message is written; ids are 1, 2, 3, ...
 *   I2  A place with id 0 is known but not written (hidden so far, or a root).
 *   I3  An address found in its slot of `shown` is of a place that has an id
 *       and is not the runtime's: so it may be at a leaf, too.
 *
 * Why a place keeps no symbol: texts are the embedder's; a place hidden at
 * first is asked for again when it is written.
 */
#include <string.h>

#include "builder.h"
#include "check.h"
#include "poison.h"

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
    struct string *const function = &builder->strings[name];
    const bool new_function = function->function == 0;
    unsigned char *const message = begin_short(
        builder, PROFILE_LOCATION, 7 * (size_t)(TAG_MAX + VARINT_MAX));
    unsigned char *at = message;
    unsigned char *line;

    place->id = ++builder->locations;
    if (new_function)
        function->function = ++builder->functions_count;
    at = put_number(at, 1, place->id);
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

static void
ask(const struct builder *builder, uintptr_t pc, struct prof_symbol *symbol)
{
    memset(symbol, 0, sizeof *symbol);
    if (builder->symbols.find != NULL)
        builder->symbols.find(builder->symbols.context, pc, symbol);
}

static inline uint64_t
hash_of(uintptr_t pc)
{
    return (uint64_t)pc * 0x9e3779b97f4a7c15U;
}

static uint32_t
place_hash(uintptr_t pc)
{
    return (uint32_t)(hash_of(pc) >> 32);
}

static struct place *
add_place(struct builder *builder, uintptr_t pc, enum prof_frame_kind kind)
{
    struct index *const index = &builder->place_index;
    const uint32_t number = builder->places_count;

    if (number == builder->places_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return NULL;
    }
    if (index_widened(index, number)) {
        for (uint32_t i = 0; i < number; i++)
            index_add(index, place_hash(builder->places[i].pc), i);
    }
    index_add(index, place_hash(pc), number);
    builder->places_count++;
    builder->places[number] = (struct place){.pc = pc, .kind = kind};
    return &builder->places[number];
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
    const struct index *const index = &builder->place_index;
    uint32_t slot = index_home(index, place_hash(pc));
    uint32_t seen;

    *fresh = false;
    while ((seen = index->slots[slot]) != 0) {
        if (builder->places[seen - 1].pc == pc)
            return &builder->places[seen - 1];
        slot = index_after(index, slot);
    }
    *fresh = true;
    ask(builder, pc, symbol);
    return add_place(builder, pc, symbol->kind);
}

/* ------------------------------------------------------------- the short cut
 */

/* The slot of an address; it is there if the slot says so (I3). */
static inline struct shown *
shown_at(const struct builder *builder, uintptr_t pc)
{
    return &builder->shown[hash_of(pc) >> (64 - builder->shown_log2)];
}

/* The latest place of a slot has it. Numbers from 2^28 on would not fit. */
static void
show_place(struct builder *builder, const struct place *place)
{
    unsigned char number[VARINT_MAX];
    struct shown shown = {.pc = place->pc};

    if (place->id >> 28 != 0 || place->kind != PROF_FRAME_PROGRAM)
        return;
    shown.bytes = (uint32_t)(put_varint(number, place->id) - number);
    memcpy(&shown.word, number, sizeof shown.word);
    *shown_at(builder, place->pc) = shown;
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
    show_place(builder, place);
    return place->id;
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
        if (place->kind == PROF_FRAME_PROGRAM)
            return i;
    }
    return 0;
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
    if (place->kind == PROF_FRAME_ROOT)
        return at;
    return put_varint(at, place_id(builder, place, &symbol, fresh));
}

/* In a word, so that what does not know its length need not ask. */
static inline unsigned char *
put_shown(unsigned char *at, const struct shown *shown)
{
    memcpy(at, &shown->word, sizeof shown->word);
    return at + shown->bytes;
}

void
prof_builder_fetch(const struct builder *builder, const uintptr_t *stack,
                   uint32_t depth)
{
    enum { FETCH_MAX = 16 };

    for (uint32_t i = 0; i < depth && i < FETCH_MAX; i++)
        __builtin_prefetch(shown_at(builder, stack[i]));
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

    if (sample->hide_runtime && depth > 0 &&
        shown_at(builder, stack[0])->pc != stack[0])
        i = runtime_frames(builder, sample);
    for (; i < depth; i++) {
        const struct shown *const shown = shown_at(builder, stack[i]);
        unsigned char *const after = shown->pc == stack[i]
                                         ? put_shown(at, shown)
                                         : number_frame(builder, stack[i], at);

        if (after == NULL)
            return count;
        count += after != at;
        at = after;
    }
    /* Readers drop a sample that is nowhere, and their totals with it. */
    if (count == 0 && builder->lost != 0) {
        unsigned char *const after = number_frame(builder, builder->lost, at);

        if (after == NULL)
            return count;
        count += after != at;
        at = after;
    }
    *end = at;
    return count;
}
