/*
 * test_pprof_counts.c -- contention and count profiles as profile.proto (P1),
 * count profiles as text, byte for byte (P2), and labels in both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "prof/text.h"
#include "common/test/unit_test.h"

static struct case_run run;

/* ---- as profile.proto ---- */

TEST(unscaled_records_are_multiplied_by_the_period)
{
    static const struct {
        uint64_t count;
        uint64_t cycles;
        uint64_t period;
        int64_t want[2];
    } rows[] = {
        {2, 7, 1, {2, 2}},
        {2, 7, 10, {20, 23}}, /* 70/3: the product is cut off */
        {UINT64_C(1) << 62, 3, 2, {INT64_MAX, 2}},
        {(uint64_t)-3, (uint64_t)-7, 10, {-30, -23}},
        {1, UINT64_C(1) << 62, 4, {4, INT64_MAX / 3}},
        {1, 0, INT64_MAX, {INT64_MAX, 0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct prof_contention_record record = {
            .count = rows[i].count, .cycles = rows[i].cycles, AT(CASE_WORK)};

        case_begin(&run);
        case_read(&run, prof_pprof_contention(&run.output, &record, 1,
                                              3000000000, rows[i].period));
        case_assert_values(&run, 0, rows[i].want, 2);
        assert_int_equal(run.profile.period, 1); /* it has been applied */
        case_end(&run);
    }
}

TEST(waits_become_nanoseconds_and_the_longest_stand_first)
{
    const struct prof_contention_record records[] = {
        {.count = 2, .cycles = 10, AT(CASE_WORK)},
        {.count = 7, .cycles = 1000, AT(CASE_SERVE)},
        {.count = 1, .cycles = 10, AT(CASE_MAIN)},
    };
    /* At 3 ticks a nanosecond the fraction is cut off. */
    static const int64_t want[3][2] = {{7, 333}, {2, 3}, {1, 3}};

    case_begin(&run);
    run.output.time_ns = 5;
    case_read(&run,
              prof_pprof_contention(&run.output, records, 3, 3000000000, 1));
    assert_int_equal(run.profile.time_ns, 5);
    for (size_t i = 0; i < 3; i++)
        case_assert_values(&run, i, want[i], 2);
    assert_string_equal(case_function(&run, 2), "main.work");
    assert_string_equal(run.profile.types[1].type, "delay");
    assert_string_equal(run.profile.types[1].unit, "nanoseconds");
    assert_string_equal(run.profile.period_type.type, "contentions");
    assert_int_equal(run.profile.period, 1);
    case_end(&run);
}

TEST(ticks_become_nanoseconds_in_whole_numbers)
{
    static const struct {
        const char *why;
        uint64_t ticks;
        uint64_t ticks_per_second;
        int64_t ns;
    } rows[] = {
        {"less than a nanosecond", 2, 3000000000, 0},
        {"a thousand at 2.596 GHz", 2596, 2596000000, 1000},
        {"above 2^53", (UINT64_C(1) << 60) + 1, 1000000000,
         (INT64_C(1) << 60) + 1},
        {"far above what 64 bits hold", INT64_MAX, 1, INT64_MAX},
        {"a sum that has wrapped is negative, as in Go", UINT64_MAX, 1000000000,
         -1},
        {"its fraction is cut off, too", (uint64_t)-8, 3000000000, -2},
        {"the least there is", UINT64_C(1) << 63, 1000000000, INT64_MIN},
        {"far below", UINT64_C(1) << 63, 1, INT64_MIN},
        {"a very fast clock", UINT64_C(1) << 50, UINT64_C(1) << 40,
         1024000000000},
        {"the last whole second, and more than fits of the next",
         UINT64_C(9223372036900000), 1000000, INT64_MAX},
        {"a clock of 2^64 / 10^9: less than a second stays less", 18446744072,
         18446744073, 999999999},
        {"one that is faster", 18446744073, 18446744074, 999999999},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct prof_contention_record record = {
            .count = 1, .cycles = rows[i].ticks, AT(CASE_WORK)};

        case_begin(&run);
        case_read(&run, prof_pprof_contention(&run.output, &record, 1,
                                              rows[i].ticks_per_second, 1));
        if (run.profile.samples[0].values[1] != rows[i].ns)
            fail_msg("%s: %lld", rows[i].why,
                     (long long)run.profile.samples[0].values[1]);
        case_end(&run);
    }
}

/* The vector of Go's TestGoroutineCounts (runtime/pprof): larger counts first,
 * labels kept. */
TEST(equal_stacks_with_equal_labels_are_one_sample)
{
    static const struct prof_label labels[] = {{"label", "value"}};
    static struct prof_count_record records[100];

    for (size_t i = 0; i < 100; i++) {
        const bool one_in_ten = i % 10 == 0;
        const bool one_in_two = i % 2 == 0;

        records[i] = (struct prof_count_record){
            .stack = one_in_ten   ? STACK(CASE_WORK, CASE_MAIN)
                     : one_in_two ? STACK(CASE_SERVE, CASE_MAIN)
                                  : STACK(CASE_COPY, CASE_MAIN),
            .depth = 2,
            .labels = one_in_ten ? labels : NULL,
            .labels_count = one_in_ten};
    }
    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "goroutine", records, 100));
    assert_int_equal(run.profile.samples_count, 3);
    assert_int_equal(run.profile.samples[0].values[0], 50);
    assert_int_equal(run.profile.samples[1].values[0], 40);
    assert_int_equal(run.profile.samples[2].values[0], 10);
    assert_int_equal(run.profile.samples[1].labels_count, 0);
    assert_int_equal(run.profile.samples[2].labels_count, 1);
    assert_string_equal(run.profile.samples[2].labels[0].key, "label");
    assert_string_equal(run.profile.samples[2].labels[0].text, "value");
    assert_string_equal(run.profile.types[0].type, "goroutine");
    assert_string_equal(run.profile.period_type.type, "goroutine");
    case_end(&run);
}

