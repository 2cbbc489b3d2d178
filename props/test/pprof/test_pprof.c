/*
 * test_pprof.c -- profile.proto as an independent reader sees it: values,
 * names, numbering, order (P1). The test vectors come from Go's own tests.
 */
#include <stdlib.h>
#include <string.h>

#include "pprof_case.h"
#include "unit_test.h"

static struct case_run run;

/* ---- Go's vectors ---- */

/* The vector of Go's test TestConvertMemProfile (runtime/pprof). */
static const struct prof_heap_record converted[] = {
    {.allocs = 4, .frees = 1, .size_bytes = 1024, AT(0x2041, 0x2141)},
    {.allocs = 1, .frees = 0, .size_bytes = 524288, AT(0x2142, 0x2242)},
    {.allocs = 1, .frees = 1, .size_bytes = 524288, AT(0x2043, 0x2143)},
};

TEST(heap_records_are_scaled_as_go_scales_them)
{
    static const int64_t want[3][4] = {{2050, 2099200, 1537, 1574400},
                                       {1, 829411, 1, 829411},
                                       {1, 829411, 0, 0}};
    static const int64_t sizes[] = {1024, 524288, 524288};

    case_heap(&run, converted, 3, 524288);
    assert_int_equal(run.profile.samples_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct model_pprof_sample *sample = &run.profile.samples[i];

        case_assert_values(&run, i, want[i], 4);
        assert_int_equal(sample->locations_count, 2);
        assert_int_equal(sample->labels_count, 1);
        assert_string_equal(sample->labels[0].key, "bytes");
        assert_int_equal(sample->labels[0].number, sizes[i]);
        assert_int_equal(
            model_pprof_location(&run.profile, sample->locations[0])->address,
            converted[i].stack[0] - 1);
    }
    assert_int_equal(run.profile.period, 524288);
    assert_string_equal(run.profile.period_type.type, "space");
    assert_string_equal(run.profile.period_type.unit, "bytes");
    assert_string_equal(run.profile.types[0].type, "alloc_objects");
    assert_string_equal(run.profile.types[1].type, "alloc_space");
    assert_string_equal(run.profile.types[2].type, "inuse_objects");
    assert_string_equal(run.profile.types[3].type, "inuse_space");
    assert_string_equal(run.profile.default_type, "");
    case_end(&run);
}

/* Sums of bytes wrap around, and then say nothing of the objects. */
TEST(objects_in_use_are_counted_though_bytes_are_equal)
{
    const struct prof_heap_record record = {.allocs = 5,
                                            .frees = 4,
                                            .size_bytes = UINT64_C(1) << 62,
                                            .rate_bytes = 1,
                                            AT(CASE_WORK)};
    static const int64_t want[] = {5, INT64_C(1) << 62, 1, INT64_C(1) << 62};

    case_heap(&run, &record, 1, 1);
    case_assert_values(&run, 0, want, 4);
    case_end(&run);
}

TEST(the_allocs_view_names_its_default_type)
{
    case_begin(&run);
    case_read(&run, prof_pprof_heap(&run.output, converted, 3, 524288,
                                    PROF_VIEW_ALLOCS));
    assert_string_equal(run.profile.default_type, "alloc_space");
    case_end(&run);
}

