/*
 * locations.c -- the locations and functions of a profile.proto, in one pass.
 *
 *      sample stack   [ pc a ][ pc b ][ pc a ]
 *                         |       |
 *      locations       a -> id 1, b -> id 2   first use: Location, and the
 *                                             Function, if its name and
 *                                             file are new
 *
 * A location holds its id as a varint, as samples contain it. A sample always
 * copies four bytes and advances by the varint's length, so no branch depends
 * on the id. The table doubles when half full, so most entries are in their
 * home slot. While one stack is written, the cache lines for the next are
 * prefetched. The table of 2^n slots begins at slot 2^n of the memory, so that
 * it does not overlap the next one, of twice its size.
 *
 * Invariants
 *   I1  An id is given when its message is written; ids are 1, 2, 3, ...
 *   I2  A location without an id is known but not written: a root, or hidden so
 *       far.
 *   I3  At most three quarters of the slots are taken, so that every probe
 *       ends.
 *
 * A location stores no symbol, because the embedder owns the texts. If a
 * location was hidden at first, its symbol is looked up again when it is
 * written.
 */
#include <string.h>

#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/core/poison.h"
#include "prof/pprof/symbol_of.h"

/* ---- functions and locations ---- */

/* Begin a message that is always shorter than 128 bytes. */
static inline unsigned char *
begin_short(struct builder *builder, uint32_t field, size_t bytes_max)
{
    unsigned char *const at = prof_out_reserve(&builder->out, 2 + bytes_max);

    PROF_ASSERT(bytes_max < 128);
    at[0] = tag_bytes(field);
    return at + 2;
}

/* in: message, from begin_short(), and its end */
static inline void
end_short(struct builder *builder, unsigned char *message,
          const unsigned char *end)
{
    message[-1] = (unsigned char)(end - message);
    builder->out.used += (size_t)(end - message) + 2;
}

static void
write_function(struct builder *builder, uint32_t id, uint32_t name)
{
    unsigned char *const message = begin_short(
        builder, PROFILE_FUNCTION, 4 * (size_t)(TAG_MAX + VARINT_MAX));
    unsigned char *at = message;

    at = put_number(at, 1, id);
    at = put_number(at, 2, name);
    at = put_number(at, 3, name);
    at = put_number(at, 4, builder->functions[id].file);
    end_short(builder, message, at);
}

/* returns: a function's id, which is new if builder->functions_count grows */
static uint32_t
function_of(struct builder *builder, uint32_t name, const char *file)
{
    struct function *const functions = builder->functions;
    uint32_t *link = &builder->strings[name].function;
    uint32_t number;

    /* Mostly it is the first one, and its file the same text. */
    if (*link != 0 && builder->strings[functions[*link].file].text == file)
        return *link;
    number = prof_builder_string(builder, file);
    while (*link != 0 && functions[*link].file != number)
        link = &functions[*link].next;
    if (*link == 0) {
        *link = ++builder->functions_count;
        functions[*link] = (struct function){number, 0};
    }
    return *link;
}

/* Find the first mapping that holds the address. returns: its id; 0 if none */
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

/* There are fewer than 2^28 locations, so four bytes suffice. */
static void
set_number(struct location *location, uint32_t number)
{
    unsigned char bytes[VARINT_MAX] = {0};

    location->bytes = (uint8_t)(put_varint(bytes, number) - bytes);
    memcpy(&location->word, bytes, sizeof location->word);
}

static void
write_location(struct builder *builder, struct location *location,
               const struct prof_symbol *symbol)
{
    const uint32_t name = prof_builder_string(builder, symbol->function);
    const uint32_t functions_count = builder->functions_count;
    const uint32_t function = function_of(builder, name, symbol->file);
    unsigned char *const message = begin_short(
        builder, PROFILE_LOCATION, 7 * (size_t)(TAG_MAX + VARINT_MAX));
    unsigned char *at = message;
    const uint32_t id = ++builder->locations;
    unsigned char *line;

    set_number(location, id);
    at = put_number(at, 1, id);
    at = put_number(at, 3, shown_pc(location->pc, symbol));
    *at++ = tag_bytes(4);
    line = ++at;
    at = put_number(at, 1, function);
    at = put_number(at, 2, symbol->line);
    line[-1] = (unsigned char)(at - line);
    at = put_number(at, 2, find_mapping(builder, location->pc, name != 0));
    end_short(builder, message, at);
    if (function > functions_count)
        write_function(builder, function, name);
}

static inline uint64_t
hash_of(uintptr_t pc)
{
    return (uint64_t)pc * 0x9e3779b97f4a7c15U;
}

/* The first slot to probe for an address. */
static inline struct location *
home_of(const struct builder *builder, uintptr_t pc)
{
    return &builder->table[hash_of(pc) >> (64 - builder->locations_log2)];
}

static inline struct location *
after(const struct builder *builder, struct location *location)
{
    struct location *const end =
        builder->table + (1U << builder->locations_log2);

    return location + 1 < end ? location + 1 : builder->table;
}

