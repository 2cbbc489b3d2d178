/*
 * test_builder_ends.c -- the builder where a walk, a table or the buffer ends:
 * it must neither read nor write beyond the end. White box: reads the builder's
 * tables.
 */
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "unit_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "builder.h"
#include "pprof_case.h"

enum { MAPPINGS = 64, PROGRAM = 0x10000 };

static struct case_run run;
static struct builder builder;

/* Give every address a function with numbers of the greatest length. */
static void
name_each(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static char names[1 << 16][8];
    char *const name = names[pc % (1 << 16)];

    (void)context;
    snprintf(name, 8, "n%zx", (size_t)(pc % (1 << 16)));
    symbol->function = name;
    symbol->file = name;
    symbol->line = UINT64_MAX;
}

/* No location of a root is written. */
static void
name_roots(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    name_each(context, pc, symbol);
    symbol->kind = PROF_FRAME_ROOT;
}

static void
begin(const struct prof_mapping *mappings, uint32_t mappings_count)
{
    struct arena arena;

    case_begin(&run);
    run.output.symbols.find = name_each;
    run.output.mappings = mappings;
    run.output.mappings_count = mappings_count;
    arena = prof_arena_of(&run.output);
    assert_true(prof_builder_init(&builder, &run.output, &arena, 1));
}

static uint32_t
number(const uintptr_t *stack, uint32_t depth)
{
    static unsigned char ids[STACK_BYTES_MAX];
    unsigned char *end = ids;

    return prof_builder_stack(
        &builder, &(struct sample){.stack = stack, .depth = depth}, &end);
}

/* ---- Addresses ---- */

static uintptr_t
next_at(size_t home, uintptr_t pc, uint32_t log2)
{
    while ((uint64_t)pc * 0x9e3779b97f4a7c15U >> (64 - log2) != home)
        pc++;
    return pc;
}

static size_t
slots_taken(void)
{
    size_t taken = 0;

    for (size_t i = 0; i < (size_t)1 << builder.locations_log2; i++)
        taken += builder.table[i].kind != 0;
    return taken;
}

/* A search that begins in the last slot but one continues with the last, the
 * first, and so on. */
TEST(a_walk_comes_by_each_slot_in_turn)
{
    static const size_t want[] = {126, 127, 0, 1};
    uintptr_t pc = PROGRAM;

    begin(NULL, 0);
    /* Memory behind the table looks like empty slots. */
    memset(&builder.table[128], 0, 4 * sizeof *builder.table);
    for (size_t i = 0; i < 4; i++) {
        pc = next_at(126, pc + 1, 7);
        assert_int_equal(number(&pc, 1), 1);
        assert_int_equal(builder.table[want[i]].pc, pc);
        assert_int_equal(slots_taken(), i + 1);
    }
}

TEST(a_table_that_doubles_takes_each_address_once)
{
    uintptr_t pc = next_at(0, PROGRAM, 8); /* the new table's first slot */

    begin(NULL, 0);
    assert_int_equal(number(&pc, 1), 1);
    for (pc = 2 * PROGRAM; builder.locations_log2 < 9; pc++)
        assert_int_equal(number(&pc, 1), 1);
    assert_int_equal(slots_taken(), builder.locations_count);
}

/* ---- Texts ---- */

static size_t
texts_indexed(void)
{
    size_t taken = 0;

    for (size_t i = 0; i < (size_t)1 << builder.string_index.slots_log2; i++)
        taken += builder.string_index.slots[i] != 0;
    return taken;
}

TEST(an_index_that_doubles_holds_each_text_once)
{
    static char texts[400][8];

    begin(NULL, 0);
    for (size_t i = 0; i < 400; i++) {
        snprintf(texts[i], sizeof texts[i], "t%zu", i);
        (void)prof_builder_string(&builder, texts[i]);
        assert_int_equal(texts_indexed(), builder.strings_count);
    }
}

TEST(texts_of_one_hash_keep_apart)
{
    static const char *const pairs[][2] = {
        {"154525", "254171"},
        {"14176", "130478"},
        {"main.functionNumber227331", "main.functionNumber231448"}};

    begin(NULL, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint32_t numbers[2];

        assert_int_equal(
            (uint32_t)XXH3_64bits(pairs[i][0], strlen(pairs[i][0])),
            (uint32_t)XXH3_64bits(pairs[i][1], strlen(pairs[i][1])));
        for (size_t j = 0; j < 2; j++)
            numbers[j] = prof_builder_string(&builder, pairs[i][j]);
        assert_int_not_equal(numbers[0], numbers[1]);
        for (size_t j = 0; j < 2; j++)
            assert_int_equal(prof_builder_string(&builder, pairs[i][j]),
                             numbers[j]);
    }
}

/* An index uses memory only when it needs it. */
TEST(an_index_is_at_most_three_quarters_full)
{
    static char texts[400][8];

    begin(NULL, 0);
    for (uint32_t i = builder.strings_count; i <= 384; i++) {
        const uint32_t slots = i <= 96 ? 128 : i <= 192 ? 256 : 512;

        assert_int_equal(1U << builder.string_index.slots_log2,
                         i == 0 ? 128 : slots);
        assert_int_equal(builder.string_index.slots[slots], 0xa5a5a5a5);
        snprintf(texts[i], sizeof texts[i], "t%u", i);
        assert_int_equal(prof_builder_string(&builder, texts[i]), i);
    }
}

