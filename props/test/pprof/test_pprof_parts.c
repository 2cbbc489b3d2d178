/*
 * test_pprof_parts.c -- profile.proto as an independent reader sees it:
 * mappings, contention, counts and labels, and the limits of a writer (P1).
 */
#include <stdlib.h>
#include <string.h>

#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

/* ---- mappings ---- */

TEST(without_mappings_one_stands_for_all_code)
{
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, AT(CASE_WORK)};

    case_heap(&run, &record, 1, 1);
    assert_int_equal(run.profile.mappings_count, 1);
    assert_int_equal(run.profile.mappings[0].start, 0);
    assert_int_equal(run.profile.mappings[0].limit, 0);
    assert_true(run.profile.mappings[0].has_functions);
    assert_int_equal(run.profile.locations[0].mapping, 1);
    case_end(&run);
}

TEST(a_mapping_has_functions_if_every_address_in_it_has_a_name)
{
    static const struct prof_mapping mappings[] = {
        {0x1000, 0x2100, 0, "/bin/a", "b1"}, {0x2100, 0x3000, 16, "/lib/b", ""},
        {0x5000, 0x6000, 0, "/lib/c", NULL}, {0x9000, 0xa000, 0, "/lib/d", ""},
        {0x2000, 0xb000, 0, "/lib/e", ""},
    };
    const struct prof_heap_record record = {
        .allocs = 1,
        .size_bytes = 8,
        /* The first mapping ends at 0x2100, where the second begins. */
        AT(CASE_WORK, CASE_SERVE, CASE_UNKNOWN, CASE_UNKNOWN + 0x1000, 0x2100)};
    static const bool want[] = {true, true, false, false, false};
    static const uint64_t mapping_of[] = {1, 2, 4, 5, 2};

    case_begin(&run);
    run.output.mappings = mappings;
    run.output.mappings_count = 5;
    case_read(&run,
              prof_pprof_heap(&run.output, &record, 1, 1, PROF_VIEW_INUSE));
    assert_int_equal(run.profile.mappings_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(run.profile.mappings[i].id, i + 1);
        assert_int_equal(run.profile.mappings[i].start, mappings[i].start);
        assert_int_equal(run.profile.mappings[i].limit, mappings[i].limit);
        assert_int_equal(run.profile.mappings[i].offset, mappings[i].offset);
        assert_string_equal(run.profile.mappings[i].file, mappings[i].file);
        assert_int_equal(run.profile.mappings[i].has_functions, want[i]);
    }
    assert_string_equal(run.profile.mappings[0].build_id, "b1");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(run.profile.locations[i].mapping, mapping_of[i]);
    case_end(&run);
}

/* One address without a name makes the mapping incomplete, whatever comes
 * later. */
TEST(a_name_found_later_does_not_make_up_for_one_that_is_missing)
{
    static const struct prof_mapping mapping = {0x1000, 0xa000, 0, "/a", ""};
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, AT(CASE_UNKNOWN, CASE_WORK)};

    case_begin(&run);
    run.output.mappings = &mapping;
    run.output.mappings_count = 1;
    case_read(&run,
              prof_pprof_heap(&run.output, &record, 1, 1, PROF_VIEW_INUSE));
    assert_false(run.profile.mappings[0].has_functions);
    case_end(&run);
}

/* Lines as in /proc/self/maps, and some that are not valid. */
#define MAPPINGS_TEXT                                                      \
    "400000-0040b000 r-xp 00000000 fc:01 787766    /bin/cat\n"             \
    "0060a000-0060b000 r--p 0000a000 fc:01 787766    /bin/cat\n"           \
    "014ab000-014cc000 rw-p 00000000 00:00 0         [heap]\n"             \
    "7f7d76af8000-7f7d7797c000 r-xp 00001000 fc:01 1318064  "              \
    "/usr/lib/a name with  blanks.so (deleted)\n"                          \
    "7f7d7797c000-7f7d77b36000 r-xp 00000000 00:00 0 \n"                   \
    "7f7d77b36000-7f7d77b37000 r-xp 00000000 00:00 7 \n"                   \
    "7ffc34343000-7ffc34345000 r-xp 00000000 00:00 0  [vdso]\n"            \
    "ffffffffff600000-ffffffffff601000 r-xp 00000090 00:00 0 [vsyscall]\n" \
    "not a line at all\n"                                                  \
    "5-6 r-xp 0 0:0\n"                                                     \
    "5g-6 r-xp 0 0:0 1 /bad\n"                                             \
    "5-6: r-xp 0 0:0 1 /bad\n"                                             \
    "5-6/ r-xp 0 0:0 1 /bad\n"                                             \
    "5-6@ r-xp 0 0:0 1 /bad\n"                                             \
    "5-6` r-xp 0 0:0 1 /bad\n"                                             \
    "5- r-xp 0 0:0 1 /bad\n"                                               \
    "-6 r-xp 0 0:0 1 /bad\n"                                               \
    "56 r-xp 0 0:0 1 /bad\n"                                               \
    "- r-xp 0 0:0 1 /bad\n"                                                \
    "5G-6 r-xp 0 0:0 1 /bad\n"                                             \
    "5-6 r-xp 0\t\n"                                                       \
    "\t \n"                                                                \
    "12345678123456780-6 r-xp 0 0:0 1 /bad\n"                              \
    "5-6 r-xp zero 0:0 1 /bad\n"                                           \
    "5-6 r-x 0 0:0 1 /bad\n"                                               \
    "5-6 r-xp 0\n"                                                         \
    "\n"                                                                   \
    "\tAb-aCF\t r-xp \t 0fF 0:0 10\n"                                      \
    "5-6 r-xp 0 0 0 f\n"                                                   \
    "5-6 r-xp 0 0 1 \t (deleted)\n"                                        \
    "00500000-0050b000 r-xp 00000000 fc:01 787766    /cut\n"

