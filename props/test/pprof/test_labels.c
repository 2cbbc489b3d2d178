/*
 * test_labels.c -- a label set as text (P2): corner cases of UTF-8 and of
 * escaping, truncated texts, and the order of pairs and of sets.
 */
#include <stdio.h>
#include <string.h>

#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

enum { TEXT_MAX = 4096 }; /* bytes of a text that are read */

static struct case_run run;
static const uintptr_t stack[] = {CASE_WORK};

/* returns: the text of the set */
static const char *
shown(const struct prof_label *labels, uint32_t count)
{
    static char line[CASE_BYTES];
    const struct prof_count_record record = {
        .stack = stack, .depth = 1, .labels = labels, .labels_count = count};
    const char *text;
    const char *from;
    size_t bytes;

    case_begin(&run);
    text = case_text(&run, prof_text_counts(&run.output, "c", &record, 1));
    from = strstr(text, "# labels: ");
    assert_non_null(from);
    from += strlen("# labels: ");
    bytes = strcspn(from, "\n");
    memcpy(line, from, bytes);
    line[bytes] = '\0';
    return line;
}

static const char *
shown_key(const char *key)
{
    const struct prof_label label = {key, "v"};

    return shown(&label, 1);
}

/* ---- characters ---- */

/* The first and last character of each kind, and their neighbours. */
TEST(characters_are_shown_as_they_are_or_by_number)
{
    static const struct {
        const char *key;
        const char *want; /* NULL: as it is */
    } rows[] = {
        {"~", NULL},
        {"\x7f", "\\x7f"},
        {"\xc2\x80", "\\u0080"},
        {"\xc2\xa1", NULL},
        {"\xc2\xad", "\\u00ad"},
        {"\xc4\xa2", NULL},          /* U+0122: its lower byte is a quote */
        {"\xc5\x9c", NULL},          /* U+015c: its lower byte is a backslash */
        {"\xed\x9f\xbf", NULL},      /* the last before the surrogates */
        {"\xee\x80\x80", "\\ue000"}, /* the first behind them */
        {"\xef\xbf\xbf", "\\uffff"}, /* four digits suffice */
        {"\xf0\x90\x80\x80", NULL},  /* has five digits, but is shown itself */
        {"\xf3\xa0\x80\x80", "\\U000e0000"},
        {"\xf4\x8f\xbf\xbf", "\\U0010ffff"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[64];

        snprintf(want, sizeof want, "{\"%s\":\"v\"}",
                 rows[i].want != NULL ? rows[i].want : rows[i].key);
        assert_string_equal(shown_key(rows[i].key), want);
    }
}

/* Bytes that begin no character, and others that do, with their followers. */
TEST(bytes_that_begin_nothing_are_shown_each)
{
    static const struct {
        const char *key;
        const char *want;
    } rows[] = {
        {"\x80", "\\x80"},
        {"\xbf\xbf", "\\xbf\\xbf"},
        {"\xc0\x80", "\\xc0\\x80"},
        {"\xc1\xbf", "\\xc1\\xbf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xed\xbf\xbf", "\\xed\\xbf\\xbf"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
        {"\xf8\x90\x80\x80", "\\xf8\\x90\\x80\\x80"},
        {"\xff", "\\xff"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[64];

        snprintf(want, sizeof want, "{\"%s\":\"v\"}", rows[i].want);
        assert_string_equal(shown_key(rows[i].key), want);
    }
}

/* The text is cut in the middle of a character: the bytes left of it are shown
 * one by one. */
TEST(a_long_text_is_cut_at_a_byte)
{
    static char key[TEXT_MAX + 8];
    static char want[TEXT_MAX + 32];

    for (size_t bytes = TEXT_MAX - 1; bytes <= TEXT_MAX + 1; bytes++) {
        memset(key, 'k', bytes - 1);
        strcpy(&key[bytes - 1], "\xc3\xa4");
        snprintf(want, sizeof want, "{\"%.*s%s\":\"v\"}",
                 (int)(bytes <= TEXT_MAX ? bytes - 1 : TEXT_MAX), key,
                 bytes < TEXT_MAX    ? "\xc3\xa4"
                 : bytes == TEXT_MAX ? "\\xc3"
                                     : "");
        assert_string_equal(shown_key(key), want);
    }
}

/* A text is not read behind the cut, where the program's memory may end. */
TEST(a_text_is_not_read_beyond_the_cut)
{
    static const char *const begun[] = {"k", "\xc3", "\xe2\x82",
                                        "\xf0\x9f\x98"};
    static char key[TEXT_MAX];

    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        const size_t bytes = strlen(begun[i]);
        const char *text;

        memset(key, 'k', TEXT_MAX - bytes);
        memcpy(&key[TEXT_MAX - bytes], begun[i], bytes);
        text = shown_key(case_beside_a_wall(key, TEXT_MAX, false));
        assert_int_equal(strspn(text + strlen("{\""), "k"),
                         i == 0 ? TEXT_MAX : TEXT_MAX - bytes);
    }
}

/* ---- order ---- */

/* Three pairs are shown in one order, whichever order they come in; equal pairs
 * as often as they come. */
TEST(pairs_are_sorted_from_any_order)
{
    static const struct prof_label pairs[] = {
        {"a", "1"}, {"b", "2"}, {"c", ""}};

    for (size_t i = 0; i < 27; i++) {
        const size_t at[] = {i % 3, i / 3 % 3, i / 9};
        const struct prof_label set[] = {pairs[at[0]], pairs[at[1]],
                                         pairs[at[2]]};
        size_t times[3] = {0};
        char want[128] = "{";

        for (size_t j = 0; j < 3; j++)
            times[at[j]]++;
        for (size_t j = 0; j < 3; j++) {
            for (; times[j] > 0; times[j]--)
                snprintf(&want[strlen(want)], 32, "%s\"%s\":\"%s\"",
                         want[1] == '\0' ? "" : ", ", pairs[j].key,
                         pairs[j].value);
        }
        strcat(want, "}");
        assert_string_equal(shown(set, 3), want);
    }
}

/* Sets are ordered as texts: the comma of a longer set comes before the closing
 * brace of a shorter one, in both forms of the file. */
TEST(a_set_that_goes_on_stands_before_the_set_that_ends)
{
    static const struct prof_label pairs[] = {
        {"a", "1"}, {"b", "2"}, {"c", ""}};
    struct prof_count_record records[3];

    for (uint32_t i = 0; i < 3; i++)
        records[i] = (struct prof_count_record){
            .stack = stack, .depth = 1, .labels = pairs, .labels_count = 1 + i};
    case_begin(&run);
    assert_int_equal(prof_text_counts(&run.output, "c", records, 3), PROF_OK);
    case_assert_columns(
        &run, "c profile: total 3\n"
              "1 @ 0x2040\n# labels: {\"a\":\"1\", \"b\":\"2\", \"c\":\"\"}\n"
              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n"
              "1 @ 0x2040\n# labels: {\"a\":\"1\", \"b\":\"2\"}\n"
              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n"
              "1 @ 0x2040\n# labels: {\"a\":\"1\"}\n"
              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n");
    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, 3));
    assert_int_equal(run.profile.samples_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run.profile.samples[i].values[0], 1);
        assert_int_equal(run.profile.samples[i].labels_count, 3 - i);
    }
    case_end(&run);
}

/* Labels are equal if their texts are, in whatever order they are given. */
TEST(the_first_of_equal_records_is_the_one_shown)
{
    static const struct prof_label one[] = {{"b", "2"}, {"a", "1"}};
    static const struct prof_label other[] = {{"a", "1"}, {"b", "2"}};
    const struct prof_count_record records[] = {
        {.stack = stack, .depth = 1, .labels = one, .labels_count = 2},
        {.stack = stack, .depth = 1, .labels = other, .labels_count = 2},
        {.stack = stack, .depth = 1, .labels = other, .labels_count = 2},
    };

    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, 3));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 3);
    assert_string_equal(run.profile.samples[0].labels[0].key, "b");
    case_end(&run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
