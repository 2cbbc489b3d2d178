/*
 * test_pprof_limits.c -- the profile writers at their limits: too little
 * scratch, more texts and addresses than there is room for, numbers of three
 * bytes, deep stacks, addresses without a name, invalid texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "pprof_case.h"
#include "pprof_writers.h"
#include "prof/cpu.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

static const uintptr_t one_frame[] = {CASE_WORK};

/* ---- scratch ---- */

static bool
is_filled(const unsigned char *from, const unsigned char *limit)
{
    while (from < limit && *from == 0xa5)
        from++;
    return from == limit;
}

/*
 * Every size of scratch from 0, in steps of the smallest allocation: too little
 * is refused, nothing behind the scratch is touched, and enough gives the same
 * output as the largest size.
 */
TEST(scratch_that_is_too_small_is_refused_at_any_size)
{
    static unsigned char want[1 << 14];

    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        const struct pprof_writer *one = &pprof_writers[writer];
        enum prof_status status = PROF_ERR_MEMORY;
        size_t length;
        size_t bytes = 0;

        case_begin(&run);
        assert_int_equal(one->write(&run.output), PROF_OK);
        length = run.memory.bytes_count;
        assert_true(length <= sizeof want);
        memcpy(want, run.bytes, length);
        case_begin(&run);
        for (; status != PROF_OK && bytes < CASE_SCRATCH_BYTES; bytes += 8) {
            run.output.scratch_bytes = bytes;
            run.memory.bytes_count = 0;
            status = one->write(&run.output);
            if (status != PROF_OK &&
                (status != PROF_ERR_MEMORY || run.memory.bytes_count != 0))
                fail_msg("%s, %zu bytes: %s, %zu written", one->what, bytes,
                         prof_status_text(status), run.memory.bytes_count);
        }
        assert_int_equal(status, PROF_OK);
        assert_true(is_filled(run.scratch + bytes - 8,
                              run.scratch + CASE_SCRATCH_BYTES));
        /* A dump prints into its scratch and is cut where that ends. */
        if (strcmp(one->what, "dump") != 0) {
            assert_int_equal(run.memory.bytes_count, length);
            assert_memory_equal(run.bytes, want, length);
        }
    }
}

TEST(more_records_than_can_be_numbered_are_refused)
{
    const struct prof_heap_record record = {.stack = one_frame, .depth = 1};

    case_begin(&run);
    assert_int_equal(prof_text_heap(&run.output, &record, UINT32_MAX, 1, NULL),
                     PROF_ERR_MEMORY);
    assert_int_equal(run.memory.bytes_count, 0);
}

TEST(records_beyond_16_bits_are_all_counted)
{
    enum { RECORDS = (1 << 16) + 3, BYTES = 1 << 22 };
    struct prof_count_record *const records = calloc(RECORDS, sizeof *records);
    void *const scratch = props_block(BYTES, 0);

    assert_non_null(records);
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = (struct prof_count_record){.stack = one_frame, .depth = 1};
    for (int is_text = 0; is_text < 2; is_text++) {
        case_begin(&run);
        run.output.scratch = scratch;
        run.output.scratch_bytes = BYTES;
        if (is_text) {
            assert_non_null(
                strstr(case_text(&run, prof_text_counts(&run.output, "c",
                                                        records, RECORDS)),
                       "total 65539\n65539 @ "));
            continue;
        }
        case_read(&run, prof_pprof_counts(&run.output, "c", records, RECORDS));
        assert_int_equal(run.profile.samples[0].values[0], RECORDS);
        case_end(&run);
    }
    free(scratch);
    free(records);
}

/* ---- many texts and addresses ---- */

enum { MANY = 20000, FILE_BYTES = 8 << 20 };

static char names[MANY][8];