TEST(scaling_follows_its_vectors)
{
    static const struct {
        const char *why;
        uint64_t allocs;
        uint64_t frees;
        uint64_t size_bytes;
        int64_t rate_bytes;
        int64_t objects; /* in use */
        int64_t bytes;
    } rows[] = {
        {"small objects", 4, 0, 1024, 524288, 2050, 2099200},
        {"three of them", 3, 0, 1024, 524288, 1537, 1574400},
        {"as large as the rate", 1, 0, 524288, 524288, 1, 829411},
        {"tiny", 1, 0, 16, 524288, 32768, 524296},
        {"below zero", 0, 1, 16, 524288, -32768, -524296},
        {"far above the rate", 7, 0, 100, 2, 7, 700},
        {"one byte", 1, 0, 1, 2, 2, 2},
        {"rate 1 is all", 7, 0, 3, 1, 7, 21},
        {"rate 0 is off", 7, 0, 3, 0, 7, 21},
        {"a rate below zero, too", 7, 0, 3, -5, 7, 21},
        {"no objects", 2, 2, 64, 524288, 0, 0},
        {"objects of no size", 5, 0, 0, 524288, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct prof_heap_record record = {.allocs = rows[i].allocs,
                                                .frees = rows[i].frees,
                                                .size_bytes =
                                                    rows[i].size_bytes,
                                                AT(CASE_WORK)};

        case_heap(&run, &record, 1, rows[i].rate_bytes);
        if (run.profile.samples[0].values[2] != rows[i].objects ||
            run.profile.samples[0].values[3] != rows[i].bytes)
            fail_msg("%s: got %lld, %lld", rows[i].why,
                     (long long)run.profile.samples[0].values[2],
                     (long long)run.profile.samples[0].values[3]);
        case_end(&run);
    }
}

/* A record is scaled by the rate at which it was sampled, not by the current
 * one. */
TEST(a_record_is_scaled_by_the_rate_it_was_sampled_at)
{
    const struct prof_heap_record records[] = {
        {.allocs = 1, .size_bytes = 16, .rate_bytes = 524288, AT(CASE_WORK)},
        {.allocs = 1, .size_bytes = 16, .rate_bytes = 1, AT(CASE_WORK)},
    };

    case_begin(&run);
    case_read(&run,
              prof_pprof_heap(&run.output, records, 2, 7, PROF_VIEW_INUSE));
    /* 32768.5: the exact rules round, Go's cut off. */
    assert_true(run.profile.samples[0].values[0] == 32768 ||
                run.profile.samples[0].values[0] == 32769);
    assert_int_equal(run.profile.samples[1].values[0], 1);
    assert_int_equal(run.profile.period, 7);
    case_end(&run);
}

/* ---- names, numbers ---- */

TEST(a_call_stands_before_its_return_address)
{
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, AT(CASE_WORK, 0x2100, CASE_UNKNOWN)};
    const uint64_t want[] = {CASE_WORK - 1, 0x2100, CASE_UNKNOWN - 1};

    case_heap(&run, &record, 1, 1);
    assert_int_equal(run.profile.samples[0].locations_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(model_pprof_location(
                             &run.profile, run.profile.samples[0].locations[i])
                             ->address,
                         want[i]);
    assert_string_equal(case_function(&run, 1), "main.work");
    assert_string_equal(case_function(&run, 3), "");
    case_end(&run);
}

TEST(functions_of_one_name_share_a_number)
{
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, AT(CASE_WORK, CASE_COPY, CASE_MAIN)};

    case_heap(&run, &record, 1, 1);
    assert_int_equal(run.profile.functions_count, 2);
    assert_int_equal(run.profile.locations_count, 3);
    assert_int_equal(run.profile.locations[0].function,
                     run.profile.locations[1].function);
    assert_string_equal(run.profile.functions[0].file, "work.go");
    assert_string_equal(run.profile.functions[0].system_name, "main.work");
    assert_int_equal(run.profile.locations[1].line, 99);
    case_end(&run);
}

TEST(frames_of_the_runtime_are_hidden_at_the_leaf_only)
{
    const struct prof_heap_record records[] = {
        {.allocs = 1,
         .size_bytes = 8,
         AT(CASE_MALLOC, CASE_NEW, CASE_WORK, CASE_NEW, CASE_MAIN,
            CASE_GOEXIT)},
        {.allocs = 1, .size_bytes = 8, AT(CASE_MALLOC, CASE_NEW, CASE_GOEXIT)},
        {.allocs = 1, .size_bytes = 8, AT(CASE_GOEXIT)},
        {.allocs = 1, .size_bytes = 8, AT(CASE_MALLOC, CASE_UNKNOWN)},
    };
    static const char *const want[4][4] = {
        {"main.work", "runtime.newobject", "main.main", NULL},
        {"runtime.mallocgc", "runtime.newobject", NULL},
        {"main.lost", NULL}, /* nothing is left of the name */
        {"", NULL},
    };

    case_heap(&run, records, 4, 1);
    for (size_t i = 0; i < 4; i++) {
        const struct model_pprof_sample *sample = &run.profile.samples[i];
        size_t count = 0;

        for (; want[i][count] != NULL; count++)
            assert_string_equal(case_function(&run, sample->locations[count]),
                                want[i][count]);
        assert_int_equal(sample->locations_count, count);
    }
    case_end(&run);
}

TEST(numbers_count_from_one_in_the_order_of_first_use)
{
    const struct prof_heap_record records[] = {
        {.allocs = 1, .size_bytes = 8, AT(CASE_SERVE, CASE_MAIN)},
        {.allocs = 1, .size_bytes = 16, AT(CASE_WORK, CASE_SERVE, CASE_MAIN)},
    };
    static const uint8_t fields[] = {
        11, 12, 1, 1, 1, 1, /* period type, period, sample types */
        4,  5,  4, 5, 2,    /* two new locations with functions, a sample */
        4,  5,  2,          /* one new location, a sample */
        9,  3,              /* time, the mapping */
    };

    case_begin(&run);
    run.output.time_ns = 77;
    case_read(&run,
              prof_pprof_heap(&run.output, records, 2, 1, PROF_VIEW_INUSE));
    assert_memory_equal(run.profile.fields, fields, sizeof fields);
    for (size_t i = sizeof fields; i < run.profile.fields_count; i++)
        assert_int_equal(run.profile.fields[i], 6);
    assert_int_equal(run.profile.samples[1].locations[0], 3);
    assert_int_equal(run.profile.samples[1].locations[1], 1);
    assert_int_equal(run.profile.samples[1].locations[2], 2);
    assert_int_equal(run.profile.time_ns, 77);
    case_end(&run);
}

