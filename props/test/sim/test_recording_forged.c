/*
 * test_recording_forged.c -- recordings put together by hand.
 *
 * Independent of the writer and the reader: bytes and checksums follow from
 * docs/recording.md alone. Some files have right checksums but wrong records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_recording.h"
#include "rng.h"
#include "unit_test.h"

#define HEAD_BYTES 12u

/* The checksum of docs/recording.md (gzip's CRC), computed bit by bit,
 * continued from `crc`. */
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

/* Give every complete block its right checksum. */
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

/*
 * A recording written by hand: thread 5 allocates 200 zeroed bytes (208
 * usable), aligned to 64, at f in /m; they are resized to 9 (24 usable); a wait
 * for a semaphore that fails; a free.
 */
static const uint8_t document[] =
    "PROFREC\n\2\0\0\0"
    "A\x0d\0\0\0cccc\x80\x94\xeb\xdc\x03\x64\x05\x01\x07\x20\x01\x01p"
    "S\5\0\0\0cccc\x02/m\x01"
    "f"
    "M\x07\0\0\0cccc\x80\x20\x10\x00\x01\x01\xee"
    "F\x07\0\0\0cccc\x84\x40\x01\x02\x02\x00\x00"
    "K\3\0\0\0cccc\x00\x01\x00"
    "T\3\0\0\0cccc\x05\x01w"
    "E\x15\0\0\0cccc\xe1\x03\xc8\x01\x06\x08\x00\x85\x04\x01\x09\x0f\x00"
    "\x86\x00\x00\x02\x00\x02\x01\x01"
    "Z\x0f\0\0\0cccc\x01\x01\x01\0\x01\0\x08\0\0\0\0\0\0\0\0";

TEST(the_bytes_are_those_of_the_document)
{
    static const char *const arguments[] = {"p"};
    static const uint8_t id[1] = {0xee};
    static const uint32_t frames[1] = {0};
    static const uint64_t none[CLI_RECFILE_CAUSES];
    static const struct cli_recfile_request request = {true, true, 6, 208};
    struct cli_recfile_about about = {1000000000, 100, 7, 5,
                                      1,          32,  1, arguments};
    struct cli_recfile_module module = {0x1000, 16, 0, 1, id, 1};
    struct cli_recfile_frame frame = {0x1002, 1, 2, 2, 0, 0};
    struct cli_recfile file;
    uint8_t bytes[sizeof document - 1];

    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    cli_recfile_string(&file, "/m");
    cli_recfile_string(&file, "f");
    cli_recfile_module(&file, &module);
    cli_recfile_frame(&file, &frame);
    cli_recfile_stack(&file, frames, 1);
    cli_recfile_thread(&file, 5, "w");
    cli_recfile_alloc_as(&file, 0, 3, 200, &request, 0);
    cli_recfile_resize_usable(&file, 0, 7, 0, 9, 24, 0);
    cli_recfile_wait(&file, 0, 7, 4, true, 0, 2, 0);
    cli_recfile_free(&file, 0, 8, 0);
    cli_recfile_end(&file, none);

    memcpy(bytes, document, sizeof bytes);
    reseal(bytes, sizeof bytes);
    assert_int_equal(file.bytes_count, sizeof bytes);
    assert_memory_equal(file.bytes, bytes, sizeof bytes);
    cli_recfile_release(&file);
}

/* Earlier recorders had only seven causes of drops. */
TEST(a_recording_with_seven_causes_is_read)
{
    const size_t count = sizeof document - 2;
    uint8_t bytes[sizeof document - 1];
    struct sim_recording *recording;

    memcpy(bytes, document, sizeof bytes);
    bytes[count - 22] = 14; /* length of the payload */
    bytes[count - 8] = 7;   /* number of causes */
    reseal(bytes, count);
    recording = props_small_recording_read(bytes, count);
    assert_int_equal(
        sim_recording_totals(recording)->dropped[SIM_RECORDED_CHILDREN], 0);
    sim_recording_close(recording);
}