/* Give every address a function of its own; `context` counts the calls. */
static void
name_each(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const size_t number = (pc - CASE_UNKNOWN) % MANY;

    ++*(size_t *)context;
    snprintf(names[number], sizeof names[number], "f%zu", number);
    symbol->function = names[number];
    symbol->entry = pc;
}

static enum prof_status
write_many(size_t count, size_t scratch_bytes, void *scratch, size_t *asked)
{
    static struct prof_heap_record records[MANY];
    static uintptr_t stacks[MANY];

    for (size_t i = 0; i < count; i++) {
        stacks[i] = CASE_UNKNOWN + i;
        records[i] = (struct prof_heap_record){
            .allocs = 1, .size_bytes = 8, .stack = &stacks[i], .depth = 1};
    }
    *asked = 0;
    run.output.symbols =
        (struct prof_symbols){.find = name_each, .context = asked};
    run.output.scratch = scratch;
    run.output.scratch_bytes = scratch_bytes;
    return prof_pprof_heap(&run.output, records, count, 0, PROF_VIEW_INUSE);
}

/*
 * 20,000 locations: numbers beyond 2^14 take three bytes, functions collide in
 * the table, and each sample still names its own function.
 */
TEST(many_addresses_keep_their_names)
{
    const size_t bytes = prof_pprof_scratch_bytes(MANY, MANY);
    void *scratch = props_block(bytes, 0);
    struct prof_memory memory = {.bytes = malloc(FILE_BYTES),
                                 .bytes_max = FILE_BYTES};
    size_t asked;

    assert_non_null(memory.bytes);
    case_begin(&run);
    run.output.sink = prof_memory_sink(&memory);
    assert_int_equal(write_many(MANY, bytes, scratch, &asked), PROF_OK);
    if (!model_pprof_read(&run.profile, memory.bytes, memory.bytes_count))
        fail_msg("%s", run.profile.reason);
    assert_true(asked >= MANY);
    assert_int_equal(run.profile.samples_count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        char want[8];

        snprintf(want, sizeof want, "f%zu", i);
        assert_int_equal(run.profile.samples[i].locations_count, 1);
        assert_string_equal(
            case_function(&run, run.profile.samples[i].locations[0]), want);
    }
    case_end(&run);
    free(memory.bytes);
    free(scratch);
}

/* If the scratch has too little room for all addresses, the profile fails with
 * PROF_ERR_MEMORY. */
TEST(more_addresses_than_scratch_holds_are_refused)
{
    size_t asked;

    case_begin(&run);
    assert_int_equal(write_many(MANY, CASE_SCRATCH_BYTES, run.scratch, &asked),
                     PROF_ERR_MEMORY);
    assert_true(asked < MANY);
}

/* ---- stacks ---- */

TEST(a_text_cuts_a_stack_that_is_too_deep)
{
    static uintptr_t deep[PROF_DEPTH_LIMIT + 5];
    const struct prof_heap_record record = {.allocs = 1,
                                            .size_bytes = 8,
                                            .stack = deep,
                                            .depth = PROF_DEPTH_LIMIT + 5};
    const char *text;
    size_t lines = 0;

    for (size_t i = 0; i < PROF_DEPTH_LIMIT + 5; i++)
        deep[i] = CASE_UNKNOWN + i;
    case_begin(&run);
    text = case_text(&run, prof_text_heap(&run.output, &record, 1, 1, NULL));
    for (const char *at = text; (at = strstr(at, "#\t0x")) != NULL; at++)
        lines++;
    assert_int_equal(lines, PROF_DEPTH_LIMIT);
}

/* Give some addresses no name, or one name for all, or a name whose entry lies
 * behind the address. */
static void
name_oddly(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    if (pc == 0)
        symbol->function = "main.zero";
    if (pc == CASE_WORK) {
        symbol->function = "main.\x7fwork\tat\n";
        symbol->entry = CASE_WORK;
    }
    if (pc == CASE_SERVE) {
        symbol->function = "main.serve";
        symbol->entry = CASE_SERVE + 0x100;
    }
}

