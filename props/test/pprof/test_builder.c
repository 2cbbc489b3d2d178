/*
 * test_builder.c -- the builder numbers addresses and texts while its tables
 * grow, have collisions and fill up: each gets one number, each address is
 * symbolized once, and the first that does not fit makes the profile fail with
 * PROF_ERR_MEMORY. White box: reads the builder's tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "builder.h"
#include "pprof.h"
#include "unit_test.h"

enum { NAMES_MAX = 512, FILE_BYTES = 1 << 20, MAPPINGS = 4096 };

static struct builder builder;
static struct model_pprof profile;
static unsigned char file[FILE_BYTES];
static struct prof_memory memory;
static size_t asked;
static char names[NAMES_MAX][2][8];

/* Addresses from 0x10000 on are of the program; those below are of the
 * runtime. */
enum { PROGRAM = 0x10000, RUNTIME = 0x8000 };

/* Name an address: each has a function of its own, in a file of its own. */
static void
name_each(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    char(*const name)[8] = names[pc % NAMES_MAX];

    (void)context;
    asked++;
    snprintf(name[0], sizeof name[0], "n%zu", (size_t)(pc % NAMES_MAX));
    snprintf(name[1], sizeof name[1], "f%zu", (size_t)(pc % NAMES_MAX));
    symbol->function = name[0];
    symbol->file = name[1];
    symbol->line = 7;
    symbol->kind = pc < PROGRAM ? PROF_FRAME_RUNTIME : PROF_FRAME_PROGRAM;
}

/* returns: does the memory suffice? The caller frees *block either way. */
static bool
begin(void **block, size_t bytes, const struct prof_mapping *mappings,
      uint32_t mappings_count, uintptr_t lost)
{
    struct prof_output output = {.symbols = {.find = name_each},
                                 .mappings = mappings,
                                 .mappings_count = mappings_count,
                                 .lost = lost,
                                 .scratch_bytes = bytes};
    struct arena arena;

    *block = props_block(bytes, 0xa5);
    memory = (struct prof_memory){.bytes = file, .bytes_max = sizeof file};
    output.sink = prof_memory_sink(&memory);
    output.scratch = *block;
    arena = prof_arena_of(&output);
    asked = 0;
    if (!prof_builder_init(&builder, &output, &arena, 1))
        return false;
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "things", "count");
    return true;
}

static void
put(const uintptr_t *stack, uint32_t depth, bool hide_runtime)
{
    prof_builder_sample(&builder, &(struct sample){.stack = stack,
                                                   .depth = depth,
                                                   .hide_runtime = hide_runtime,
                                                   .values = {1}});
}

static void
finish_and_read(void)
{
    assert_int_equal(prof_builder_finish(&builder), PROF_OK);
    if (!model_pprof_read(&profile, file, memory.bytes_count))
        fail_msg("%s", profile.reason);
}

/* ---- sizes ---- */

/*
 * Tables of 2^7, 2^8, ... slots hold three quarters as many addresses. A number
 * is written with at most four bytes of seven bits, so 2^28 slots are the
 * maximum.
 */
TEST(room_for_addresses_doubles_up_to_2_28_slots)
{
    static const size_t whole = (size_t)3 << 26;

    assert_int_equal(prof_builder_bytes(0), prof_builder_bytes(96));
    assert_true(prof_builder_bytes(97) > prof_builder_bytes(96));
    assert_int_equal(prof_builder_bytes(97), prof_builder_bytes(192));
    assert_true(prof_builder_bytes(193) > prof_builder_bytes(192));
    assert_true(prof_builder_bytes(whole / 2 + 1) >
                prof_builder_bytes(whole / 2));
    assert_int_equal(prof_builder_bytes(whole / 2 + 1),
                     prof_builder_bytes(whole));
    assert_int_equal(prof_builder_bytes(whole), prof_builder_bytes(SIZE_MAX));
}

/*
 * The size that the library asks for has room for exactly `count` addresses,
 * each with two texts of its own, and for 4096 mappings.
 */
TEST(what_is_asked_for_is_what_is_needed)
{
    static const uint32_t counts[] = {96, 192, 384};
    static struct prof_mapping mappings[MAPPINGS + 1];

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t count = counts[i];
        const size_t bytes = prof_builder_bytes(count);
        void *block;

        assert_true(begin(&block, bytes, mappings, MAPPINGS, 0));
        assert_int_equal(builder.locations_max, count);
        /* Put each address twice: it must keep its number while the tables
         * grow. */
        for (uintptr_t pc = PROGRAM; pc < PROGRAM + 2 * count; pc++)
            put(&(uintptr_t){PROGRAM + pc % count}, 1, false);
        assert_int_equal(asked, count);
        finish_and_read();
        /* Two texts for each address, "", and two for the sample type. */
        assert_int_equal(profile.strings_count, 2 * count + 3);
        assert_int_equal(profile.locations_count, count);
        assert_int_equal(profile.functions_count, count);
        for (uint32_t j = 0; j < count; j++) {
            assert_int_equal(profile.locations[j].id, j + 1);
            assert_int_equal(profile.functions[j].id, j + 1);
            assert_int_equal(profile.samples[j].locations[0], j + 1);
            assert_int_equal(profile.samples[count + j].locations[0], j + 1);
        }
        model_pprof_release(&profile);
        put(&(uintptr_t){PROGRAM + count}, 1, false);
        assert_int_equal(prof_builder_finish(&builder), PROF_ERR_MEMORY);
        free(block);
        /* With one more mapping the table gets half as large, or there is
         * none. */
        if (begin(&block, bytes, mappings, MAPPINGS + 1, 0))
            assert_int_equal(builder.locations_max, count / 2);
        else
            assert_int_equal(count, 96);
        free(block);
    }
}

