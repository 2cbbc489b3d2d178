/*
 * test_recording.c -- recordings: what is written is read, and nothing else is.
 *
 * Writer (cli/recfile) and reader (sim/recording) share no code. A third voice
 * is here: a file put together by hand from docs/recording.md, with a checksum
 * of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "recfile.h"
#include "recording.h"
#include "rng.h"

#define HEAD_BYTES 12u

static const uint64_t dropped[CLI_RECFILE_CAUSES] = {1, 2, 3, 4, 5, 6, 7};

/* Docs: as gzip does it, going on from the checksum before. Bit by bit. */
static uint32_t
checksum(uint32_t crc, const uint8_t *bytes, size_t count)
{
    size_t i;
    int bit;

    crc ^= 0xffffffffu;
    for (i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (bit = 0; bit < 8; bit++)
            crc = (crc & 1u) != 0 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    return crc ^ 0xffffffffu;
}

static size_t
payload_bytes(const uint8_t *head)
{
    return head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 |
           (size_t)head[4] << 24;
}

/* Give every whole block the checksum that belongs to it. */
static void
reseal(uint8_t *bytes, size_t count)
{
    size_t at = HEAD_BYTES;
    uint32_t crc = 0;

    while (at + 9 <= count && payload_bytes(bytes + at) <= count - at - 9) {
        size_t payload = payload_bytes(bytes + at);
        int i;

        crc = checksum(crc, bytes + at, 5);
        crc = checksum(crc, bytes + at + 9, payload);
        for (i = 0; i < 4; i++)
            bytes[at + 5 + (size_t)i] = (uint8_t)(crc >> 8 * i);
        at += 9 + payload;
    }
}

static void
write_tables(struct cli_recfile *file)
{
    static const char *const arguments[] = {"prog", "", "a b"};
    static const uint8_t id[3] = {9, 0, 255};
    struct cli_recfile_about about = {.ticks_per_second = 1000000000,
                                      .start_ticks = 77,
                                      .process = 12,
                                      .parent = 11,
                                      .depth_max = 4,
                                      .arguments_count = 3,
                                      .arguments = arguments};
    struct cli_recfile_module module = {.start = 0x1000,
                                        .length_bytes = 0x500,
                                        .offset = 64,
                                        .path = 2,
                                        .id = id,
                                        .id_bytes = 3};
    struct cli_recfile_frame frames[3] = {
        {.pc = 0x1010, .module = 1, .function = 1, .function_offset = 7},
        {.pc = UINT64_MAX, .file = 3, .line = UINT32_MAX},
        {.pc = 0x1001, .module = 1},
    };
    static const uint32_t stacks[3][4] = {{0, 1}, {2, 1}, {2, 0, 2, 1}};
    int i;

    cli_recfile_about(file, &about);
    cli_recfile_string(file, "work");
    cli_recfile_string(file, "/bin/prog");
    cli_recfile_string(file, "prog.c");
    cli_recfile_module(file, &module);
    for (i = 0; i < 3; i++)
        cli_recfile_frame(file, &frames[i]);
    cli_recfile_stack(file, stacks[0], 2);
    cli_recfile_stack(file, stacks[1], 2);
    cli_recfile_stack(file, stacks[0], 0);
    cli_recfile_stack(file, stacks[2], 4);
    cli_recfile_thread(file, 12);
    cli_recfile_thread(file, 900);
}

static const struct sim_recorded story[] = {
    {.kind = SIM_RECORDED_ALLOC, .ticks = 0, .size_bytes = UINT64_MAX},
    {.kind = SIM_RECORDED_ALLOC,
     .thread = 1,
     .ticks = 5,
     .stack = 3,
     .object = 1},
    {.kind = SIM_RECORDED_WAIT,
     .thread = 1,
     .ticks = 900,
     .stack = 1,
     .lock_kind = SIM_RECORDED_COND,
     .wait_ticks = 900,
     .wait_failed = true},
    {.kind = SIM_RECORDED_RELEASE, .ticks = 900, .lock = 1, .stack = 2},
    {.kind = SIM_RECORDED_RELEASE,
     .ticks = 901,
     .stack = 2,
     .lock_kind = SIM_RECORDED_READ},
    {.kind = SIM_RECORDED_WAIT,
     .ticks = 902,
     .lock = 1,
     .lock_kind = SIM_RECORDED_WRITE},
    {.kind = SIM_RECORDED_FREE, .ticks = 1000, .object = 1},
    {.kind = SIM_RECORDED_ALLOC,
     .ticks = UINT64_MAX - 77,
     .size_bytes = 300,
     .stack = 1,
     .object = 2},
    {.kind = SIM_RECORDED_FREE, .thread = 1, .ticks = UINT64_MAX - 77},
};
#define STORY_COUNT (sizeof story / sizeof *story)

static void
write_event(struct cli_recfile *file, const struct sim_recorded *event)
{
    switch (event->kind) {
    case SIM_RECORDED_ALLOC:
        cli_recfile_alloc(file, event->thread, event->ticks, event->size_bytes,
                          event->stack);
        break;
    case SIM_RECORDED_FREE:
        cli_recfile_free(file, event->thread, event->ticks, event->object);
        break;
    case SIM_RECORDED_WAIT:
        cli_recfile_wait(file, event->thread, event->ticks,
                         (uint32_t)event->lock_kind, event->wait_failed,
                         event->lock, event->wait_ticks, event->stack);
        break;
    case SIM_RECORDED_RELEASE:
        cli_recfile_release_of(file, event->thread, event->ticks,
                               (uint32_t)event->lock_kind, event->lock,
                               event->stack);
        break;
    }
}

static void
write_story(struct cli_recfile *file, size_t block_bytes)
{
    size_t i;

    cli_recfile_init(file, block_bytes);
    write_tables(file);
    for (i = 0; i < STORY_COUNT; i++)
        write_event(file, &story[i]);
    cli_recfile_end(file, dropped);
    assert_false(file->failed);
}

static struct sim_recording *
read_good(const uint8_t *bytes, size_t count)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    char line[200];

    if (sim_recording_parse(&recording, bytes, count, &error))
        return recording;
    sim_recording_explain(&error, "file", line, sizeof line);
    fail_msg("%s", line);
    return NULL;
}

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
        assert_int_equal(totals->dropped[i], dropped[i]);
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