/*
 * The address 0 and the entry of a function are looked up as they are, not one
 * byte before; if the entry lies behind the address, no offset is shown; a
 * character that would end a cell is shown as a question mark.
 */
TEST(odd_addresses_and_names_are_shown_as_they_are)
{
    static const uintptr_t odd[] = {0, CASE_WORK, CASE_SERVE};
    const struct prof_contention_record record = {
        .count = 1, .cycles = 1, .stack = odd, .depth = 3};
    const char *text;

    case_begin(&run);
    run.output.symbols = (struct prof_symbols){.find = name_oddly};
    text = case_text(
        &run, prof_text_contention(&run.output, PROF_BLOCK, &record, 1, 1, 1));
    assert_non_null(strstr(text, "#\t0x0\tmain.zero+0x0"));
    assert_non_null(strstr(text, "#\t0x2040\tmain.?work?at?+0x0"));
    assert_non_null(strstr(text, "#\t0x213f\tmain.serve+0x0"));

    case_begin(&run);
    run.output.symbols = (struct prof_symbols){.find = name_oddly};
    case_read(&run, prof_pprof_contention(&run.output, &record, 1, 1, 1));
    assert_int_equal(run.profile.samples[0].locations_count, 3);
    assert_int_equal(model_pprof_location(&run.profile, 1)->address, 0);
    assert_int_equal(model_pprof_location(&run.profile, 2)->address, CASE_WORK);
    assert_int_equal(model_pprof_location(&run.profile, 3)->address,
                     CASE_SERVE - 1);
    case_end(&run);
}

TEST(without_names_and_without_a_lost_address_texts_show_1)
{
    const struct prof_count_record record = {.stack = one_frame, .depth = 0};
    static const uintptr_t zero[] = {0};
    const struct prof_heap_record unnamed = {
        .allocs = 1, .size_bytes = 8, .stack = zero, .depth = 1};
    const char *text;

    case_begin(&run);
    run.output.symbols.find = NULL;
    run.output.lost = 0;
    text = case_text(&run, prof_text_counts(&run.output, "own", &record, 1));
    assert_non_null(strstr(text, "1 @ 0x1\n#\t0x0\n"));
    case_begin(&run);
    run.output.symbols.find = NULL;
    text = case_text(&run, prof_text_heap(&run.output, &unnamed, 1, 1, NULL));
    assert_non_null(strstr(text, "@ 0x0\n#\t0x0\n"));
}

/* ---- texts ---- */

