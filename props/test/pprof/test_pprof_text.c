/*
 * test_pprof_text.c -- the text forms byte for byte (P2): columns are compared
 * with a model, lines with those that Go prints; and readers must accept them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap_counters.h"
#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

static enum prof_status
heap_text(const struct prof_heap_record *records, size_t count, int64_t rate,
          const struct prof_heap_counters *counters)
{
    case_begin(&run);
    return prof_text_heap(&run.output, records, count, rate, counters);
}

/* ---- heap ---- */

TEST(heap_records_stand_in_the_order_of_bytes_in_use)
{
    const struct prof_heap_record records[] = {
        {.allocs = 5, .frees = 5, .size_bytes = 8, AT(CASE_WORK)},
        {.allocs = 9, .frees = 2, .size_bytes = 16, AT(CASE_SERVE, CASE_MAIN)},
        {.allocs = 4, .frees = 4, .size_bytes = 99, AT(CASE_UNKNOWN)},
    };

    assert_int_equal(heap_text(records, 3, 512, NULL), PROF_OK);
    case_assert_columns(&run, "heap profile: 7: 112 [18: 580] @ heap/1024\n"
                              "7: 112 [9: 144] @ 0x2140 0x2240\n"
                              "#\t0x213f\tmain.serve+0x3f\tserve.go:7\n"
                              "#\t0x223f\tmain.main+0x3f\tmain.go:3\n"
                              "\n"
                              "0: 0 [5: 40] @ 0x2040\n"
                              "#\t0x203f\tmain.work+0x3f\twork.go:12\n"
                              "\n"
                              "0: 0 [4: 396] @ 0x9040\n"
                              "#\t0x903f\n"
                              "\n");
}

static void
assert_begins(const char *wanted)
{
    const char *text = case_text(&run, PROF_OK);

    assert_memory_equal(text, wanted, strlen(wanted));
}

