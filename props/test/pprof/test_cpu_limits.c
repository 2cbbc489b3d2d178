/*
 * test_cpu_limits.c -- the CPU profile at its limits: sizes, the words of Go's
 * format, labels, memory, the sink.
 */
#include <stdlib.h>
#include <string.h>

#include "cpu_model.h"
#include "pprof_case.h"
#include "prof/cpu.h"
#include "unit_test.h"

static struct case_run run;

static const uintptr_t work[] = {CASE_WORK, CASE_MAIN};
static const uintptr_t serve[] = {CASE_SERVE, CASE_MAIN};

static struct prof_cpu *
a_profile(uint32_t ticks_max, uint32_t stacks_max, uint32_t depth_max)
{
    static _Alignas(64) unsigned char block[1 << 20];
    const struct prof_cpu_config config = {.ticks_max = ticks_max,
                                           .stacks_max = stacks_max,
                                           .depth_max = depth_max};
    struct prof_cpu *cpu;

    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    return cpu;
}

TEST(sizes_beyond_the_limits_are_refused)
{
    static const struct prof_cpu_config wrong[] = {
        {.ticks_max = UINT32_MAX},
        {.stacks_max = UINT32_MAX},
        {.depth_max = PROF_DEPTH_LIMIT + 1},
    };
    static _Alignas(64) unsigned char block[64];
    struct prof_cpu *cpu = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(prof_cpu_bytes_needed(&wrong[i]), 0);
        assert_int_equal(prof_cpu_init(&cpu, &wrong[i], block, sizeof block),
                         PROF_ERR_CONFIG);
        assert_null(cpu);
    }
}

/* 0 means the default: 512 ticks, 4096 stacks, 64 frames. */
TEST(zeros_stand_for_the_defaults)
{
    const struct prof_cpu_config zeros = {0};
    const struct prof_cpu_config named = {
        .ticks_max = 512, .stacks_max = 4096, .depth_max = 64};
    const struct prof_cpu_config more = {
        .ticks_max = 513, .stacks_max = 4096, .depth_max = 64};

    assert_int_equal(prof_cpu_bytes_needed(&zeros),
                     prof_cpu_bytes_needed(&named));
    assert_true(prof_cpu_bytes_needed(&more) > prof_cpu_bytes_needed(&named));
}

TEST(a_block_out_of_line_is_refused)
{
    const struct prof_cpu_config config = {
        .ticks_max = 8, .stacks_max = 8, .depth_max = 8};
    static _Alignas(64) unsigned char block[1 << 16];
    struct prof_cpu *cpu = NULL;

    assert_true(prof_cpu_bytes_needed(&config) < sizeof block - 64);
    for (size_t off = 1; off < 64; off++)
        assert_int_equal(
            prof_cpu_init(&cpu, &config, block + off, sizeof block - 64),
            PROF_ERR_MEMORY);
    assert_null(cpu);
}

/* Stacks that have equal frames but other labels or another depth are counted
 * apart. */
TEST(equal_frames_with_other_labels_or_depths_stay_apart)
{
    struct prof_cpu *cpu = a_profile(8, 64, 8);
    static const struct prof_label one = {"who", "me"};
    static const struct prof_label_set a = {.labels = &one, .count = 1};
    static const struct prof_label_set b = {.labels = &one, .count = 1};
    uint64_t ticks = 0;

    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    for (int i = 0; i < 3; i++) {
        prof_cpu_tick(cpu, work, 2, &a);
        prof_cpu_tick(cpu, work, 2, &b);
        prof_cpu_tick(cpu, work, 1, &a);
        prof_cpu_tick(cpu, serve, 2, &a);
        prof_cpu_drain(cpu);
    }
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run.profile.samples[i].values[0], 3);
        ticks += (uint64_t)run.profile.samples[i].values[0];
    }
    assert_int_equal(ticks, 12);
    case_end(&run);
}

/* Of a record with more frames than a stack may have, the first ones are
 * kept. */
TEST(a_record_of_too_many_frames_is_cut)
{
    enum { FRAMES = PROF_DEPTH_LIMIT + 3 };
    static uint64_t words[3 + 3 + FRAMES] = {3, 0, 100, 3 + FRAMES, 0, 1};
    struct prof_cpu *cpu = a_profile(2, 2, PROF_DEPTH_LIMIT);

    for (size_t i = 0; i < FRAMES; i++)
        words[6 + i] = CASE_UNKNOWN + i;
    assert_int_equal(prof_cpu_load(cpu, words, 6 + FRAMES, NULL, 0), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples[0].locations_count, PROF_DEPTH_LIMIT);
    case_end(&run);
}

/* A profile without ticks has 100 Hz, 10 ms a tick. Its duration is left out if
 * the clock went backwards. */
TEST(a_profile_that_never_began_is_an_empty_one)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 0, 4};
    struct prof_cpu *cpu = a_profile(8, 8, 8);

    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, -5));
    assert_int_equal(run.profile.samples_count, 0);
    assert_int_equal(run.profile.period, 10000000);
    assert_int_equal(run.profile.duration_ns, 0);
    case_end(&run);

    /* Lost ticks have an address even if the output names none. */
    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    case_begin(&run);
    run.output.lost = 0;
    case_read(&run, prof_cpu_write(cpu, &run.output, 0));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 4);
    assert_int_equal(
        model_pprof_location(&run.profile, run.profile.samples[0].locations[0])
            ->address,
        0);
    case_end(&run);
}