/* Five characters, first correct, then broken in each way. */
TEST(broken_characters_are_shown_byte_by_byte)
{
    static const struct {
        const char *value;
        const char *want;
    } cases[] = {
        {"\xe2\x82", "\\xe2\\x82"},          /* ends too early */
        {"\xe2(x", "\\xe2(x"},               /* a wrong second byte */
        {"\xe2\x82(", "\\xe2\\x82("},        /* the same, one byte later */
        {"\xc0\x80", "\\xc0\\x80"},          /* longer than necessary */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond the last */
        {"\xff", "\\xff"},
        {"\x80", "\\x80"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct prof_label label = {.key = "k", .value = cases[i].value};
        const struct prof_count_record record = {.stack = one_frame,
                                                 .depth = 1,
                                                 .labels = &label,
                                                 .labels_count = 1};
        char want[64];
        const char *text;

        snprintf(want, sizeof want, "# labels: {\"k\":\"%s\"}\n",
                 cases[i].want);
        case_begin(&run);
        text =
            case_text(&run, prof_text_counts(&run.output, "own", &record, 1));
        if (strstr(text, want) == NULL)
            fail_msg("case %zu: %s", i, text);
    }
}

/* Labels with the same texts at different addresses are one sample; a NULL
 * value is an empty one; a shorter text comes before one that it begins. */
TEST(labels_are_compared_by_their_texts)
{
    static const struct prof_label a[] = {{"k", "v"}};
    static const struct prof_label b[] = {{"k", "v"}};
    static const struct prof_label none[] = {{"k", NULL}};
    static const struct prof_label longer[] = {{"k", "v"}, {"l", "w"}};
    const struct prof_count_record records[] = {
        {one_frame, 1, 2, longer}, {one_frame, 1, 1, none},
        {one_frame, 1, 1, a},      {one_frame, 1, 1, b},
        {one_frame, 1, 1, none},   {one_frame, 1, 1, b},
    };
    const char *text;
    const char *three;
    const char *two;
    const char *last;

    case_begin(&run);
    text = case_text(&run, prof_text_counts(&run.output, "own", records, 6));
    three = strstr(text, "3 @ 0x2040\n# labels: {\"k\":\"v\"}\n");
    two = strstr(text, "2 @ 0x2040\n# labels: {\"k\":\"\"}\n");
    last = strstr(text, "1 @ 0x2040\n# labels: {\"k\":\"v\", \"l\":\"w\"}\n");
    assert_true(three != NULL && two > three && last > two);
}

/* ---- Sinks ---- */

/* A sink that takes `limit` calls, then refuses. */
static enum prof_status
take_calls(void *context, const void *bytes, size_t bytes_count)
{
    (void)bytes;
    (void)bytes_count;
    return --*(long *)context >= 0 ? PROF_OK : PROF_ERR_SINK;
}

/* Count the calls for names: they show that a record is read. */
static void
count_questions(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)symbol;
    (void)pc;
    ++*(size_t *)context;
}

/* After the sink's first refusal no more records are read, so a full disk costs
 * no time. */
TEST(records_after_a_refusal_are_not_looked_at)
{
    static struct prof_contention_record waits[MANY];
    static struct prof_heap_record heap[MANY];
    static struct prof_count_record counts[MANY];
    static uintptr_t stacks[MANY];

    for (size_t i = 0; i < MANY; i++) {
        stacks[i] = CASE_UNKNOWN + 8 * i;
        waits[i] = (struct prof_contention_record){
            .count = 1, .cycles = 1, .stack = &stacks[i], .depth = 1};
        heap[i] = (struct prof_heap_record){
            .allocs = 1, .size_bytes = 8, .stack = &stacks[i], .depth = 1};
        counts[i] = (struct prof_count_record){.stack = &stacks[i], .depth = 1};
    }
    for (int writer = 0; writer < 6; writer++) {
        long calls = 0;
        size_t asked = 0;
        enum prof_status status = PROF_OK;
        const size_t bytes = prof_pprof_scratch_bytes(MANY, MANY);
        void *scratch = props_block(bytes, 0);

        case_begin(&run);
        run.output.scratch = scratch;
        run.output.scratch_bytes = bytes;
        run.output.sink =
            (struct prof_sink){.write = take_calls, .context = &calls};
        run.output.symbols =
            (struct prof_symbols){.find = count_questions, .context = &asked};
        switch (writer) {
        case 0:
            status =
                prof_pprof_heap(&run.output, heap, MANY, 1, PROF_VIEW_INUSE);
            break;
        case 1:
            status = prof_pprof_contention(&run.output, waits, MANY, 1, 1);
            break;
        case 2:
            status = prof_pprof_counts(&run.output, "own", counts, MANY);
            break;
        case 3:
            status = prof_text_heap(&run.output, heap, MANY, 1, NULL);
            break;
        case 4:
            status = prof_text_contention(&run.output, PROF_MUTEX, waits, MANY,
                                          1, 1);
            break;
        default:
            status = prof_text_counts(&run.output, "own", counts, MANY);
            break;
        }
        assert_int_equal(status, PROF_ERR_SINK);
        if (asked == 0 || asked >= MANY)
            fail_msg("writer %d: %zu of %d read", writer, asked, MANY);
        free(scratch);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