/* No sum on the way may be signed: UBSan would report its overflow. */
TEST(totals_wrap_around_silently)
{
    const struct prof_heap_record records[] = {
        {.allocs = INT64_MAX, .size_bytes = 1, AT(CASE_UNKNOWN)},
        {.allocs = INT64_MAX, .size_bytes = 1, AT(CASE_UNKNOWN)},
        {.allocs = 4, .size_bytes = UINT64_C(1) << 62, AT(CASE_UNKNOWN)},
    };

    assert_int_equal(heap_text(records, 1, 1, NULL), PROF_OK);
    assert_begins("heap profile: 9223372036854775807: "
                  "9223372036854775806 [9223372036854775807: "
                  "9223372036854775807] @ heap/2\n");
    assert_int_equal(heap_text(records, 2, 1, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/2\n");
    assert_int_equal(heap_text(records, 3, 1, NULL), PROF_OK);
    assert_begins("heap profile: 2: 0 [2: 1] @ heap/2\n");
}

/* Readers expect twice the rate; the doubled rate is limited to below 2^63. */
TEST(the_largest_rates_are_cut_to_what_readers_take)
{
    assert_int_equal(heap_text(NULL, 0, INT64_MAX / 2, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775806\n");
    assert_int_equal(heap_text(NULL, 0, INT64_MAX / 2 - 1, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775804\n");
    assert_int_equal(heap_text(NULL, 0, INT64_MAX / 2 + 1, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775806\n");
    assert_int_equal(heap_text(NULL, 0, INT64_MAX, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775806\n");
}

/*
 * pprof keeps the columns of allocations only if one of the two pairs differs
 * and its second number is not 0. The test tries all pairs of byte totals up to
 * 20.
 */
TEST(readers_never_lose_the_columns_of_allocations)
{
    for (uint64_t inuse = 0; inuse <= 20; inuse++) {
        for (uint64_t allocs = 0; allocs <= 20; allocs++) {
            const struct prof_heap_record record = {.allocs = allocs,
                                                    .frees = allocs - inuse,
                                                    .size_bytes = 1,
                                                    AT(CASE_WORK)};
            unsigned got[4];

            assert_int_equal(heap_text(&record, 1, 1, NULL), PROF_OK);
            assert_int_equal(sscanf(case_text(&run, PROF_OK),
                                    "heap profile: %u: %u [%u: %u] @ heap/2",
                                    &got[0], &got[1], &got[2], &got[3]),
                             4);
            assert_true((got[2] != got[0] && got[2] != 0) ||
                        (got[3] != got[1] && got[3] != 0));
            assert_int_equal(got[1], inuse);
            assert_int_equal(got[3], allocs == inuse || allocs == 0 ? inuse + 1
                                                                    : allocs);
        }
    }
}

TEST(totals_below_zero_are_shown_as_zero)
{
    const struct prof_heap_record record = {
        .allocs = 1, .frees = 3, .size_bytes = 16, AT(CASE_WORK)};

    assert_int_equal(heap_text(&record, 1, 1, NULL), PROF_OK);
    case_assert_columns(&run, "heap profile: 0: 0 [1: 16] @ heap/2\n"
                              "-2: -32 [1: 16] @ 0x2040\n"
                              "#\t0x203f\tmain.work+0x3f\twork.go:12\n"
                              "\n");
}

TEST(an_empty_stack_has_a_line)
{
    const struct prof_heap_record record = {.allocs = 1, .size_bytes = 16};

    assert_int_equal(heap_text(&record, 1, 1, NULL), PROF_OK);
    assert_string_equal(case_text(&run, PROF_OK),
                        "heap profile: 1: 16 [1: 17] @ heap/2\n"
                        "1: 16 [1: 16] @\n"
                        "#\t0x0\n"
                        "\n");
}

static void
name_in_letters(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    symbol->function = pc == 1 ? "\xc3\xa9\xc3\xa9\xc3\xa9" : "eeee";
    symbol->file = "f";
    symbol->entry = pc;
}

/* A name of three letters of two bytes and one of four letters of one byte:
 * after both the next column is at the tab stop at 8. */
TEST(a_letter_of_two_bytes_is_one_wide)
{
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 16, AT(1, 2)};

    case_begin(&run);
    run.output.symbols.find = name_in_letters;
    assert_int_equal(prof_text_heap(&run.output, &record, 1, 1, NULL), PROF_OK);
    assert_non_null(strstr(case_text(&run, PROF_OK),
                           "#\t0x1\t\xc3\xa9\xc3\xa9\xc3\xa9+0x0\t\tf:0\n"
                           "#\t0x2\teeee+0x0\tf:0\n"));
}

TEST(the_longest_waits_stand_first)
{
    const struct prof_contention_record records[] = {
        {.count = 2, .cycles = 10, AT(CASE_WORK)},
        {.count = 1, .cycles = 30, AT(CASE_UNKNOWN)},
        {.count = 3, .cycles = 20, AT(CASE_MAIN)},
    };

    case_begin(&run);
    assert_int_equal(
        prof_text_contention(&run.output, PROF_BLOCK, records, 3, 1000, 1),
        PROF_OK);
    case_assert_columns(
        &run, "--- contention:\ncycles/second=1000\n"
              "30 1 @ 0x9040\n#\t0x903f\n\n"
              "20 3 @ 0x2240\n#\t0x223f\tmain.main+0x3f\tmain.go:3\n\n"
              "10 2 @ 0x2040\n"
              "#\t0x203f\tmain.work+0x3f\twork.go:12\n\n");
}

static uint64_t pauses[PROF_PAUSES];
static const struct prof_heap_counters all_counters = {
    HEAP_COUNTERS,    .pause_ns = pauses,           .gcs = 24,
    .gcs_forced = 25, .gc_cpu_fraction = "1.5e-05", .debug_gc = true,
};

TEST(the_end_of_a_heap_text_shows_the_embedders_counters)
{
    struct prof_heap_counters counters = all_counters;
    char zeros[2 * PROF_PAUSES + 2];
    char want[4096];

    for (int i = 0; i < PROF_PAUSES; i++) {
        zeros[2 * i] = '0';
        zeros[2 * i + 1] = i + 1 < PROF_PAUSES ? ' ' : '\0';
    }
    snprintf(want, sizeof want,
             "heap profile: 0: 0 [0: 1] @ heap/2\n\n# runtime.MemStats\n"
             "# Alloc = 1\n# TotalAlloc = 2\n# Sys = 3\n# Lookups = 4\n"
             "# Mallocs = 5\n# Frees = 6\n# HeapAlloc = 7\n# HeapSys = 8\n"
             "# HeapIdle = 9\n# HeapInuse = 10\n# HeapReleased = 11\n"
             "# HeapObjects = 12\n# Stack = 13 / 14\n# MSpan = 15 / 16\n"
             "# MCache = 17 / 18\n# BuckHashSys = 19\n# GCSys = 20\n"
             "# OtherSys = 21\n# NextGC = 22\n# LastGC = 23\n"
             "# PauseNs = [9%s]\n# PauseEnd = [%s]\n# NumGC = 24\n"
             "# NumForcedGC = 25\n# GCCPUFraction = 1.5e-05\n"
             "# DebugGC = true\n",
             &zeros[1], zeros);
    pauses[0] = 9;
    assert_int_equal(heap_text(NULL, 0, 1, &counters), PROF_OK);
    assert_string_equal(case_text(&run, PROF_OK), want);
    counters.max_rss_bytes = 4096;
    assert_int_equal(heap_text(NULL, 0, 1, &counters), PROF_OK);
    assert_memory_equal(case_text(&run, PROF_OK), want, strlen(want));
    assert_string_equal(&case_text(&run, PROF_OK)[strlen(want)],
                        "# MaxRSS = 4096\n");
}

/* ---- columns ---- */

struct names {
    const char *const *functions; /* of 16, 32, ...; "": no name */
    const char *const *files;
};

static void
find_listed(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct names *names = context;

    symbol->function = names->functions[(pc & 0xfff) / 16 - 1];
    symbol->file = names->files[(pc & 0xfff) / 16 - 1];
    symbol->line = pc;
    symbol->entry = symbol->function[0] != '\0' ? pc - 3 : 0;
}

/* Frames have names of every width, some have none. */
TEST(columns_are_as_wide_as_their_widest_cell_needs)
{
    static const char *const pool[] = {
        "",
        "a",
        "four", /* with +0x2 as wide as one tab stop */
        "main.seven",
        "main.a.rather.long.one",
        "\xc3\xa4\xc3\xb6\xc3\xbc",
        "twelve.chars", /* with +0x2 as wide as two */
        "x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x",
    };
    enum { POOL = sizeof pool / sizeof *pool, DEPTH = 6 };
    const char *functions[DEPTH];
    static const char *const files[DEPTH] = {"f", "file", "a/b/c",
                                             "",  "g",    "h"};
    struct names names = {functions, files};
    uint32_t seed = 1;

    for (int round = 0; round < 2000; round++) {
        uintptr_t stack[DEPTH];
        char plain[4096];
        int at = snprintf(plain, sizeof plain,
                          "--- contention:\n"
                          "cycles/second=1\n1 1 @");

        for (int i = 0; i < DEPTH; i++) {
            seed = seed * 1664525 + 1013904223;
            functions[i] = pool[seed >> 16 & (POOL - 1)];
            stack[i] = (uintptr_t)(i + 1) * 16 +
                       ((seed >> 8 & 3) == 0 ? 0x7ff000001000 : 0);
            at += snprintf(&plain[at], sizeof plain - (size_t)at, " 0x%zx",
                           (size_t)stack[i]);
        }
        at += snprintf(&plain[at], sizeof plain - (size_t)at, "\n");
        for (int i = 0; i < DEPTH; i++) {
            const size_t pc = stack[i];

            at += functions[i][0] == '\0'
                      ? snprintf(&plain[at], sizeof plain - (size_t)at,
                                 "#\t0x%zx\n", pc - 1)
                      : snprintf(&plain[at], sizeof plain - (size_t)at,
                                 "#\t0x%zx\t%s+0x2\t%s:%zu\n", pc - 1,
                                 functions[i], files[i], pc);
        }
        snprintf(&plain[at], sizeof plain - (size_t)at, "\n");
        case_begin(&run);
        run.output.symbols =
            (struct prof_symbols){.find = find_listed, .context = &names};
        assert_int_equal(
            prof_text_contention(
                &run.output, PROF_BLOCK,
                &(struct prof_contention_record){
                    .count = 1, .cycles = 1, .stack = stack, .depth = DEPTH},
                1, 1, 1),
            PROF_OK);
        case_assert_columns(&run, plain);
    }
}

/* ---- names and depths ---- */

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