TEST(more_labels_than_a_sample_holds_are_refused)
{
    static struct prof_label many[PROF_LABELS_MAX + 1];
    struct prof_count_record record = {AT(CASE_WORK), .labels = many,
                                       .labels_count = PROF_LABELS_MAX + 1};
    struct prof_count_record second[] = {{AT(CASE_WORK)}, record};

    for (size_t i = 0; i <= PROF_LABELS_MAX; i++)
        many[i] = (struct prof_label){"key", "value"};
    case_begin(&run);
    assert_int_equal(prof_pprof_counts(&run.output, "c", &record, 1),
                     PROF_ERR_CONFIG);
    assert_int_equal(prof_text_counts(&run.output, "c", second, 2),
                     PROF_ERR_CONFIG);
    assert_int_equal(run.memory.bytes_count, 0);
    record.labels_count = PROF_LABELS_MAX;
    case_read(&run, prof_pprof_counts(&run.output, "c", &record, 1));
    assert_int_equal(run.profile.samples[0].labels_count, PROF_LABELS_MAX);
    case_end(&run);
}

/* ---- as text ---- */

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

TEST(a_name_is_one_word)
{
    assert_string_equal(counts_text("open files!\n", NULL, 0),
                        "open_files!_ profile: total 0\n");
}

/* ---- labels ---- */

/* The vectors of Go's TestLabelMapStringer (runtime/pprof), and corner cases of
 * quoting and of UTF-8. */