/* A set has one label more than a sample may have: that label is left out. */
TEST(labels_beyond_the_limit_are_left_out)
{
    static struct prof_label many[PROF_LABELS_MAX + 1];
    static char keys[PROF_LABELS_MAX + 1][4];
    const struct prof_label_set set = {.labels = many,
                                       .count = PROF_LABELS_MAX + 1};
    struct prof_cpu *cpu = a_profile(8, 8, 8);

    for (size_t i = 0; i <= PROF_LABELS_MAX; i++) {
        keys[i][0] = 'k';
        keys[i][1] = (char)('A' + i / 8);
        keys[i][2] = (char)('a' + i % 8);
        many[i] = (struct prof_label){.key = keys[i], .value = "v"};
    }
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    prof_cpu_tick(cpu, work, 2, &set);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples[0].labels_count, PROF_LABELS_MAX);
    case_end(&run);
}

static enum prof_status
refuse(void *context, const void *bytes, size_t bytes_count)
{
    (void)bytes;
    (void)bytes_count;
    ++*(int *)context;
    return PROF_ERR_SINK;
}

TEST(a_sink_that_fails_ends_the_samples)
{
    enum { STACKS = 3000 };
    struct prof_cpu *cpu = a_profile(8, STACKS, 4);
    int calls = 0;

    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    for (uintptr_t i = 0; i < STACKS; i++) {
        const uintptr_t stack[] = {0x10000 + 16 * i, 0x20000 + 16 * i,
                                   0x30000 + 16 * i, 0x40000 + 16 * i};

        prof_cpu_tick(cpu, stack, 4, NULL);
        prof_cpu_drain(cpu);
    }
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    case_begin(&run);
    run.output.sink = (struct prof_sink){.write = refuse, .context = &calls};
    assert_int_equal(prof_cpu_write(cpu, &run.output, 1), PROF_ERR_SINK);
    assert_int_equal(calls, 1);
}

/* The ring has room for the frames of each tick, and the table for those of
 * each stack. */
TEST(the_deepest_cpu_profile_is_measured_whole)
{
    const struct prof_cpu_config config = {.ticks_max = 1U << 24,
                                           .stacks_max = 1U << 24,
                                           .depth_max = PROF_DEPTH_LIMIT};

    assert_true(prof_cpu_bytes_needed(&config) >=
                (UINT64_C(2) << 24) * PROF_DEPTH_LIMIT * sizeof(uintptr_t));
}

TEST(ticks_beyond_2_to_32_keep_their_time)
{
    const uint64_t ticks = (UINT64_C(1) << 32) + 5;
    const uint64_t words[] = {3, 0, 100, 4, 0, ticks, 0x1000};
    struct prof_cpu *cpu = a_profile(8, 8, 8);

    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], ticks);
    assert_int_equal(run.profile.samples[0].values[1], ticks * 10000000);
    case_end(&run);
    case_begin(&run);
    assert_non_null(
        strstr(case_text(&run, prof_cpu_write_text(cpu, &run.output)),
               "total 4294967301\n4294967301 @ 0x1000\n"));
}

TEST(words_may_be_of_any_rate_up_to_a_tick_a_nanosecond)
{
    for (uint64_t hz = 1; hz <= 1000000000; hz *= 10) {
        const uint64_t words[] = {3, 0, hz, 4, 0, 1, 0x1000};
        struct prof_cpu *cpu = a_profile(8, 8, 8);

        assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
        case_begin(&run);
        case_read(&run, prof_cpu_write(cpu, &run.output, 1));
        assert_int_equal(run.profile.period, 1000000000 / hz);
        case_end(&run);
    }
}

/* One that was not lost has no address, either: each line needs one. */
TEST(a_tick_without_frames_is_shown_with_an_address)
{
    struct prof_cpu *cpu = a_profile(8, 8, 8);

    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    prof_cpu_tick(cpu, NULL, 0, NULL);
    prof_cpu_tick(cpu, work, 2, NULL);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 2);
    case_begin(&run);
    assert_non_null(
        strstr(case_text(&run, prof_cpu_write_text(cpu, &run.output)),
               "\n1 @ 0x4001\n"));
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_in_range(run.profile.samples[i].locations_count, 1, 2);
    case_end(&run);
}

/* Stacks that differ only beyond the depth that is kept are one stack. */
TEST(stacks_are_compared_as_they_are_kept)
{
    const uint64_t words[] = {3, 0,      100,    5, 0, 1, 0x1000, 0x2000, 5, 0,
                              1, 0x1000, 0x2100, 5, 0, 1, 0x1000, 0x2000};
    struct prof_cpu *cpu = a_profile(8, 8, 1);

    assert_int_equal(
        prof_cpu_load(cpu, words, sizeof words / sizeof *words, NULL, 0),
        PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 3);
    case_end(&run);
}

TEST(any_calls_leave_the_profile_that_a_model_says)
{
    for (int world = 0; world < 60; world++) {
        const struct prof_cpu_config config = cpu_model_config();

        cpu_model_begin(
            a_profile(config.ticks_max, config.stacks_max, config.depth_max),
            &config);
        for (int step = 0; step < 200; step++)
            cpu_model_call(&run);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
