/*
 * test_pprof_counts.c -- count profiles, dumps and debug lines as text, byte
 * for byte (P2).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

/* ---- counts ---- */

static const char *
counts_text(const char *name, const struct prof_count_record *records,
            size_t count)
{
    case_begin(&run);
    return case_text(&run, prof_text_counts(&run.output, name, records, count));
}

TEST(equal_counts_stand_in_the_order_of_their_keys)
{
    const struct prof_count_record records[] = {
        {AT(0x9)},       {AT(0x10)},       {AT(0x9, 0x1)}, {AT(0x100)},
        {AT(0x10, 0x2)}, {AT(0x10, 0x10)}, {AT(0xff)},     {AT(0xff)},
    };

    assert_string_equal(counts_text("c", records, 8),
                        "c profile: total 8\n"
                        "2 @ 0xff\n#\t0xfe\n\n"
                        "1 @ 0x10\n#\t0xf\n\n"
                        "1 @ 0x10 0x10\n#\t0xf\n#\t0xf\n\n"
                        "1 @ 0x10 0x2\n#\t0xf\n#\t0x1\n\n"
                        "1 @ 0x100\n#\t0xff\n\n"
                        "1 @ 0x9\n#\t0x8\n\n"
                        "1 @ 0x9 0x1\n#\t0x8\n#\t0x0\n\n");
}

/* Lines are in the order of the printed keys, which this sorts as texts. */
static int
compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(keys_are_sorted_as_texts_whatever_the_addresses)
{
    enum { RECORDS = 60 };
    static uintptr_t pcs[RECORDS][2];
    static char keys[RECORDS][64];
    static struct prof_count_record records[RECORDS];
    uint64_t seed = 7;

    for (size_t i = 0; i < RECORDS; i++) {
        for (int j = 0; j < 2; j++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            pcs[i][j] = (uintptr_t)(seed >> 32 >> (seed >> 20 & 31)) | 1;
        }
        /* No key comes twice. */
        pcs[i][1] = pcs[i][1] << 8 | i | 0x80;
        records[i] =
            (struct prof_count_record){.stack = pcs[i], .depth = 1 + i % 2};
        if (i % 2 == 0)
            pcs[i][0] = pcs[i][1];
        snprintf(keys[i], sizeof keys[i],
                 records[i].depth == 1 ? "@ 0x%zx" : "@ 0x%zx 0x%zx",
                 (size_t)pcs[i][0], (size_t)pcs[i][1]);
    }
    qsort(keys, RECORDS, sizeof *keys, compare_lines);
    counts_text("c", records, RECORDS);
    for (size_t i = 0, at = 0; i < RECORDS; i++) {
        const char *text = (const char *)run.bytes;
        const char *line = strstr(&text[at], "1 @");

        assert_non_null(line);
        assert_memory_equal(line + 2, keys[i], strlen(keys[i]));
        assert_int_equal(line[2 + strlen(keys[i])], '\n');
        at = (size_t)(line - text) + 3;
    }
}

/* The vectors of Go's TestLabelMapStringer (runtime/pprof), and corner cases of
 * quoting. */