/* Mappings need room in the scratch: too little is refused, whatever its
 * size. */
TEST(many_mappings_need_room_of_their_own)
{
    static struct prof_mapping mappings[MAPPINGS];
    const size_t least = prof_builder_bytes(1);
    void *block;

    for (size_t bytes = least - 2 * MAPPINGS; bytes < least; bytes += 8) {
        assert_false(begin(&block, bytes, mappings, MAPPINGS, 0));
        free(block);
    }
    assert_true(begin(&block, least - MAPPINGS, mappings, 0, 0));
    free(block);
}

/* ---- collisions ---- */

/* The slot where the search for an address begins, in a table of 128 slots. */
static size_t
home_of(uintptr_t pc)
{
    return ((uint64_t)pc * 0x9e3779b97f4a7c15U) >> 57;
}

static uintptr_t
next_at(size_t home, uintptr_t pc)
{
    while (home_of(pc) != home)
        pc++;
    return pc;
}

/* After the last slot the search goes on at the first one, not behind the
 * table. */
TEST(addresses_that_meet_in_the_last_slot_keep_apart)
{
    enum { COUNT = 5 };
    uintptr_t stack[2 * COUNT];
    void *block;

    stack[0] = next_at(127, PROGRAM);
    for (size_t i = 1; i < COUNT; i++)
        stack[i] = next_at(127, stack[i - 1] + 1);
    memcpy(&stack[COUNT], stack, COUNT * sizeof *stack);
    assert_true(begin(&block, prof_builder_bytes(96), NULL, 0, 0));
    put(stack, 2 * COUNT, false);
    for (size_t i = 0; i < COUNT - 1; i++)
        assert_int_equal(builder.table[i].kind, PROF_FRAME_PROGRAM + 1);
    finish_and_read();
    assert_int_equal(asked, COUNT);
    assert_int_equal(profile.locations_count, COUNT);
    assert_int_equal(profile.samples[0].locations_count, 2 * COUNT);
    for (size_t i = 0; i < 2 * COUNT; i++)
        assert_int_equal(profile.samples[0].locations[i], i % COUNT + 1);
    model_pprof_release(&profile);
    free(block);
}

/* A frame of the runtime is hidden at the leaf of every stack, even if another
 * address has the same home slot in the table. */
TEST(the_runtime_at_the_leaf_is_hidden_each_time)
{
    const uintptr_t hidden = RUNTIME;
    const uintptr_t program = next_at(home_of(hidden), PROGRAM);
    const uintptr_t stack[] = {hidden, program};
    const uintptr_t inner[] = {program, hidden, program};
    void *block;

    assert_true(begin(&block, prof_builder_bytes(96), NULL, 0, 0));
    put(&program, 1, true); /* in the home slot of both */
    put(stack, 2, true);
    put(stack, 2, true);
    put(inner, 3, true); /* not at the leaf */
    put(&hidden, 1, true);
    put(stack, 2, false);
    finish_and_read();
    assert_int_equal(profile.samples[1].locations_count, 1);
    assert_int_equal(profile.samples[2].locations_count, 1);
    assert_int_equal(profile.samples[1].locations[0], 1);
    assert_int_equal(profile.samples[2].locations[0], 1);
    assert_int_equal(profile.samples[3].locations_count, 3);
    assert_int_equal(profile.samples[4].locations_count,
                     1); /* this frame alone */
    assert_int_equal(profile.samples[5].locations_count, 2);
    assert_int_equal(profile.locations_count, 2);
    model_pprof_release(&profile);
    free(block);
}

/* ---- ends ---- */