/* returns: the index of a text in the read profile; fails if it is not there */
static size_t
number_of(const char *text)
{
    for (size_t i = 0; i < run.profile.strings_count; i++) {
        if (strcmp(run.profile.strings[i], text) == 0)
            return i;
    }
    fail_msg("no string %s", text);
    return 0;
}

TEST(functions_get_their_strings_before_the_labels_of_the_sample)
{
    static const struct prof_label labels[] = {{"who", "me"}, {"why", "main"}};
    const struct prof_count_record count = {AT(CASE_WORK), .labels = labels,
                                            .labels_count = 2};

    case_begin(&run);
    case_read(&run, prof_pprof_counts(&run.output, "own", &count, 1));
    assert_int_equal(number_of("own"), 1);
    assert_int_equal(number_of("main.work"), 3);
    assert_int_equal(number_of("work.go"), 4);
    assert_int_equal(number_of("who"), 5);
    assert_int_equal(number_of("me"), 6);
    assert_int_equal(number_of("why"), 7);
    assert_int_equal(number_of("main"), 8);
    case_end(&run);
}

TEST(numbers_are_packed_from_the_third_on)
{
    static const uintptr_t stack[] = {0x2041, 0x2042, 0x2043, 0x2044};

    for (uint32_t depth = 0; depth <= 4; depth++) {
        const struct prof_heap_record heap = {
            .allocs = 1, .size_bytes = 8, .stack = stack, .depth = depth};
        const struct prof_contention_record wait = {
            .count = 1, .cycles = 8, .stack = stack, .depth = depth};

        case_heap(&run, &heap, 1, 1);
        assert_true(run.profile.samples[0].values_packed);
        assert_int_equal(run.profile.samples[0].locations_packed, depth > 2);
        assert_int_equal(run.profile.samples[0].locations_count,
                         depth == 0 ? 1 : depth);
        case_end(&run);
        case_begin(&run);
        case_read(&run, prof_pprof_contention(&run.output, &wait, 1, 1, 1));
        assert_false(run.profile.samples[0].values_packed);
        case_end(&run);
    }
}

TEST(an_empty_stack_is_lost_or_stays_empty)
{
    const struct prof_heap_record record = {.allocs = 1, .size_bytes = 8};

    case_heap(&run, &record, 1, 1);
    assert_int_equal(run.profile.locations[0].address, CASE_LOST - 1);
    assert_string_equal(case_function(&run, 1), "main.lost");
    case_end(&run);
    case_begin(&run);
    run.output.lost = 0;
    case_read(&run,
              prof_pprof_heap(&run.output, &record, 1, 1, PROF_VIEW_INUSE));
    assert_int_equal(run.profile.samples[0].locations_count, 0);
    case_end(&run);
}

TEST(no_string_is_written_twice)
{
    case_heap(&run, converted, 3, 1);
    for (size_t i = 0; i < run.profile.strings_count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(run.profile.strings[i],
                                    run.profile.strings[j]);
    }
    case_end(&run);
}

/* The table has twice as many slots as there are addresses, so many meet. */
TEST(addresses_that_meet_in_the_table_stay_apart)
{
    enum { STACKS = 32, DEPTH = 32 };
    static uintptr_t stacks[STACKS][DEPTH];
    static struct prof_heap_record records[STACKS];

    for (uintptr_t i = 0; i < STACKS; i++) {
        for (uintptr_t j = 0; j < DEPTH; j++)
            stacks[i][j] = 0x100000 + (i * DEPTH + j) * (i * DEPTH + j) * 16;
        records[i] = (struct prof_heap_record){
            .allocs = 1, .size_bytes = 8, .stack = stacks[i], .depth = DEPTH};
    }
    case_begin(&run);
    run.output.scratch_bytes = prof_pprof_scratch_bytes(STACKS, STACKS * DEPTH);
    assert_true(run.output.scratch_bytes <= CASE_SCRATCH_BYTES);
    case_read(&run, prof_pprof_heap(&run.output, records, STACKS, 1,
                                    PROF_VIEW_INUSE));
    assert_int_equal(run.profile.samples_count, STACKS);
    for (size_t i = 0; i < STACKS; i++) {
        const struct model_pprof_sample *sample = &run.profile.samples[i];

        assert_int_equal(sample->locations_count, DEPTH);
        for (size_t j = 0; j < DEPTH; j++)
            assert_int_equal(
                model_pprof_location(&run.profile, sample->locations[j])
                    ->address,
                stacks[i][j] - 1);
    }
    case_end(&run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