/* What the reader must find in the same bytes. */
TEST(the_events_are_those_of_the_document)
{
    uint8_t bytes[sizeof document - 1];
    struct sim_recording *recording;
    struct sim_recording_cursor cursor;
    struct sim_recorded events[5] = {{0}};
    int count = 0;

    memcpy(bytes, document, sizeof bytes);
    reseal(bytes, sizeof bytes);
    recording = props_small_recording_read(bytes, sizeof bytes);
    assert_int_equal(sim_recording_totals(recording)->forked_ticks, 7);
    assert_int_equal(sim_recording_totals(recording)->resizes, 1);
    assert_string_equal(sim_recording_thread_name(recording, 0), "w");
    sim_recording_begin(recording, &cursor);
    while (count < 5 && sim_recording_next(&cursor, &events[count]))
        count++;
    assert_int_equal(count, 4);
    assert_int_equal(events[0].alignment, 64);
    assert_true(events[0].zeroed);
    assert_int_equal(events[0].size_bytes, 200);
    assert_int_equal(events[0].usable_bytes, 208);
    assert_int_equal(events[1].kind, SIM_RECORDED_RESIZE);
    assert_int_equal(events[1].object, 0);
    assert_int_equal(events[1].size_bytes, 9);
    assert_int_equal(events[1].usable_bytes, 24);
    assert_int_equal(events[2].kind, SIM_RECORDED_WAIT);
    assert_int_equal(events[2].lock_kind, SIM_RECORDED_SEMAPHORE);
    assert_int_equal(events[2].wait_ticks, 2);
    assert_true(events[2].wait_failed);
    assert_int_equal(events[3].kind, SIM_RECORDED_FREE);
    sim_recording_close(recording);
}

/* A recording of version 1: thread 5 allocates 200 bytes at f in /m, and frees
 * them. */
TEST(version_1_is_read)
{
    static const uint8_t old[] =
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
    static const size_t first_event = sizeof old - 1 - 22 - 8;
    static const uint8_t newer[] = {0x05, 0x06, 0x21,
                                    0x41}; /* version 2's tags */
    uint8_t bytes[sizeof old - 1];
    struct sim_recording_error error;
    struct sim_recording *recording;

    memcpy(bytes, old, sizeof bytes);
    reseal(bytes, sizeof bytes);
    recording = props_small_recording_read(bytes, sizeof bytes);
    assert_int_equal(sim_recording_totals(recording)->allocs, 1);
    assert_int_equal(sim_recording_totals(recording)->frees, 1);
    assert_int_equal(sim_recording_totals(recording)->depth_max, 32);
    assert_string_equal(sim_recording_thread_name(recording, 0), "");
    sim_recording_close(recording);
    for (size_t i = 0; i < sizeof newer; i++) {
        bytes[first_event] = newer[i];
        reseal(bytes, sizeof bytes);
        assert_false(
            sim_recording_parse(&recording, bytes, sizeof bytes, &error));
        assert_string_equal(error.reason, "not an event");
        assert_int_equal(error.offset_bytes, first_event);
    }
}

/* The checksums are right, so only the records themselves can be refused. */
TEST(a_forged_file_is_refused_or_sound)
{
    struct sim_rng rng = {.state = sim_mix64(21)};
    struct cli_recfile file;
    uint8_t *bytes;
    uint32_t passed = 0;
    int round;

    (void)state;
    props_small_recording_write(&file, 30);
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
            props_small_recording_walk(recording);
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
    RESIZE_FREED,
    RESIZE_UNBORN,
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
    case RESIZE_FREED:
        cli_recfile_free(file, 0, 10, 0);
        cli_recfile_resize(file, 0, 11, 0, 8, 0);
        break;
    case RESIZE_UNBORN:
        cli_recfile_resize(file, 0, 10, 1, 8, 0);
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
        cli_recfile_thread(file, 1, "");
        break;
    case TWO_TOTALS:
        cli_recfile_end(file, props_recording_dropped);
        break;
    }
}

TEST(a_file_that_lies_is_refused_with_the_reason)
{
    static const struct {
        enum forgery forgery;
        const char *reason;
    } rows[] = {
        {FREE_TWICE, "free of an object that is not live"},
        {FREE_UNBORN, "not an event"},
        {RESIZE_FREED, "resize of an object that is not live"},
        {RESIZE_UNBORN, "not an event"},
        {STACK_UNKNOWN, "event with a stack not in the file"},
        {THREAD_UNKNOWN, "event of a thread not in the file"},
        {LOCK_AHEAD, "not an event"},
        {WAIT_TOO_LONG, "a wait that began before the start"},
        {CLOCK_OVERFLOWS, "the clock passes its end"},
        {TABLE_AFTER_EVENTS, "block out of order"},
        {TWO_TOTALS, "bytes behind the totals"},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli_recfile file;
        struct sim_recording *recording;
        struct sim_recording_error error;

        cli_recfile_init(&file, 0);
        props_small_recording_tables(&file);
        cli_recfile_alloc(&file, 0, 1, 8, 0);
        forge(&file, rows[i].forgery);
        cli_recfile_end(&file, props_recording_dropped);
        assert_false(sim_recording_parse(&recording, file.bytes,
                                         file.bytes_count, &error));
        assert_string_equal(error.reason, rows[i].reason);
        cli_recfile_release(&file);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