static void
what_is_written_is_read_whatever_the_blocks(void **state)
{
    static const size_t block_bytes[] = {0, 1, 10, 20};
    struct cli_recfile file;
    size_t i;
    size_t n;

    (void)state;
    for (i = 0; i < 4; i++) {
        struct sim_recording *recording;
        struct sim_recording_cursor cursor;
        struct sim_recorded event;

        write_story(&file, block_bytes[i]);
        recording = read_good(file.bytes, file.bytes_count);
        expect_tables(recording);
        sim_recording_begin(recording, &cursor);
        for (n = 0; sim_recording_next(&cursor, &event); n++)
            expect_event(&event, &story[n]);
        assert_int_equal(n, STORY_COUNT);
        sim_recording_close(recording);
        cli_recfile_release(&file);
    }
}

/* One allocation of 200 bytes by thread 5, at f in /m, then its free. */
static void
the_bytes_are_those_of_the_document(void **state)
{
    static const uint8_t want[] =
        "PROFREC\n\1\0\0\0"
        "A\x0c\0\0\0cccc\x80\x94\xeb\xdc\x03\x64\x05\x01\x20\x01\x01p"
        "S\5\0\0\0cccc\x02/m\x01"
        "f"
        "M\x07\0\0\0cccc\x80\x20\x10\x00\x01\x01\xee"
        "F\x07\0\0\0cccc\x84\x40\x01\x02\x02\x00\x00"
        "K\3\0\0\0cccc\x00\x01\x00"
        "T\1\0\0\0cccc\x05"
        "E\x08\0\0\0cccc\x01\x03\xc8\x01\x00\x02\x04\x01"
        "Z\x0d\0\0\0cccc\x01\x01\0\0\0\x07\0\0\0\0\0\0\0";
    static const char *const arguments[] = {"p"};
    static const uint8_t id[1] = {0xee};
    static const uint32_t frames[1] = {0};
    static const uint64_t none[CLI_RECFILE_CAUSES];
    struct cli_recfile_about about = {1000000000, 100, 5, 1, 32, 1, arguments};
    struct cli_recfile_module module = {0x1000, 16, 0, 1, id, 1};
    struct cli_recfile_frame frame = {0x1002, 1, 2, 2, 0, 0};
    struct cli_recfile file;
    uint8_t bytes[sizeof want - 1];

    (void)state;
    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    cli_recfile_string(&file, "/m");
    cli_recfile_string(&file, "f");
    cli_recfile_module(&file, &module);
    cli_recfile_frame(&file, &frame);
    cli_recfile_stack(&file, frames, 1);
    cli_recfile_thread(&file, 5);
    cli_recfile_alloc(&file, 0, 3, 200, 0);
    cli_recfile_free(&file, 0, 7, 0);
    cli_recfile_end(&file, none);

    memcpy(bytes, want, sizeof bytes);
    reseal(bytes, sizeof bytes);
    sim_recording_close(read_good(bytes, sizeof bytes));
    assert_int_equal(file.bytes_count, sizeof bytes);
    assert_memory_equal(file.bytes, bytes, sizeof bytes);
    cli_recfile_release(&file);
}

