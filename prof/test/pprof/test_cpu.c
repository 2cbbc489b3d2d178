/*
 * test_cpu.c -- the CPU profile: ticks by direct call, as by SIGPROF, and as
 * words of Go's format; and its limits. test_signals.c has the signals.
 */
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "prof/cpu.h"
#include "common/test/unit_test.h"

static struct case_run run;
static struct prof_cpu *cpu;

static const uintptr_t work[] = {CASE_WORK, CASE_MAIN};

static void
a_profile(uint32_t ticks_max, uint32_t stacks_max, uint32_t depth_max)
{
    static _Alignas(64) unsigned char block[1 << 20];
    const struct prof_cpu_config config = {.ticks_max = ticks_max,
                                           .stacks_max = stacks_max,
                                           .depth_max = depth_max};
    const size_t bytes = prof_cpu_bytes_needed(&config);

    memset(block, 0x5a, sizeof block);
    assert_int_equal(prof_cpu_init(&cpu, &config, block, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_cpu_init(&cpu, &config, block + 8, bytes),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_cpu_init(&cpu, &config, block, bytes), PROF_OK);
}

static int
a_small_profile(void **state)
{
    (void)state;
    a_profile(16, 8, 4);
    return 0;
}

static void
write_profile(void)
{
    case_begin(&run);
    run.output.time_ns = 1000;
    case_read(&run, prof_cpu_write(cpu, &run.output, 5000));
}

static uint64_t
ticks_written(void)
{
    uint64_t ticks = 0;

    for (size_t i = 0; i < run.profile.samples_count; i++)
        ticks += (uint64_t)run.profile.samples[i].values[0];
    return ticks;
}

/* ---- Go's vectors ---- */

/* The vector of Go's test TestConvertCPUProfile (runtime/pprof). */
TEST_WITH(a_small_profile, NULL, words_of_gos_runtime_become_a_profile)
{
    static const uint64_t words[] = {
        3, 0, 500,                 /* 500 Hz */
        5, 0, 10,  0x2001, 0x2002, /* ten ticks at one stack */
        5, 0, 40,  0x2101, 0x2102, /* forty at another */
        5, 0, 10,  0x2001, 0x2002, /* ten more at the first */
    };
    static const uint8_t fields[] = {9, 1, 1, 10, 11, 12, 4, 5,
                                     4, 2, 4, 5,  4,  2,  3};

    assert_int_equal(
        prof_cpu_load(cpu, words, sizeof words / sizeof *words, NULL, 0),
        PROF_OK);
    write_profile();
    assert_int_equal(run.profile.period, 2000000);
    assert_string_equal(run.profile.period_type.type, "cpu");
    assert_string_equal(run.profile.period_type.unit, "nanoseconds");
    assert_int_equal(run.profile.samples_count, 2);
    assert_int_equal(run.profile.samples[0].values[0], 20);
    assert_int_equal(run.profile.samples[0].values[1], 20 * 2000000);
    assert_int_equal(run.profile.samples[1].values[0], 40);
    assert_int_equal(run.profile.samples[1].values[1], 40 * 2000000);
    assert_int_equal(run.profile.locations[0].address, 0x2000);
    assert_int_equal(run.profile.locations[1].address, 0x2001);
    assert_int_equal(run.profile.locations[2].address, 0x2100);
    assert_int_equal(run.profile.time_ns, 1000);
    assert_int_equal(run.profile.duration_ns, 5000);
    assert_memory_equal(run.profile.fields, fields, sizeof fields);
    case_end(&run);
}

/* The same words as text. Stacks with more ticks come first; of equal ones, the
 * one met first. Lost ticks are at the lost address, and in the total. */
TEST_WITH(a_small_profile, NULL, a_profile_is_also_a_text)
{
    static const uint64_t words[] = {
        3, 0, 500,    4, 0, 5, 0x9001, 4, 0, 40, 0x9002, 4,
        0, 5, 0x9003, 4, 0, 0, 7,      4, 0, 5,  0x9001,
    };
    static const struct prof_label label = {"task", "7"};
    static const struct prof_label_set set = {&label, 1};
    static const struct prof_label_set none = {&label, 0};
    static const struct prof_label_set *const labels[] = {NULL,  &set, NULL,
                                                          &none, NULL, NULL};

    assert_int_equal(prof_cpu_load(cpu, words, sizeof words / sizeof *words,
                                   labels, sizeof labels / sizeof *labels),
                     PROF_OK);
    case_begin(&run);
    assert_string_equal(case_text(&run, prof_cpu_write_text(cpu, &run.output)),
                        "cpu profile: total 62\n"
                        "40 @ 0x9002\n#\t0x9001\n\n"
                        "7 @ 0x4001\n#\t0x4000\tmain.lost+0x0\tlost.go:5\n\n"
                        "5 @ 0x9001\n# labels: {\"task\":\"7\"}\n#\t0x9000\n\n"
                        "5 @ 0x9003\n#\t0x9002\n\n"
                        "5 @ 0x9001\n#\t0x9000\n\n");
    assert_int_equal(prof_cpu_load(cpu, words, 3, NULL, 0), PROF_OK);
    case_begin(&run);
    assert_string_equal(case_text(&run, prof_cpu_write_text(cpu, &run.output)),
                        "cpu profile: total 0\n");
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    assert_int_equal(prof_cpu_write_text(cpu, &run.output), PROF_ERR_ACTIVE);
}

/* The vectors of Go's TestConvertCPUProfileEmpty and TestEmptyStack. */
TEST_WITH(a_small_profile, NULL, no_ticks_and_ticks_without_frames_are_profiles)
{
    static const uint64_t none[] = {3, 0, 500};
    static const uint64_t bare[] = {3, 0, 500, 3, 0, 7};

    assert_int_equal(prof_cpu_load(cpu, none, 3, NULL, 0), PROF_OK);
    write_profile();
    assert_int_equal(run.profile.samples_count, 0);
    assert_int_equal(run.profile.period, 2000000);
    case_end(&run);
    assert_int_equal(prof_cpu_load(cpu, bare, 6, NULL, 0), PROF_OK);
    write_profile();
    assert_int_equal(run.profile.samples[0].values[0], 7);
    assert_string_equal(case_function(&run, 1), "main.lost");
    case_end(&run);
}

TEST_WITH(a_small_profile, NULL, wrong_words_are_refused)
{
    static const struct prof_label_set *const labels[3] = {NULL, NULL, NULL};
    static const struct {
        const char *why;
        uint64_t words[8];
        size_t words_count;
        size_t labels_count; /* 0: no labels at all */
    } rows[] = {
        {"nothing", {0}, 0, 0},
        {"cut header", {3, 0}, 2, 0},
        {"wrong header length", {4, 0, 100}, 3, 0},
        {"no rate", {3, 0, 0}, 3, 0},
        {"rate above what a period can say", {3, 0, 2000000000}, 3, 0},
        {"record shorter than its head", {3, 0, 100, 2, 0}, 5, 0},
        {"length below 3", {3, 0, 100, 2, 0, 1, 1}, 7, 0},
        {"length one beyond the end", {3, 0, 100, 5, 0, 1, 1}, 7, 0},
        {"huge length", {3, 0, 100, UINT64_MAX, 0, 1, 1}, 7, 0},
        {"fewer labels than records", {3, 0, 100, 4, 0, 1, 1}, 7, 1},
        {"more labels than records", {3, 0, 100, 4, 0, 1, 1}, 7, 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const enum prof_status status = prof_cpu_load(
            cpu, rows[i].words, rows[i].words_count,
            rows[i].labels_count > 0 ? labels : NULL, rows[i].labels_count);

        if (status != PROF_ERR_FORMAT)
            fail_msg("%s: %s", rows[i].why, prof_status_text(status));
    }
}

/* ---- start and stop ---- */

TEST_WITH(a_small_profile, NULL, one_profile_is_taken_at_a_time)
{
    static const uint64_t words[] = {3, 0, 500};

    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 0), PROF_ERR_CONFIG);
    assert_int_equal(prof_cpu_start(cpu, 1000001), PROF_ERR_CONFIG);
    assert_int_equal(prof_cpu_start(cpu, PROF_CPU_HZ), PROF_OK);
    prof_cpu_tick(cpu, work, 2, NULL);
    assert_int_equal(prof_cpu_start(cpu, 50), PROF_ERR_ACTIVE);
    assert_int_equal(prof_cpu_load(cpu, words, 3, NULL, 0), PROF_ERR_ACTIVE);
    case_begin(&run);
    assert_int_equal(prof_cpu_write(cpu, &run.output, 1), PROF_ERR_ACTIVE);
    assert_int_equal(run.memory.bytes_count, 0);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    write_profile();
    assert_int_equal(run.profile.period, 10000000);
    assert_int_equal(ticks_written(), 1);
    case_end(&run);
}

