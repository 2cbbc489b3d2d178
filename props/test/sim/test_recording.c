/*
 * test_recording.c -- what is written to a recording is read back, and any
 * other file is refused.
 *
 * The writer (cli/recfile) and the reader (sim/recording) share no code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_recording.h"
#include "rng.h"
#include "unit_test.h"

static void
expect_event(const struct sim_recorded *got, const struct sim_recorded *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->lock_kind, want->lock_kind);
    assert_int_equal(got->thread, want->thread);
    assert_int_equal(got->stack, want->stack);
    assert_int_equal(got->ticks, want->ticks);
    assert_int_equal(got->object, want->object);
    assert_int_equal(got->size_bytes, want->size_bytes);
    assert_int_equal(got->lock, want->lock);
    assert_int_equal(got->wait_ticks, want->wait_ticks);
    assert_int_equal(got->wait_failed, want->wait_failed);
}

static void
expect_tables(const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    static const uintptr_t want[4] = {0x1001, 0x1010, 0x1001, UINTPTR_MAX};
    struct sim_recorded_frame frame;
    uintptr_t pcs[4];
    uint32_t frames[2];
    int i;

    assert_int_equal(totals->start_ticks, 77);
    assert_int_equal(totals->process, 12);
    assert_int_equal(totals->parent, 11);
    assert_int_equal(totals->arguments, 3);
    assert_string_equal(sim_recording_argument(recording, 1), "");
    assert_string_equal(sim_recording_argument(recording, 2), "a b");
    assert_int_equal(sim_recording_thread(recording, 1), 900);
    assert_int_equal(totals->live, 1);
    assert_int_equal(totals->locks, 2);
    for (i = 0; i < (int)CLI_RECFILE_CAUSES; i++)
        assert_int_equal(totals->dropped[i], props_recording_dropped[i]);
    assert_int_equal(totals->stacks, 4);
    assert_int_equal(sim_recording_stack(recording, 2, frames, 2), 0);
    assert_int_equal(sim_recording_stack(recording, 3, frames, 2), 4);
    assert_int_equal(frames[0], 2);
    assert_int_equal(frames[1], 0);
    assert_int_equal(sim_recording_stack_pcs(recording, 3, pcs, 4), 4);
    assert_memory_equal(pcs, want, sizeof want);
    assert_true(sim_recording_find(recording, 0x1010, &frame));
    assert_string_equal(frame.function, "work");
    assert_int_equal(frame.function_offset, 7);
    assert_string_equal(frame.module, "/bin/prog");
    assert_string_equal(frame.file, "");
    assert_true(sim_recording_find(recording, UINTPTR_MAX, &frame));
    assert_string_equal(frame.module, "");
    assert_string_equal(frame.file, "prog.c");
    assert_int_equal(frame.line, UINT32_MAX);
    assert_false(sim_recording_find(recording, 0x1011, &frame));
}

TEST(what_is_written_is_read_whatever_the_blocks)
{
    static const size_t block_bytes[] = {0, 1, 10, 20};
    struct cli_recfile file;
    size_t i;
    size_t n;

    for (i = 0; i < 4; i++) {
        struct sim_recording *recording;
        struct sim_recording_cursor cursor;
        struct sim_recorded event;

        props_small_recording_write(&file, block_bytes[i]);
        recording = props_small_recording_read(file.bytes, file.bytes_count);
        expect_tables(recording);
        sim_recording_begin(recording, &cursor);
        for (n = 0; sim_recording_next(&cursor, &event); n++)
            expect_event(&event, &props_small_recording[n]);
        assert_int_equal(n, PROPS_SMALL_COUNT);
        sim_recording_close(recording);
        cli_recfile_release(&file);
    }
}

/* Each stack is written as its difference from the stack before. */
TEST(stacks_are_those_that_were_written)
{
    enum { STACKS = 300, DEPTH = 6 };
    struct sim_rng rng = {.state = sim_mix64(7)};
    const uint64_t dropped[CLI_RECFILE_CAUSES] = {0};
    const struct cli_recfile_about about = {.ticks_per_second = 1000000000,
                                            .depth_max = DEPTH};
    const struct cli_recfile_frame frames[] = {{.pc = 16}, {.pc = 32}};
    uint32_t stacks[STACKS][DEPTH];
    uint32_t depths[STACKS];
    struct sim_recording *recording;
    struct cli_recfile file;

    (void)state;
    cli_recfile_init(&file, 100);
    cli_recfile_about(&file, &about);
    cli_recfile_frame(&file, &frames[0]);
    cli_recfile_frame(&file, &frames[1]);
    for (int i = 0; i < STACKS; i++) {
        depths[i] = (uint32_t)(sim_rng_next(&rng) % (DEPTH + 1));
        for (uint32_t f = 0; f < depths[i]; f++)
            stacks[i][f] = (uint32_t)(sim_rng_next(&rng) % 2);
        cli_recfile_stack(&file, stacks[i], depths[i]);
    }
    cli_recfile_end(&file, dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    for (uint32_t i = 0; i < STACKS; i++) {
        uint32_t got[DEPTH];

        assert_int_equal(sim_recording_stack(recording, i, got, DEPTH),
                         depths[i]);
        assert_memory_equal(got, stacks[i], depths[i] * sizeof *got);
    }
    sim_recording_close(recording);
    cli_recfile_release(&file);
}

TEST(a_file_cut_anywhere_is_refused_with_an_offset)
{
    struct cli_recfile file;
    size_t count;

    props_small_recording_write(&file, 20);
    for (count = 0; count < file.bytes_count; count++) {
        struct sim_recording *recording;
        struct sim_recording_error error;

        if (sim_recording_parse(&recording, file.bytes, count, &error))
            fail_msg("%zu bytes of %zu pass", count, file.bytes_count);
        assert_null(recording);
        assert_true(error.has_offset);
        assert_true(error.offset_bytes <= count);
        assert_true(error.reason[0] != '\0');
    }
    cli_recfile_release(&file);
}

TEST(any_changed_byte_is_refused_with_an_offset)
{
    struct sim_rng rng = {.state = sim_mix64(20)};
    struct cli_recfile file;
    int round;

    (void)state;
    props_small_recording_write(&file, 20);
    for (round = 0; round < 100000; round++) {
        size_t at = (size_t)(sim_rng_next(&rng) % file.bytes_count);
        uint8_t flip = (uint8_t)(1 + sim_rng_next(&rng) % 255);
        struct sim_recording *recording;
        struct sim_recording_error error;

        file.bytes[at] ^= flip;
        if (sim_recording_parse(&recording, file.bytes, file.bytes_count,
                                &error))
            fail_msg("byte %zu changed by %02x passes", at, flip);
        assert_true(error.has_offset);
        assert_true(error.offset_bytes <= file.bytes_count);
        file.bytes[at] ^= flip;
    }
    sim_recording_close(
        props_small_recording_read(file.bytes, file.bytes_count));
    cli_recfile_release(&file);
}

TEST(what_is_no_recording_is_refused_in_one_line)
{
    static const struct {
        const char *path;
        const char *line;
    } rows[] = {
        {"/dev/zero", "/dev/zero: offset 0: not a recording"},
        {"/dev/null", "/dev/null: offset 0: not a recording"},
        {"/", "/: Is a directory"},
        {"/no/such/file", "/no/such/file: No such file or directory"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_recording *recording;
        struct sim_recording_error error;
        char line[200];

        assert_false(sim_recording_open(&recording, rows[i].path, &error));
        sim_recording_explain(&error, rows[i].path, line, sizeof line);
        assert_string_equal(line, rows[i].line);
    }
}

TEST(the_recording_in_fixtures_is_whole_and_named)
{
    static const char path[] = "fixtures/recordings/python-index.rec";
    struct sim_recording *recording;
    struct sim_recording_error error;
    const struct sim_recording_totals *totals;
    uint32_t named = 0;
    uint32_t i;

    assert_true(sim_recording_open(&recording, path, &error));
    props_small_recording_walk(recording);
    totals = sim_recording_totals(recording);
    assert_true(totals->allocs + totals->frees >= 50000);
    for (i = 0; i < SIM_RECORDED_CAUSE_COUNT; i++)
        assert_int_equal(totals->dropped[i], 0);
    for (i = 0; i < totals->frames; i++)
        named += strcmp(sim_recording_frame(recording, i).function,
                        "_PyEval_EvalFrameDefault") == 0;
    assert_true(named > 0);
    sim_recording_close(recording);
}

/* A longer text is cut, by the writer; the reader refuses it. */
TEST(a_text_has_at_most_65536_bytes)
{
    static const uint64_t dropped[CLI_RECFILE_CAUSES];
    static const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                                   .depth_max = 8};
    static const size_t lengths[] = {65535, 65536, 65537, 70000};
    static char text[70001];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t want = lengths[i] < 65536 ? lengths[i] : 65536;
        const struct cli_recfile_frame frame = {.pc = 0x1000, .function = 1};
        const uint32_t stack[] = {0};
        struct sim_recording *recording;
        struct sim_recorded_frame found;
        struct cli_recfile file;

        memset(text, 'a', sizeof text);
        text[lengths[i]] = '\0';
        cli_recfile_init(&file, 0);
        cli_recfile_about(&file, &about);
        cli_recfile_string(&file, text);
        cli_recfile_frame(&file, &frame);
        cli_recfile_stack(&file, stack, 1);
        cli_recfile_thread(&file, 1, "");
        cli_recfile_end(&file, dropped);
        recording = props_small_recording_read(file.bytes, file.bytes_count);
        cli_recfile_release(&file);
        found = sim_recording_frame(recording, 0);
        assert_int_equal(strlen(found.function), want);
        assert_memory_equal(found.function, text, want);
        sim_recording_close(recording);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
