/*
 * test_pprof.c -- a heap profile as profile.proto, as an independent reader
 * sees it: values, names, numbering, order, mappings (P1). The test vectors
 * come from Go's own tests.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "common/test/unit_test.h"

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

TEST(the_allocs_view_names_its_default_type)
{
    case_begin(&run);
    case_read(&run, prof_pprof_heap(&run.output, converted, 3, 524288,
                                    PROF_VIEW_ALLOCS));
    assert_string_equal(run.profile.default_type, "alloc_space");
    case_end(&run);
}

/* ---- names, numbers ---- */

TEST(functions_of_one_name_in_two_files_are_two)
{
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, AT(CASE_WORK, CASE_COPY, CASE_MAIN)};

    case_heap(&run, &record, 1, 1);
    assert_int_equal(run.profile.functions_count, 3);
    assert_int_equal(run.profile.locations_count, 3);
    assert_string_equal(run.profile.functions[0].file, "work.go");
    assert_string_equal(run.profile.functions[1].file, "copy.go");
    assert_string_equal(run.profile.functions[1].system_name, "main.work");
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
    "5- r-xp 0 0:0 1 /bad\n"                                               \
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