static void
a_file_cut_anywhere_is_refused_with_an_offset(void **state)
{
    struct cli_recfile file;
    size_t count;

    (void)state;
    write_story(&file, 20);
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

static void
any_changed_byte_is_refused_with_an_offset(void **state)
{
    struct sim_rng rng = {.state = sim_mix64(20)};
    struct cli_recfile file;
    int round;

    (void)state;
    write_story(&file, 20);
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
    sim_recording_close(read_good(file.bytes, file.bytes_count));
    cli_recfile_release(&file);
}

/* Walk all of a recording that passed: its numbers are in range then. */
static void
walk(const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint64_t events = 0;
    uint32_t i;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        events++;
        assert_true(event.stack == 0 || event.stack < totals->stacks);
        assert_true(event.thread < totals->threads);
        assert_true(event.object <= totals->allocs);
    }
    assert_int_equal(events, totals->allocs + totals->frees + totals->waits +
                                 totals->releases);
    for (i = 0; i < totals->stacks; i++)
        assert_true(
            sim_recording_stack(recording, i, frames, SIM_RECORDED_DEPTH_MAX) <=
            totals->depth_max);
    for (i = 0; i < totals->frames; i++)
        assert_non_null(sim_recording_frame(recording, i).function);
}

/* With good checksums the records themselves are what stands in the way. */
static void
a_forged_file_is_refused_or_sound(void **state)
{
    struct sim_rng rng = {.state = sim_mix64(21)};
    struct cli_recfile file;
    uint8_t *bytes;
    uint32_t passed = 0;
    int round;

    (void)state;
    write_story(&file, 30);
    bytes = malloc(file.bytes_count);
    assert_non_null(bytes);
    for (round = 0; round < 50000; round++) {
        struct sim_recording *recording;
        struct sim_recording_error error;
        uint64_t changes = 1 + sim_rng_next(&rng) % 3;

        memcpy(bytes, file.bytes, file.bytes_count);
        for (; changes > 0; changes--)
            bytes[sim_rng_next(&rng) % file.bytes_count] =
                (uint8_t)sim_rng_next(&rng);
        reseal(bytes, file.bytes_count);
        if (sim_recording_parse(&recording, bytes, file.bytes_count, &error)) {
            passed++;
            walk(recording);
            sim_recording_close(recording);
        }
    }
    assert_true(passed > 100);
    free(bytes);
    cli_recfile_release(&file);
}