/* Texts with the same home slot are in that slot and those after it. */
TEST(a_walk_of_an_index_comes_by_each_slot_in_turn)
{
    static char texts[4][16];
    const uint32_t *slots;
    uint32_t number = 0;

    begin(NULL, 0);
    slots = builder.string_index.slots;
    for (uint32_t i = 0; i < 4; number++) {
        snprintf(texts[i], sizeof texts[i], "w%u", number);
        if ((uint32_t)XXH3_64bits(texts[i], strlen(texts[i])) >> 25 != 126)
            continue;
        assert_int_equal(slots[(126 + i) % 128], 0);
        assert_int_equal(prof_builder_string(&builder, texts[i]), i + 1);
        assert_int_equal(slots[(126 + i) % 128], i + 2);
        i++;
    }
}

/* An address without room has no number, and the profile has failed. */
TEST(an_address_without_room_has_no_number)
{
    static const uintptr_t stack[] = {PROGRAM, PROGRAM + 1};

    begin(NULL, 0);
    assert_int_equal(number(stack, 1), 1);
    builder.locations_max = builder.locations_count;
    assert_int_equal(number(stack, 2), 0);
    assert_int_equal(builder.out.status, PROF_ERR_MEMORY);
}

/* Nor has one whose location is not written; it needs room all the same. */
TEST(addresses_that_are_hidden_need_room)
{
    static uintptr_t stack[PROF_DEPTH_LIMIT];
    uintptr_t pc = PROGRAM;

    begin(NULL, 0);
    builder.symbols.find = name_roots;
    while (builder.locations_count < builder.locations_max) {
        const uint32_t left = builder.locations_max - builder.locations_count;
        unsigned char ids[STACK_BYTES_MAX];
        unsigned char *end = ids;
        uint32_t depth =
            left < PROF_DEPTH_LIMIT - 1 ? left : PROF_DEPTH_LIMIT - 1;

        for (uint32_t i = 0; i < depth; i++)
            stack[i] = pc++;
        (void)prof_builder_stack(
            &builder, &(struct sample){.stack = stack, .depth = depth}, &end);
        assert_int_equal(builder.out.status, PROF_OK);
        assert_int_equal(builder.locations, 0);
    }
    assert_int_equal(number(&pc, 1), 0);
    assert_int_equal(builder.out.status, PROF_ERR_MEMORY);
}

/* A text without room has no number, either, and no search finds it. */
TEST(a_text_without_room_has_no_number)
{
    begin(NULL, 0);
    assert_int_equal(prof_builder_string(&builder, "kept"), 1);
    builder.strings_max = builder.strings_count;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(prof_builder_string(&builder, "left out"), 0);
        assert_int_equal(builder.out.status, PROF_ERR_MEMORY);
        assert_int_equal(builder.strings_count, 2);
        assert_int_equal(texts_indexed(), 2);
    }
    assert_int_equal(prof_builder_string(&builder, "kept"), 1);
}

/* ---- the buffer ---- */

/* Behind the buffer lie the marks of mappings. No mapping contains the address,
 * so the marks must not change. */
TEST(messages_at_the_end_of_the_buffer_stay_in_it)
{
    static const struct prof_mapping mappings[MAPPINGS];
    static const unsigned char marks[MAPPINGS];
    const uintptr_t pc = UINTPTR_MAX - 5;

    for (size_t left = 0; left <= 256; left++) {
        begin(mappings, MAPPINGS);
        assert_ptr_equal(builder.mapping_marks,
                         builder.out.bytes + builder.out.room);
        builder.locations = builder.functions_count = (1U << 28) - 2;
        builder.out.used = builder.out.room - left;
        assert_int_equal(number(&pc, 1), 1);
        assert_true(builder.out.used <= builder.out.room);
        assert_memory_equal(builder.mapping_marks, marks, MAPPINGS);
    }
}

/* ---- What is fetched ---- */

TEST(a_stack_is_not_fetched_beyond_its_end)
{
    static const uintptr_t stack[32] = {PROGRAM};

    begin(NULL, 0);
    for (uint32_t depth = 0; depth <= 32; depth++)
        prof_builder_fetch(
            &builder, case_beside_a_wall(stack, depth * sizeof *stack, false),
            depth);
}

/* There are more records than are fetched in advance, with shallow, deep and
 * empty stacks. */
TEST(records_are_not_fetched_beyond_their_ends)
{
    enum { RECORDS = 40 };
    static uintptr_t stack[48];
    struct prof_heap_record records[RECORDS];

    for (size_t i = 0; i < 48; i++)
        stack[i] = PROGRAM + i;
    for (uint32_t i = 0; i < RECORDS; i++)
        records[i] = (struct prof_heap_record){
            .allocs = 1, .size_bytes = 8, .stack = stack, .depth = i % 3 * 24};
    for (int behind = 0; behind < 2; behind++) {
        case_begin(&run);
        case_read(&run,
                  prof_pprof_heap(
                      &run.output,
                      case_beside_a_wall(records, sizeof records, behind != 0),
                      RECORDS, 1, PROF_VIEW_INUSE));
        assert_int_equal(run.profile.samples_count, RECORDS);
        case_end(&run);
    }
}

/* Must not be called: if it is, it gets wrong addresses. */
static bool
comes_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

TEST(an_order_of_more_than_32_bits_count_is_refused)
{
    const uintptr_t nowhere = 1U << 12;
    struct arena arena = {.at = (void *)nowhere,
                          .end = (void *)(nowhere + (UINT64_C(1) << 45))};

    assert_null(prof_arena_order(&arena, UINT32_MAX, comes_before, NULL));
    assert_null(
        prof_arena_order(&arena, (size_t)UINT32_MAX + 1, comes_before, NULL));
    assert_null(prof_arena_order(&arena, SIZE_MAX, comes_before, NULL));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