static struct location *
empty_slot(const struct builder *builder, uintptr_t pc)
{
    struct location *location = home_of(builder, pc);

    while (location->kind != 0)
        location = after(builder, location);
    return location;
}

static void
begin_table(struct builder *builder, uint32_t locations_log2)
{
    builder->locations_log2 = locations_log2;
    builder->table = &builder->location_memory[(size_t)1 << locations_log2];
    memset(builder->table, 0, sizeof *builder->table << locations_log2);
}

void
prof_builder_locations_begin(struct builder *builder)
{
    begin_table(builder, INDEX_LOG2_MIN);
}

static void
widen(struct builder *builder)
{
    const struct location *const old = builder->table;
    const size_t old_slots = (size_t)1 << builder->locations_log2;

    begin_table(builder, builder->locations_log2 + 1);
    for (size_t i = 0; i < old_slots; i++) {
        if (old[i].kind != 0)
            *empty_slot(builder, old[i].pc) = old[i];
    }
}

static struct location *
add_location(struct builder *builder, uintptr_t pc, enum prof_frame_kind kind)
{
    struct location *location;

    if (builder->locations_count == builder->locations_max) {
        prof_out_fail(&builder->out, PROF_ERR_MEMORY);
        return NULL;
    }
    if (builder->locations_count >= 1U << (builder->locations_log2 - 1) &&
        builder->locations_log2 < builder->locations_log2_max)
        widen(builder);
    location = empty_slot(builder, pc);
    location->pc = pc;
    location->kind = (uint8_t)(kind + 1);
    builder->locations_count++;
    return location;
}

static inline bool
location_is(const struct location *location, enum prof_frame_kind kind)
{
    return location->kind == (uint8_t)(kind + 1);
}

/*
 * Find or add the location of an address.
 *
 * out:     *symbol, only if *fresh
 * returns: NULL if there is no room
 */
static struct location *
find_location(struct builder *builder, uintptr_t pc, struct prof_symbol *symbol,
              bool *fresh)
{
    *fresh = false;
    for (struct location *location = home_of(builder, pc); location->kind != 0;
         location = after(builder, location)) {
        if (location->pc == pc)
            return location;
    }
    *fresh = true;
    *symbol = symbol_of(&builder->symbols, pc);
    return add_location(builder, pc, symbol->kind);
}

/* Write a location unless it is written already. */
static void
written(struct builder *builder, struct location *location,
        struct prof_symbol *symbol, bool fresh)
{
    if (location->bytes != 0)
        return;
    if (!fresh)
        *symbol = symbol_of(&builder->symbols, location->pc);
    write_location(builder, location, symbol);
}

/* ---- stacks ---- */

/* How many frames at the leaf are the runtime's; 0 if all frames are. */
static uint32_t
runtime_frames(struct builder *builder, const struct sample *sample)
{
    struct prof_symbol symbol;
    bool fresh;

    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct location *location =
            find_location(builder, sample->stack[i], &symbol, &fresh);

        if (location == NULL)
            return 0;
        if (location_is(location, PROF_FRAME_PROGRAM))
            return i;
    }
    return 0;
}

/* Store a whole word; the length only moves the end. */
static inline unsigned char *
put_location(unsigned char *at, const struct location *location)
{
    memcpy(at, &location->word, sizeof location->word);
    return at + location->bytes;
}

/* Write a frame's location id at `at`. returns: its end, NULL if there is no
 * room */
static unsigned char *
number_frame(struct builder *builder, uintptr_t pc, unsigned char *at)
{
    struct prof_symbol symbol;
    bool fresh;
    struct location *location = find_location(builder, pc, &symbol, &fresh);

    if (location == NULL)
        return NULL;
    if (location_is(location, PROF_FRAME_ROOT))
        return at;
    written(builder, location, &symbol, fresh);
    return put_location(at, location);
}

void
prof_builder_fetch(const struct builder *builder, const uintptr_t *stack,
                   uint32_t depth)
{
    enum { FETCH_MAX = 16 };

    for (uint32_t i = 0; i < depth && i < FETCH_MAX; i++)
        __builtin_prefetch(home_of(builder, stack[i]));
}

/* Is this a known frame of the program, in the first slot probed? */
static inline bool
is_at_home(const struct builder *builder, uintptr_t pc)
{
    const struct location *const home = home_of(builder, pc);

    return home->pc == pc && location_is(home, PROF_FRAME_PROGRAM);
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
        const struct location *const home = home_of(builder, stack[i]);
        unsigned char *const end_of_one =
            home->pc == stack[i] && home->bytes != 0
                ? put_location(at, home)
                : number_frame(builder, stack[i], at);

        if (end_of_one == NULL)
            return 0;
        count += end_of_one != at;
        at = end_of_one;
    }
    /* Readers drop a sample without a location, and its values are then missing
       from their totals. */
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
