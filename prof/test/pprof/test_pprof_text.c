/*
 * test_pprof_text.c -- the text forms byte for byte (P2): columns are compared
 * with a model, lines with those that Go prints; and readers must accept them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/test/pprof/heap_counters.h"
#include "prof/test/pprof/pprof_case.h"
#include "prof/text.h"
#include "common/test/unit_test.h"

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

TEST(records_of_several_rates_are_scaled_and_of_one_rate_name_it)
{
    struct prof_heap_record records[] = {
        {.allocs = 10, .size_bytes = 64, .rate_bytes = 1, AT(CASE_WORK)},
        {.allocs = 100,
         .frees = 40,
         .size_bytes = 64,
         .rate_bytes = 4096,
         AT(CASE_UNKNOWN)},
    };

    assert_int_equal(heap_text(records, 2, 0, NULL), PROF_OK);
    assert_begins("heap profile: 3880: 248325 [6460: 413448] @ heapprofile\n"
                  "3870: 247685 [6450: 412808] @ 0x9040\n");
    records[0].rate_bytes = 4096;
    assert_int_equal(heap_text(records, 2, 0, NULL), PROF_OK);
    assert_begins("heap profile: 70: 4480 [110: 7040] @ heap/8192\n");
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

/* No more than what readers take: twice the rate must be below 2^63. */
TEST(the_largest_rates_are_cut)
{
    assert_int_equal(heap_text(NULL, 0, INT64_MAX / 2 - 1, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775804\n");
    assert_int_equal(heap_text(NULL, 0, INT64_MAX, NULL), PROF_OK);
    assert_begins("heap profile: 0: 0 [0: 1] @ heap/9223372036854775806\n");
}

/* ---- frames ---- */

/* Give address i the name context[i]; each function begins at 1. */
static void
find_listed(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const char *const *names = context;

    symbol->function = names[pc];
    symbol->file = "f";
    symbol->line = pc;
    symbol->entry = symbol->function[0] != '\0' ? 1 : 0;
}

/* Write a stack with names. */
static void
write_named(const char **names, const uintptr_t *stack, uint32_t depth)
{
    const struct prof_count_record record = {.stack = stack, .depth = depth};

    case_begin(&run);
    run.output.symbols =
        (struct prof_symbols){.find = find_listed, .context = names};
    assert_int_equal(prof_text_counts(&run.output, "c", &record, 1), PROF_OK);
}

/* Of the function's first instruction, of an address before it, and of return
 * addresses; with ends of cells and lines in a name. */
TEST(an_address_is_shown_with_its_name_and_what_it_is_off_it)
{
    static const char *names[] = {
        "zero", "\x01\x1f b!\x7e\x7f\x80", "two", "", "", "five"};

    write_named(names, STACK(1, 0, 2, 5), 4);
    assert_string_equal(case_text(&run, PROF_OK),
                        "c profile: total 1\n1 @ 0x1 0x0 0x2 0x5\n"
                        "#\t0x1\t?? b!~?\x80+0x0\tf:1\n"
                        "#\t0x0\tzero+0x0\tf:0\n"
                        "#\t0x1\ttwo+0x0\t\tf:2\n"
                        "#\t0x4\tfive+0x3\tf:5\n\n");
}

/* Names of every width in any order, some frames without one: columns as those
 * of the model's tabwriter. */
TEST(columns_are_as_wide_as_their_widest_cell_needs)
{
    static const char *names[] = {
        "",
        "a",
        "four", /* with +0x2 as wide as one tab stop */
        "main.seven",
        "main.a.rather.long.one",
        "\xc3\xa4\xc3\xb6\xc3\xbc", /* three letters wide */
        "twelve.chars",             /* with +0x2 as wide as two */
        "x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x",
    };
    enum { NAMES = sizeof names / sizeof *names, DEPTH = 6 };
    uint32_t seed = 1;

    for (int round = 0; round < 2000; round++) {
        uintptr_t stack[DEPTH];
        char plain[1024];
        char *at = plain + sprintf(plain, "c profile: total 1\n1 @");

        for (int i = 0; i < DEPTH; i++) {
            seed = seed * 1664525 + 1013904223;
            stack[i] = seed >> 16 & (NAMES - 1);
            at += sprintf(at, " 0x%zx", (size_t)stack[i]);
        }
        at += sprintf(at, "\n");
        for (int i = 0; i < DEPTH; i++) {
            const size_t pc = stack[i];
            const size_t shown = pc > 1 ? pc - 1 : pc;

            at += sprintf(at, "#\t0x%zx", pc == 0 ? 0 : shown);
            if (pc > 0)
                at +=
                    sprintf(at, "\t%s+0x%zx\tf:%zu", names[pc], shown - 1, pc);
            at += sprintf(at, "\n");
        }
        sprintf(at, "\n");
        write_named(names, stack, DEPTH);
        case_assert_columns(&run, plain);
    }
}