TEST(labels_are_quoted_and_sorted_as_text)
{
    static const struct {
        struct prof_label labels[3];
        uint32_t count;
        const char *want;
    } rows[] = {
        {{{"foo", "bar"}}, 1, "{\"foo\":\"bar\"}"},
        {{{"key1", "value1"}, {"foo", "bar"}, {"key2", NULL}},
         3,
         "{\"foo\":\"bar\", \"key1\":\"value1\", \"key2\":\"\"}"},
        {{{"a", "2"}, {"a!", "1"}}, 2, "{\"a!\":\"1\", \"a\":\"2\"}"},
        {{{"\"\\", "\n\t\r\a\b\f\v"}},
         1,
         "{\"\\\"\\\\\":\"\\n\\t\\r\\a\\b\\f\\v\"}"},
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

/* returns: the key of the only label, as it is shown */
static const char *
shown(const char *key)
{
    static char line[CASE_BYTES];
    const struct prof_label label = {key, "v"};
    const struct prof_count_record record = {AT(CASE_WORK), .labels = &label,
                                             .labels_count = 1};
    const char *from = strstr(counts_text("c", &record, 1), "# labels: {\"");
    const char *limit;

    assert_non_null(from);
    from += strlen("# labels: {\"");
    limit = strstr(from, "\":\"v\"}\n");
    assert_non_null(limit);
    snprintf(line, sizeof line, "%.*s", (int)(limit - from), from);
    return line;
}

/* The first and last character of each kind, and their neighbours; characters
 * that end too early, or that no UTF-8 has. */
TEST(characters_are_shown_as_they_are_or_by_number)
{
    static const struct {
        const char *key;
        const char *want; /* NULL: as it is */
    } rows[] = {
        {"\x01\x1f ~\x7f", "\\x01\\x1f ~\\x7f"},
        {"\xc2\x80\xc2\xa0", "\\u0080\\u00a0"},
        {"\xc2\xa1", NULL},
        {"\xc2\xad", "\\u00ad"},
        {"\xc4\xa2\xc5\x9c", NULL}, /* lower bytes: a quote, a backslash */
        {"\xdf\xbf\xe0\xa0\x80", NULL},
        {"\xe2\x80\xa8", "\\u2028"},
        {"\xed\x9f\xbf", NULL},      /* the last before the surrogates */
        {"\xee\x80\x80", "\\ue000"}, /* the first behind them */
        {"\xef\xbf\xbf", "\\uffff"}, /* four digits suffice */
        {"\xf0\x90\x80\x80", NULL},  /* has five, but is shown itself */
        {"\xf3\xa0\x80\x80", "\\U000e0000"},
        {"\xf4\x8f\xbf\xbf", "\\U0010ffff"},
        {"\x80", "\\x80"},
        {"\xbf\xbf", "\\xbf\\xbf"},
        {"\xc0\x80\xc1\xbf", "\\xc0\\x80\\xc1\\xbf"},
        {"\xc3", "\\xc3"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xe2(x", "\\xe2(x"},
        {"\xe2\x82(", "\\xe2\\x82("},
        {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
        {"\xed\xa0\x80\xed\xbf\xbf", "\\xed\\xa0\\x80\\xed\\xbf\\xbf"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
        {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
        {"\xff", "\\xff"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(shown(rows[i].key),
                            rows[i].want != NULL ? rows[i].want : rows[i].key);
}

/* A long text is cut at 4096 bytes, perhaps in the middle of a character; it is
 * not read behind the cut: a sanitizer would notice. */
TEST(a_long_text_is_cut_at_a_byte)
{
    enum { TEXT_MAX = 4096 };
    static const char *const begun[] = {"k", "\xc3", "\xe2\x82",
                                        "\xf0\x9f\x98"};
    char *const key = malloc(TEXT_MAX);

    assert_non_null(key);
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        const size_t bytes = strlen(begun[i]);

        memset(key, 'k', TEXT_MAX - bytes);
        memcpy(&key[TEXT_MAX - bytes], begun[i], bytes);
        assert_int_equal(strspn(shown(key), "k"),
                         i == 0 ? TEXT_MAX : TEXT_MAX - bytes);
    }
    free(key);
}

/* Sets are ordered as texts: the comma of a longer set comes before the closing
 * brace of a shorter one, in both forms of the file. Labels are equal if their
 * texts are, in whatever order they are given. */
TEST(a_set_that_goes_on_stands_before_the_set_that_ends)
{
    static const struct prof_label one[] = {{"a", "1"}, {"b", "2"}, {"c", ""}};
    static const struct prof_label other[] = {{"b", "2"}, {"a", "1"}};
    const struct prof_count_record records[] = {
        {AT(CASE_UNKNOWN)},
        {AT(CASE_UNKNOWN), .labels = one, .labels_count = 1},
        {AT(CASE_UNKNOWN), .labels = one, .labels_count = 2},
        {AT(CASE_UNKNOWN), .labels = one, .labels_count = 3},
        {AT(CASE_UNKNOWN), .labels = other, .labels_count = 2},
    };
    static const uint8_t labels[] = {2, 0, 3, 1}; /* of the samples */

    assert_string_equal(
        counts_text("c", records, 5),
        "c profile: total 5\n"
        "2 @ 0x9040\n# labels: {\"a\":\"1\", \"b\":\"2\"}\n#\t0x903f\n\n"
        "1 @ 0x9040\n#\t0x903f\n\n"
        "1 @ 0x9040\n# labels: {\"a\":\"1\", \"b\":\"2\", \"c\":\"\"}\n"
        "#\t0x903f\n\n"
        "1 @ 0x9040\n# labels: {\"a\":\"1\"}\n#\t0x903f\n\n");
    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, 5));
    assert_int_equal(run.profile.samples_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(run.profile.samples[i].labels_count, labels[i]);
    assert_string_equal(run.profile.samples[0].labels[0].key, "a");
    case_end(&run);
}