/* The vector of Go's TestProcSelfMaps (runtime/pprof): what is read of each
 * line. */
TEST(executable_mappings_are_read_from_the_kernels_text)
{
    char text[] = MAPPINGS_TEXT;
    static const struct prof_mapping want[] = {
        {0x400000, 0x40b000, 0, "/bin/cat", ""},
        {0x7f7d76af8000, 0x7f7d7797c000, 0x1000,
         "/usr/lib/a name with  blanks.so", ""},
        {0x7f7d77b36000, 0x7f7d77b37000, 0, "", ""},
        {0x7ffc34343000, 0x7ffc34345000, 0, "[vdso]", ""},
        {0xffffffffff600000, 0xffffffffff601000, 0x90, "[vsyscall]", ""},
        {0xab, 0xacf, 0xff, "", ""},
        {5, 6, 0, "f", ""},
        {5, 6, 0, "(deleted)", ""},
    };
    struct prof_mapping got[9] = {[8] = {.offset = 77}};
    const size_t cut_bytes = sizeof text - 2; /* the last line is cut */
    char again[sizeof text];
    size_t count;

    memcpy(again, text, sizeof text);
    assert_int_equal(prof_mappings_parse(got, 8, &count, text, 0), PROF_OK);
    assert_int_equal(count, 0);
    assert_int_equal(prof_mappings_parse(got, 8, &count, text, cut_bytes),
                     PROF_OK);
    assert_int_equal(count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_null(got[i].build_id);
        assert_int_equal(got[i].start, want[i].start);
        assert_int_equal(got[i].limit, want[i].limit);
        assert_int_equal(got[i].offset, want[i].offset);
        assert_string_equal(got[i].file, want[i].file);
    }
    memcpy(text, again, sizeof text);
    assert_int_equal(prof_mappings_parse(got, 8, &count, again, cut_bytes + 1),
                     PROF_ERR_SHORT);
    assert_int_equal(count, 9);
    assert_int_equal(got[8].offset, 77); /* beyond the room */
    assert_int_equal(prof_mappings_parse(got, 9, &count, text, cut_bytes + 1),
                     PROF_OK);
    assert_string_equal(got[8].file, "/cut");
}

/* ---- contention, counts ---- */

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
        {UINT64_C(1) << 63,
         UINT64_C(1) << 63,
         2,
         {INT64_MIN, -(INT64_MAX / 3)}},
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
        {"nothing", 0, 3000000000, 0},
        {"less than a nanosecond", 2, 3000000000, 0},
        {"a whole one", 3, 3000000000, 1},
        {"a clock of one tick a second", 7, 1, 7000000000},
        {"a thousand at 2.596 GHz", 2596, 2596000000, 1000},
        {"above 2^53", (UINT64_C(1) << 60) + 1, 1000000000,
         (INT64_C(1) << 60) + 1},
        {"the most there is", INT64_MAX, 1000000000, INT64_MAX},
        {"far above what 64 bits hold", INT64_MAX, 1, INT64_MAX},
        {"a sum that has wrapped is negative, as in Go", UINT64_MAX, 1000000000,
         -1},
        {"its fraction is cut off, too", (uint64_t)-8, 3000000000, -2},
        {"the least there is", UINT64_C(1) << 63, 1000000000, INT64_MIN},
        {"far below", UINT64_C(1) << 63, 1, INT64_MIN},
        {"a very fast clock", UINT64_C(1) << 50, UINT64_C(1) << 40,
         1024000000000},
        {"half a second of it", UINT64_C(1) << 39, UINT64_C(1) << 40,
         500000000},
        {"the last whole second, and more than fits of the next",
         UINT64_C(9223372036900000), 1000000, INT64_MAX},
        {"the last nanosecond", UINT64_C(18446744073709551614) / 2 - 5,
         1000000000, INT64_MAX - 5},
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