/* ---- the ring ---- */

/* ---- limits ---- */

TEST(sizes_beyond_the_limits_are_refused)
{
    static const struct prof_cpu_config wrong[] = {
        {.ticks_max = UINT32_MAX},
        {.stacks_max = UINT32_MAX},
        {.depth_max = PROF_DEPTH_LIMIT + 1},
    };
    static _Alignas(64) unsigned char block[64];

    cpu = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(prof_cpu_bytes_needed(&wrong[i]), 0);
        assert_int_equal(prof_cpu_init(&cpu, &wrong[i], block, sizeof block),
                         PROF_ERR_CONFIG);
        assert_null(cpu);
    }
}

/* A profile without ticks has 100 Hz, 10 ms a tick. Its duration is left out if
 * the clock went backwards. */
TEST(a_profile_that_never_began_is_an_empty_one)
{
    a_profile(8, 8, 8);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, -5));
    assert_int_equal(run.profile.samples_count, 0);
    assert_int_equal(run.profile.period, 10000000);
    assert_int_equal(run.profile.duration_ns, 0);
    case_end(&run);
}

TEST(ticks_beyond_2_to_32_keep_their_time)
{
    const uint64_t ticks = (UINT64_C(1) << 32) + 5;
    const uint64_t words[] = {3, 0, 100, 4, 0, ticks, 0x1000};

    a_profile(8, 8, 8);
    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], ticks);
    assert_int_equal(run.profile.samples[0].values[1], ticks * 10000000);
    case_end(&run);
}