TEST(a_stack_is_cut_and_an_empty_one_is_lost)
{
    enum { LOST = PROGRAM + 11 };
    static uintptr_t deep[PROF_DEPTH_LIMIT + 5];
    static unsigned char ids[STACK_BYTES_MAX];
    struct sample sample = {.stack = deep, .depth = PROF_DEPTH_LIMIT + 5};
    unsigned char *end = ids;
    void *block;

    for (size_t i = 0; i < PROF_DEPTH_LIMIT + 5; i++)
        deep[i] = PROGRAM + i % 7;
    assert_true(begin(&block, prof_builder_bytes(96), NULL, 0, LOST));
    assert_int_equal(prof_builder_stack(&builder, &sample, &end),
                     PROF_DEPTH_LIMIT);
    assert_ptr_equal(end, ids + PROF_DEPTH_LIMIT); /* of one byte each */
    sample.depth = 0;
    end = ids;
    assert_int_equal(prof_builder_stack(&builder, &sample, &end), 1);
    assert_ptr_equal(end, ids + 1);
    assert_int_equal(ids[0], 8); /* the eighth location */
    /* Without room for the lost address the stack stays empty. */
    free(block);
    assert_true(begin(&block, prof_builder_bytes(96), NULL, 0, LOST));
    for (uintptr_t pc = PROGRAM + 100; pc < PROGRAM + 196; pc++)
        put(&pc, 1, false);
    end = ids;
    assert_int_equal(prof_builder_stack(&builder, &sample, &end), 0);
    assert_ptr_equal(end, ids);
    assert_int_equal(prof_builder_finish(&builder), PROF_ERR_MEMORY);
    free(block);
}

/*
 * A table of 128 slots has room for 2 * 128 + 64 texts, "" among them. Each
 * keeps its number while their index doubles, and the next text is refused.
 */
TEST(texts_have_numbers_until_there_is_no_room)
{
    enum { ROOM = 2 * 128 + 64 };
    static char texts[ROOM + 1][8];
    const uint32_t own = 3; /* "" and the two of the sample type */
    void *block;

    assert_true(begin(&block, prof_builder_bytes(96), NULL, 0, 0));
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = own; i < ROOM; i++) {
            snprintf(texts[i], sizeof texts[i], "t%u", i);
            assert_int_equal(prof_builder_string(&builder, texts[i]), i);
        }
        assert_int_equal(prof_builder_string(&builder, ""), 0);
        assert_int_equal(builder.out.status, PROF_OK);
    }
    assert_int_equal(prof_builder_string(&builder, "more"), 0);
    assert_int_equal(prof_builder_finish(&builder), PROF_ERR_MEMORY);
    free(block);
}

/* An address belongs to the mapping that contains it, or to none. */
TEST(an_address_outside_all_mappings_has_none)
{
    static const struct prof_mapping mappings[] = {
        {.start = PROGRAM, .limit = PROGRAM + 2, .file = "first"},
        {.start = PROGRAM + 2, .limit = PROGRAM + 4, .file = "second"},
        {.start = PROGRAM, .limit = PROGRAM + 9, .file = "not given"}};
    static const uintptr_t stack[] = {PROGRAM, PROGRAM + 1, PROGRAM + 2,
                                      PROGRAM + 3, PROGRAM + 4};
    static const uint64_t want[] = {1, 1, 2, 2, 0};
    void *block;

    assert_true(begin(&block, prof_builder_bytes(96), mappings, 2, 0));
    put(stack, 5, false);
    finish_and_read();
    assert_int_equal(profile.mappings_count, 2);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(profile.locations[i].mapping, want[i]);
    model_pprof_release(&profile);
    free(block);
}

/* ---- the order ---- */

static uint64_t
read_varint(const unsigned char **at)
{
    uint64_t value = 0;
    uint32_t shift = 0;

    do
        value |= (uint64_t)(**at & 0x7f) << shift;
    while ((shift += 7, *(*at)++ & 0x80) != 0);
    return value;
}

/* Count the fields of a message. Their numbers must grow, as serializers write
 * them. returns: the count */
static size_t
count_growing(const unsigned char *at, const unsigned char *end)
{
    uint64_t before = 0;
    size_t fields = 0;

    while (at < end) {
        const uint64_t tag = read_varint(&at);
        const uint64_t value = read_varint(&at);

        assert_true(tag >> 3 > before);
        before = tag >> 3;
        fields++;
        if ((tag & 7) == 2) {
            fields += count_growing(at, at + value);
            at += value;
        }
    }
    assert_ptr_equal(at, end);
    return fields;
}

/* Messages with all fields of a sample type, a mapping and a function. */
TEST(fields_of_a_message_are_written_by_their_numbers)
{
    static const struct prof_mapping mapping = {.start = PROGRAM,
                                                .limit = PROGRAM + 9,
                                                .offset = 3,
                                                .file = "file",
                                                .build_id = "id"};
    const size_t want[] = {[PROFILE_SAMPLE_TYPE] = 2,
                           [PROFILE_MAPPING] = 7,
                           [PROFILE_FUNCTION] = 4};
    const unsigned char *at = file;
    const uintptr_t pc = PROGRAM + 1;
    size_t seen = 0;
    void *block;

    assert_true(begin(&block, prof_builder_bytes(96), &mapping, 1, 0));
    put(&pc, 1, false);
    assert_int_equal(prof_builder_finish(&builder), PROF_OK);
    while (at < file + memory.bytes_count) {
        const uint64_t field = read_varint(&at) >> 3;
        const uint64_t bytes = read_varint(&at);

        if (field == PROFILE_SAMPLE_TYPE || field == PROFILE_MAPPING ||
            field == PROFILE_FUNCTION) {
            assert_int_equal(count_growing(at, at + bytes), want[field]);
            seen++;
        }
        at += bytes;
    }
    assert_int_equal(seen, 3);
    free(block);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