TEST(the_same_stack_under_other_labels_is_another_sample)
{
    static const struct prof_label a[] = {{"k", "a"}};
    static const struct prof_label b[] = {{"k", "b"}};
    static const struct prof_label b_again[] = {{"k", "b"}};
    const struct prof_count_record records[] = {
        {AT(CASE_WORK), .labels = b, .labels_count = 1},
        {AT(CASE_WORK)},
        {AT(CASE_WORK), .labels = a, .labels_count = 1},
        {AT(CASE_WORK), .labels = b_again, .labels_count = 1},
    };

    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, 4));
    assert_int_equal(run.profile.samples_count, 3);
    assert_int_equal(run.profile.samples[0].values[0], 2);
    assert_string_equal(run.profile.samples[0].labels[0].text, "b");
    assert_int_equal(run.profile.samples[1].labels_count, 0);
    assert_string_equal(run.profile.samples[2].labels[0].text, "a");
    case_end(&run);
}

/* Do record and sample have the same frames and labels? A stack is known by its
 * depth. */
static bool
is_same(const struct prof_count_record *record,
        const struct model_pprof_sample *sample)
{
    if (record->depth != sample->locations_count ||
        record->labels_count != sample->labels_count)
        return false;
    for (uint32_t i = 0; i < record->labels_count; i++) {
        if (strcmp(record->labels[i].key, sample->labels[i].key) != 0 ||
            strcmp(record->labels[i].value, sample->labels[i].text) != 0)
            return false;
    }
    return true;
}

/* Several labels a sample, each key in some samples and not in others. */
TEST(each_sample_has_the_labels_of_its_records)
{
    enum { RECORDS = 300, KEYS = 3 };
    static const struct prof_label labels[][KEYS] = {
        {{"a", "1"}, {"b", "1"}, {"c", "1"}},
        {{"a", "2"}, {"b", "1"}, {"c", "3"}},
        {{"b", "1"}, {"c", "2"}, {"d", "a"}},
        {{"b", "a"}, {"d", "b"}, {"e", "1"}},
        {{"c", "1"}, {"d", "1"}, {"e", "1"}}};
    static struct prof_count_record records[RECORDS];
    uint32_t drawn = 3;
    size_t counted = 0;

    for (size_t i = 0; i < RECORDS; i++) {
        drawn = drawn * 1664525 + 1013904223;
        records[i] = (struct prof_count_record){
            .stack = STACK(CASE_WORK, CASE_SERVE, CASE_MAIN),
            .depth = 1 + (drawn >> 16) % 3,
            .labels = labels[(drawn >> 20) % 5],
            .labels_count = (drawn >> 24) % (KEYS + 1)};
    }
    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, RECORDS));
    for (size_t i = 0; i < run.profile.samples_count; i++) {
        size_t wanted = 0;

        for (size_t j = 0; j < RECORDS; j++)
            wanted += is_same(&records[j], &run.profile.samples[i]);
        assert_int_equal(run.profile.samples[i].values[0], wanted);
        counted += wanted;
    }
    assert_int_equal(counted, RECORDS);
    case_end(&run);
}

/* A size label is left out if the size is 0 or nothing of this size was
 * allocated. */
TEST(the_size_label_is_there_if_it_says_something)
{
    const struct prof_heap_record records[] = {
        {.allocs = 1, .size_bytes = 8, AT(CASE_WORK)},
        {.allocs = 0, .size_bytes = 8, AT(CASE_SERVE)},
        {.allocs = 1, .size_bytes = 0, AT(CASE_MAIN)},
    };
    static const size_t want[] = {1, 0, 0};

    case_heap(&run, records, 3, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(run.profile.samples[i].labels_count, want[i]);
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

/* ---- bounds ---- */

TEST(the_deepest_stack_fits_and_deeper_ones_are_cut)
{
    static uintptr_t deep[PROF_DEPTH_LIMIT + 5];
    struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, .stack = deep};

    for (size_t i = 0; i < PROF_DEPTH_LIMIT + 5; i++)
        deep[i] = UINTPTR_MAX - i;
    for (record.depth = PROF_DEPTH_LIMIT - 1;
         record.depth <= PROF_DEPTH_LIMIT + 5; record.depth++) {
        case_heap(&run, &record, 1, 1);
        assert_int_equal(run.profile.samples[0].locations_count,
                         record.depth < PROF_DEPTH_LIMIT ? record.depth
                                                         : PROF_DEPTH_LIMIT);
        case_end(&run);
    }
}

TEST(an_empty_profile_is_a_profile)
{
    case_heap(&run, NULL, 0, 524288);
    assert_int_equal(run.profile.samples_count, 0);
    assert_int_equal(run.profile.types_count, 4);
    case_end(&run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