enum forgery {
    FREE_TWICE,
    FREE_UNBORN,
    STACK_UNKNOWN,
    THREAD_UNKNOWN,
    LOCK_AHEAD,
    WAIT_TOO_LONG,
    CLOCK_OVERFLOWS,
    TABLE_AFTER_EVENTS,
    TWO_TOTALS,
};

static void
forge(struct cli_recfile *file, enum forgery forgery)
{
    switch (forgery) {
    case FREE_TWICE:
        cli_recfile_free(file, 0, 10, 0);
        cli_recfile_free(file, 0, 11, 0);
        break;
    case FREE_UNBORN:
        cli_recfile_free(file, 0, 10, 1);
        break;
    case STACK_UNKNOWN:
        cli_recfile_alloc(file, 0, 10, 8, 4);
        break;
    case THREAD_UNKNOWN:
        cli_recfile_alloc(file, 2, 10, 8, 0);
        break;
    case LOCK_AHEAD:
        cli_recfile_wait(file, 0, 10, 0, false, 1, 0, 0);
        break;
    case WAIT_TOO_LONG:
        cli_recfile_wait(file, 0, 10, 0, false, 0, 11, 0);
        break;
    case CLOCK_OVERFLOWS:
        cli_recfile_alloc(file, 0, UINT64_MAX - 76, 8, 0);
        break;
    case TABLE_AFTER_EVENTS:
        cli_recfile_thread(file, 1);
        break;
    case TWO_TOTALS:
        cli_recfile_end(file, dropped);
        break;
    }
}

static void
a_file_that_lies_is_refused_with_the_reason(void **state)
{
    static const struct {
        enum forgery forgery;
        const char *reason;
    } rows[] = {
        {FREE_TWICE, "free of an object that is not live"},
        {FREE_UNBORN, "not an event"},
        {STACK_UNKNOWN, "event with a stack not in the file"},
        {THREAD_UNKNOWN, "event of a thread not in the file"},
        {LOCK_AHEAD, "not an event"},
        {WAIT_TOO_LONG, "a wait that began before the start"},
        {CLOCK_OVERFLOWS, "the clock passes its end"},
        {TABLE_AFTER_EVENTS, "block out of order"},
        {TWO_TOTALS, "bytes behind the totals"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli_recfile file;
        struct sim_recording *recording;
        struct sim_recording_error error;

        cli_recfile_init(&file, 0);
        write_tables(&file);
        cli_recfile_alloc(&file, 0, 1, 8, 0);
        forge(&file, rows[i].forgery);
        cli_recfile_end(&file, dropped);
        assert_false(sim_recording_parse(&recording, file.bytes,
                                         file.bytes_count, &error));
        assert_string_equal(error.reason, rows[i].reason);
        cli_recfile_release(&file);
    }
}

static void
what_is_no_recording_is_refused_in_one_line(void **state)
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

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_recording *recording;
        struct sim_recording_error error;
        char line[200];

        assert_false(sim_recording_open(&recording, rows[i].path, &error));
        sim_recording_explain(&error, rows[i].path, line, sizeof line);
        assert_string_equal(line, rows[i].line);
    }
}

static void
the_recording_in_fixtures_is_whole_and_named(void **state)
{
    static const char path[] = "fixtures/recordings/python-index.rec";
    struct sim_recording *recording;
    struct sim_recording_error error;
    const struct sim_recording_totals *totals;
    uint32_t named = 0;
    uint32_t i;

    (void)state;
    assert_true(sim_recording_open(&recording, path, &error));
    walk(recording);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_whatever_the_blocks),
        cmocka_unit_test(the_bytes_are_those_of_the_document),
        cmocka_unit_test(a_file_cut_anywhere_is_refused_with_an_offset),
        cmocka_unit_test(any_changed_byte_is_refused_with_an_offset),
        cmocka_unit_test(a_forged_file_is_refused_or_sound),
        cmocka_unit_test(a_file_that_lies_is_refused_with_the_reason),
        cmocka_unit_test(what_is_no_recording_is_refused_in_one_line),
        cmocka_unit_test(the_recording_in_fixtures_is_whole_and_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