TEST(labels_are_quoted_and_sorted_as_text)
{
    static const struct {
        struct prof_label labels[3];
        uint32_t count;
        const char *want;
    } rows[] = {
        {{{"foo", "bar"}}, 1, "{\"foo\":\"bar\"}"},
        {{{"foo", "bar"}, {"key1", "value1"}, {"key2", "value2"}},
         3,
         "{\"foo\":\"bar\", \"key1\":\"value1\", \"key2\":\"value2\"}"},
        {{{"a", "2"}, {"a!", "1"}}, 2, "{\"a!\":\"1\", \"a\":\"2\"}"},
        {{{"\"\\", "\n\t\r\a\b\f\v"}},
         1,
         "{\"\\\"\\\\\":\"\\n\\t\\r\\a\\b\\f\\v\"}"},
        {{{"\x01\x1f\x7f", ""}}, 1, "{\"\\x01\\x1f\\x7f\":\"\"}"},
        {{{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xff\xc3"}},
         1,
         "{\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\":\"\\xff\\xc3\"}"},
        {{{"\xc2\x85\xc2\xa0", "\xe2\x80\xa8\xf4\x8f\xbf\xbf"}},
         1,
         "{\"\\u0085\\u00a0\":\"\\u2028\\U0010ffff\"}"},
        {{{"\xed\xa0\x80\xc0\x80", "\xf4\x90\x80\x80"}},
         1,
         "{\"\\xed\\xa0\\x80\\xc0\\x80\":\"\\xf4\\x90\\x80\\x80\"}"},
        {{{"\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80"}},
         1,
         "{\"\\xf7\\xbf\\xbf\\xbf\":\"\\xf8\\x88\\x80\\x80\\x80\"}"},
        {{{"\xe2\x82", "\xf0\x9f\x98"}},
         1,
         "{\"\\xe2\\x82\":\"\\xf0\\x9f\\x98\"}"},
        {{{" ~\x7e\x7f", "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd"}},
         1,
         "{\" ~~\\x7f\":\"\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\"}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct prof_count_record record = {AT(CASE_WORK),
                                                 .labels = rows[i].labels,
                                                 .labels_count = rows[i].count};
        char want[512];

        snprintf(want, sizeof want,
                 "c profile: total 1\n1 @ 0x2040\n# labels: %s\n"
                 "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n",
                 rows[i].want);
        assert_string_equal(counts_text("c", &record, 1), want);
    }
}

TEST(labels_follow_the_stack_and_come_after_none)
{
    static const struct prof_label a[] = {{"k", "a"}};
    static const struct prof_label b[] = {{"k", "b"}};
    const struct prof_count_record records[] = {
        {AT(CASE_WORK), .labels = b, .labels_count = 1},
        {AT(CASE_WORK), .labels = a, .labels_count = 1},
        {AT(CASE_WORK)},
    };

    counts_text("g", records, 3);
    case_assert_columns(&run, "g profile: total 3\n"
                              "1 @ 0x2040\n"
                              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n"
                              "1 @ 0x2040\n# labels: {\"k\":\"a\"}\n"
                              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n"
                              "1 @ 0x2040\n# labels: {\"k\":\"b\"}\n"
                              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n");
}

TEST(an_empty_stack_with_labels_is_shown_with_an_address)
{
    static const struct prof_label labels[] = {{"k", "a"}};
    const struct prof_count_record record = {.labels = labels,
                                             .labels_count = 1};
    const char *const text = counts_text("g", &record, 1);

    assert_non_null(strstr(text, "\n1 @ 0x"));
    assert_non_null(strstr(text, "# labels: {\"k\":\"a\"}\n#\t0x"));
}

/* For an empty stack Go prints `5 @`, which its own reader refuses. */
TEST(an_empty_stack_is_shown_with_an_address)
{
    const struct prof_count_record records[] = {{.depth = 0}, {.depth = 0}};

    counts_text("threadcreate", records, 2);
    case_assert_columns(&run, "threadcreate profile: total 2\n"
                              "2 @ 0x4001\n"
                              "#\t0x4000\tmain.lost+0x0\tlost.go:5\n\n");
}

TEST(a_name_is_one_word)
{
    assert_string_equal(counts_text("open files!\n", NULL, 0),
                        "open_files!_ profile: total 0\n");
}

TEST(frames_of_the_runtime_are_hidden_unless_there_is_nothing_else)
{
    const struct prof_count_record records[] = {
        {AT(CASE_MALLOC, CASE_WORK, CASE_NEW, CASE_GOEXIT)},
        {AT(CASE_MALLOC, CASE_GOEXIT)},
        {AT(CASE_MALLOC, CASE_UNKNOWN)},
    };

    counts_text("c", records, 3);
    case_assert_columns(&run,
                        "c profile: total 3\n"
                        "1 @ 0x1040 0x2040 0x1140 0x3040\n"
                        "#\t0x203f\tmain.work+0x3f\twork.go:12\n"
                        "#\t0x113f\truntime.newobject+0x3f\tmalloc.go:200\n\n"
                        "1 @ 0x1040 0x3040\n"
                        "#\t0x103f\truntime.mallocgc+0x3f\tmalloc.go:100\n\n"
                        "1 @ 0x1040 0x9040\n"
                        "#\t0x903f\n\n");
}

/* ---- Dumps, debug lines ---- */

struct dumper {
    size_t bytes;
    size_t calls;
    size_t rooms[16];
};

static size_t
print_dump(void *context, char *buffer, size_t room)
{
    struct dumper *dumper = context;
    const size_t bytes = dumper->bytes < room ? dumper->bytes : room;

    assert_true(dumper->calls < 16);
    dumper->rooms[dumper->calls++] = room;
    memset(buffer, 'x', bytes);
    return bytes;
}

static enum prof_status
count_bytes(void *context, const void *bytes, size_t bytes_count)
{
    (void)bytes;
    *(size_t *)context += bytes_count;
    return PROF_OK;
}

TEST(a_dump_grows_its_buffer_until_it_is_not_full)
{
    static const struct {
        size_t bytes;
        size_t scratch;
        size_t written;
        size_t calls;
    } rows[] = {
        {0, 8 << 20, 0, 1},
        {100, 8 << 20, 100, 1},
        {(1 << 20) - 1, 8 << 20, (1 << 20) - 1, 1},
        {1 << 20, 8 << 20, 1 << 20, 2},
        {(4 << 20) - 1, 8 << 20, (4 << 20) - 1, 3},
        {9 << 20, 8 << 20, 8 << 20, 4},
        {100 << 20, 80 << 20, 64 << 20, 7},
        {3 << 20, (2 << 20) + 5, (2 << 20) + 5, 3},
        {5000, 4096, 4096, 1},
        {1 << 20, (1 << 20) + 1, 1 << 20, 2},
        {100 << 20, (64 << 20) - 1, (64 << 20) - 1, 7},
        {1, 1, 1, 1},
    };
    void *scratch = calloc(1, (size_t)80 << 20);

    assert_non_null(scratch);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dumper dumper = {.bytes = rows[i].bytes};
        const struct prof_dump dump = {.print = print_dump, .context = &dumper};
        size_t written = 0;
        struct prof_output output = {
            .sink = {.write = count_bytes, .context = &written},
            .scratch = scratch,
            .scratch_bytes = rows[i].scratch};

        assert_int_equal(prof_text_dump(&output, &dump), PROF_OK);
        assert_int_equal(written, rows[i].written);
        assert_int_equal(dumper.calls, rows[i].calls);
        for (size_t j = 1; j < dumper.calls; j++)
            assert_true(dumper.rooms[j] <= 2 * dumper.rooms[j - 1]);
    }
    free(scratch);
}

TEST(a_dump_without_scratch_is_refused)
{
    struct dumper dumper = {.bytes = 1};
    const struct prof_dump dump = {.print = print_dump, .context = &dumper};

    case_begin(&run);
    run.output.scratch_bytes = 0;
    assert_int_equal(prof_text_dump(&run.output, &dump), PROF_ERR_MEMORY);
    assert_int_equal(dumper.calls, 0);
}

/* Address 0 is printed with one digit, as 1 is. */
TEST(address_0_stands_before_1)
{
    const struct prof_count_record records[] = {
        {AT(0x1)}, {AT(0x0, 0x1)}, {AT(0x0)}, {AT(0x10)}, {AT(0xf)}};

    assert_string_equal(counts_text("c", records, 5),
                        "c profile: total 5\n"
                        "1 @ 0x0\n#\t0x0\n\n"
                        "1 @ 0x0 0x1\n#\t0x0\n#\t0x0\n\n"
                        "1 @ 0x1\n#\t0x0\n\n"
                        "1 @ 0x10\n#\t0xf\n\n"
                        "1 @ 0xf\n#\t0xe\n\n");
}

TEST(a_count_profile_has_a_time_and_a_period_of_one)
{
    const struct prof_count_record records[] = {{AT(0x9)}, {AT(0x9)}};

    case_begin(&run);
    run.output.time_ns = 77;
    case_read(&run, prof_pprof_counts(&run.output, "threads", records, 2));
    assert_int_equal(run.profile.time_ns, 77);
    assert_int_equal(run.profile.period, 1);
    assert_string_equal(run.profile.period_type.type, "threads");
    assert_string_equal(run.profile.period_type.unit, "count");
    assert_int_equal(run.profile.samples[0].values[0], 2);
    case_end(&run);
}

struct named {
    const char *function;
    enum prof_frame_kind kind;
};

/* Give address i the name names[i]; each function begins at 1. */
static void
find_named(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct named *names = context;

    symbol->function = names[pc].function;
    symbol->kind = names[pc].kind;
    symbol->entry = 1;
    symbol->file = "f";
    symbol->line = 1;
}

static const char *
named_text(struct named *names, const uintptr_t *stack, uint32_t depth)
{
    const struct prof_count_record record = {.stack = stack, .depth = depth};

    case_begin(&run);
    run.output.symbols.find = find_named;
    run.output.symbols.context = names;
    return case_text(&run, prof_text_counts(&run.output, "c", &record, 1));
}

TEST(ends_of_cells_and_lines_in_a_name_are_shown_as_question_marks)
{
    static struct named names[] = {
        {"", PROF_FRAME_PROGRAM},
        {"\x01\x1f b!\x7e\x7f\x80", PROF_FRAME_PROGRAM},
    };

    assert_string_equal(named_text(names, STACK(1), 1),
                        "c profile: total 1\n1 @ 0x1\n"
                        "#\t0x1\t?? b!~?\x80+0x0\tf:1\n\n");
}

/* A root frame is not shown, and makes no column wider. */
TEST(a_root_takes_no_room)
{
    static struct named names[] = {
        {"", PROF_FRAME_PROGRAM},
        {"main.main", PROF_FRAME_PROGRAM},
        {"runtime.a_name_that_is_very_much_longer", PROF_FRAME_ROOT},
    };

    assert_string_equal(named_text(names, STACK(1, 2), 2),
                        "c profile: total 1\n1 @ 0x1 0x2\n"
                        "#\t0x1\tmain.main+0x0\tf:1\n\n");
}

TEST(an_address_is_shown_with_what_it_is_off_its_function)
{
    static struct named names[] = {
        {"zero", PROF_FRAME_PROGRAM}, {"one", PROF_FRAME_PROGRAM},
        {"two", PROF_FRAME_PROGRAM},  {"three", PROF_FRAME_PROGRAM},
        {"four", PROF_FRAME_PROGRAM}, {"five", PROF_FRAME_PROGRAM},
    };

    /* The function's first instruction, an address before it, and return
     * addresses. */
    assert_string_equal(named_text(names, STACK(1, 0, 2, 5), 4),
                        "c profile: total 1\n1 @ 0x1 0x0 0x2 0x5\n"
                        "#\t0x1\tone+0x0\t\tf:1\n"
                        "#\t0x0\tzero+0x0\tf:1\n"
                        "#\t0x1\ttwo+0x0\t\tf:1\n"
                        "#\t0x4\tfive+0x3\tf:1\n\n");
}

/* If all its frames are the runtime's, all are shown. Those beyond the limit
 * are not read. */
TEST(a_stack_is_named_to_its_greatest_depth)
{
    static struct named names[2][2] = {
        {{"", PROF_FRAME_PROGRAM}, {"f", PROF_FRAME_PROGRAM}},
        {{"", PROF_FRAME_PROGRAM}, {"f", PROF_FRAME_RUNTIME}}};
    static uintptr_t deep[2 * PROF_DEPTH_LIMIT];

    for (uint32_t i = 0; i < 2 * PROF_DEPTH_LIMIT; i++)
        deep[i] = 1;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t more = i / 2 < 2 ? i / 2 : PROF_DEPTH_LIMIT;
        const char *line =
            named_text(names[i % 2], deep, PROF_DEPTH_LIMIT + more);
        uint32_t lines = 0;

        while ((line = strstr(line, "#\t0x1\tf+0x0\tf:1\n")) != NULL) {
            line++;
            lines++;
        }
        assert_int_equal(lines, PROF_DEPTH_LIMIT);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
