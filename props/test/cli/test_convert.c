/*
 * test_convert.c -- from a spool to a recording: addresses become numbers, and
 * a log that a faulty program has overwritten is refused.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recfile.h"
#include "spool_case.h"
#include "rng.h"
#include "unit_test.h"

/* Write a spool with one record of each kind. */
static void
fill_spool(void)
{
    uint64_t wait[4] = {START + 60, 0xbeef, START + 20, 0};
    uint64_t release[3] = {START + 61, 0xbeef, 0};
    uint64_t stack;
    uint64_t other;

    spool_begin();
    spool_append_module();
    stack = spool_append_stack(0x5010, 3);
    other = spool_append_stack(0x9010, 2);
    spool_append_alloc(1, 0xa000, 10, stack);
    spool_append_alloc(2, 0xb000, 20, other);
    spool_append_free(EMBED_FREE, 3, 0xa000);
    spool_append_free(EMBED_CANCELLED, 4, 0xb000);
    spool_append_free(EMBED_FREE, 5, 0xdead); /* the block is not known */
    spool_append_alloc(6, 0xa000, 30, stack); /* the address is used again */
    spool_append_alloc(7, 0xb000, 40, stack); /* its free is missing */
    wait[3] = spool_append_stack(0x5010, 3);  /* written twice, but one stack */
    spool_append(EMBED_WAIT, 0x80 | EMBED_LOCK_WRITE, 0, wait, 4);
    release[2] = other;
    spool_append(EMBED_RELEASE, EMBED_LOCK_READ, 0, release, 3);
    atomic_store(&spool_header()->dropped[EMBED_DROP_INSIDE], 9);
}

/* Resizes overlap, two at a time. One has no end, and one no beginning. */
TEST(a_resize_keeps_its_object)
{
    static const struct {
        enum sim_recorded_kind kind;
        uint64_t ticks;
        uint64_t object;
        uint64_t size_bytes;
    } want[] = {
        {SIM_RECORDED_ALLOC, 1, 0, 10},  {SIM_RECORDED_ALLOC, 2, 1, 20},
        {SIM_RECORDED_ALLOC, 3, 2, 30},  {SIM_RECORDED_ALLOC, 6, 3, 5},
        {SIM_RECORDED_RESIZE, 7, 1, 21}, {SIM_RECORDED_RESIZE, 8, 0, 11},
        {SIM_RECORDED_FREE, 9, 0, 0},    {SIM_RECORDED_FREE, 9, 1, 0},
        {SIM_RECORDED_ALLOC, 11, 4, 6},
    };
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded event;
    uint64_t begun[2];
    uint64_t stack;
    char error[200];
    size_t count = 0;

    spool_begin();
    stack = spool_append_stack(0x5010, 3);
    spool_append_alloc(1, 0xa000, 10, stack);
    spool_append_alloc(2, 0xb000, 20, stack);
    spool_append_alloc(3, 0xc000, 30, stack);
    begun[0] = spool_append_free(EMBED_RESIZE, 4, 0xa000);
    begun[1] = spool_append_free(EMBED_RESIZE, 5, 0xb000);
    spool_append_alloc(6, 0xb000, 5,
                       stack); /* the old address is given out again */
    spool_append_resized(7, 0xb100, 21, begun[1], stack);
    spool_append_resized(8, 0xa000, 11, begun[0], stack);
    spool_append_free(EMBED_FREE, 9, 0xa000);
    spool_append_free(EMBED_FREE, 9, 0xb100);
    spool_append_free(EMBED_RESIZE, 10, 0xc000); /* cut off by the end */
    spool_append_resized(11, 0xd000, 6, 0, stack);
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        assert_true(count < sizeof want / sizeof *want);
        assert_int_equal(event.kind, want[count].kind);
        assert_int_equal(event.ticks, want[count].ticks);
        assert_int_equal(event.object, want[count].object);
        assert_int_equal(event.size_bytes, want[count].size_bytes);
        count++;
    }
    assert_int_equal(count, sizeof want / sizeof *want);
    assert_int_equal(what.events, count);
    assert_int_equal(spool_lost(&what), 0);
    sim_recording_close(recording);
}

static void
expect_events(uint64_t events)
{
    struct cli_converted what;
    char error[200];

    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(what.events, events);
}

/* The free of what was there is not in the log; it is put in. */
TEST(a_resize_ends_where_another_object_was)
{
    static const enum sim_recorded_kind kinds[] = {
        SIM_RECORDED_ALLOC, SIM_RECORDED_ALLOC, SIM_RECORDED_FREE,
        SIM_RECORDED_RESIZE, SIM_RECORDED_FREE};
    static const uint64_t objects[] = {0, 1, 1, 0, 0};
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct sim_recorded event;
    uint64_t stack;

    spool_begin();
    stack = spool_append_stack(0x5010, 3);
    spool_append_alloc(1, 0xa000, 10, stack);
    spool_append_alloc(2, 0xb000, 20, stack);
    spool_append_resized(4, 0xb000, 30,
                         spool_append_free(EMBED_RESIZE, 3, 0xa000), stack);
    spool_append_free(EMBED_FREE, 5, 0xb000);
    expect_events(5);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (size_t i = 0; i < 5; i++) {
        assert_true(sim_recording_next(&cursor, &event));
        assert_int_equal(event.kind, kinds[i]);
        assert_int_equal(event.object, objects[i]);
    }
    sim_recording_close(recording);
}

/* ---- a log that grows ---- */

static uint64_t grows_to; /* when tables are written; 0: never */

void __real_cli_recfile_thread(struct cli_recfile *file, uint64_t number,
                               const char *name);
void __wrap_cli_recfile_thread(struct cli_recfile *file, uint64_t number,
                               const char *name);

void
__wrap_cli_recfile_thread(struct cli_recfile *file, uint64_t number,
                          const char *name)
{
    if (grows_to != 0) {
        FILE *const log = fopen(spool_path_of("spool"), "r+b");

        assert_non_null(log);
        assert_int_equal(fseek(log,
                               offsetof(struct embed_spool_header, used_bytes),
                               SEEK_SET),
                         0);
        assert_int_equal(fwrite(&grows_to, sizeof grows_to, 1, log), 1);
        assert_int_equal(fclose(log), 0);
        grows_to = 0;
    }
    __real_cli_recfile_thread(file, number, name);
}

/* A process that still runs goes on logging; the recording has the events up to
 * one moment. */
TEST(what_is_logged_meanwhile_is_left_out)
{
    uint64_t before;
    uint64_t after;

    spool_begin();
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 3));
    before = atomic_load(&spool_header()->used_bytes);
    spool_append_alloc(2, 0xb000, 20, spool_append_stack(0x9010, 2));
    after = atomic_exchange(&spool_header()->used_bytes, before);
    grows_to = after;
    expect_events(1);
    assert_int_equal(grows_to, 0);
    atomic_store(&spool_header()->used_bytes, after);
    expect_events(2);
}

/* Append words as they are, since a short record has no separate head. */
static void
append_words(uint64_t first, uint64_t second, uint32_t words_count)
{
    const uint64_t words[] = {first, second};
    const uint64_t offset = atomic_load(&spool_header()->used_bytes);

    memcpy(spool + offset, words, 8 * (size_t)words_count);
    atomic_store(&spool_header()->used_bytes, offset + 8 * words_count);
}

/* Each field has its largest value, except for the thread. */
TEST(a_short_record_counts_on_from_the_one_before)
{
    enum { LAST_THREAD = 129, ALLOC = 64, FREE = 65 };
    static const uint64_t number[] = {78};
    const uint64_t address = UINT64_C(0xfffffffffff0);
    const uint64_t bytes = 0x3fff;
    const uint64_t passed = 0xffffff;
    const uint64_t place = ALLOC | LAST_THREAD << 8 | address / 16 << 20;
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded event;
    char error[200];
    uint64_t stack;

    spool_begin();
    for (uint32_t i = 1; i <= LAST_THREAD; i++)
        spool_append(EMBED_THREAD, 0, i, number, 1);
    stack = spool_append_stack(0x5010, 3);
    spool_append_free(EMBED_CANCELLED, 10, 0xb000);
    append_words(place, bytes | passed << 14 | stack / 8 << 38, 2);
    append_words(FREE | address / 16 << 20, 0, 1);
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    assert_true(sim_recording_next(&cursor, &event));
    assert_int_equal(event.kind, SIM_RECORDED_ALLOC);
    assert_int_equal(event.ticks, 10 + passed);
    assert_int_equal(event.thread, LAST_THREAD);
    assert_int_equal(event.size_bytes, bytes);
    assert_true(sim_recording_next(&cursor, &event));
    assert_int_equal(event.kind, SIM_RECORDED_FREE);
    assert_int_equal(event.ticks, 10 + passed);
    assert_int_equal(event.thread, 0);
    assert_int_equal(event.object, 0);
    assert_false(sim_recording_next(&cursor, &event));
    assert_int_equal(spool_lost(&what), 0);
    sim_recording_close(recording);
    append_words(ALLOC, 0, 1);
    assert_false(spool_convert(&what, error, sizeof error));
    assert_non_null(strstr(error, "a record reaches past the end"));
}

TEST(an_event_of_no_known_thread_is_refused)
{
    uint64_t words[2] = {START + 1, 0xa000};
    struct cli_converted what;
    char error[200];

    spool_begin();
    spool_append(EMBED_FREE, 0, 1, words, 2); /* thread 0 exists */
    assert_false(spool_convert(&what, error, sizeof error));
    assert_non_null(strstr(error, "an event of no known thread"));
}

TEST(addresses_become_numbers_and_losses_are_counted)
{
    static const struct {
        enum sim_recorded_kind kind;
        uint64_t ticks;
        uint64_t object;
        uint64_t size_bytes;
    } want[] = {
        {SIM_RECORDED_ALLOC, 1, 0, 10}, {SIM_RECORDED_ALLOC, 2, 1, 20},
        {SIM_RECORDED_FREE, 3, 0, 0},   {SIM_RECORDED_ALLOC, 6, 2, 30},
        {SIM_RECORDED_FREE, 7, 1, 0},   {SIM_RECORDED_ALLOC, 7, 3, 40},
        {SIM_RECORDED_WAIT, 60, 0, 0},  {SIM_RECORDED_RELEASE, 61, 0, 0},
    };
    struct cli_converted what;
    struct sim_recording *recording;
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    char error[200];
    size_t n;

    fill_spool();
    assert_true(spool_convert(&what, error, sizeof error));
    assert_int_equal(what.events, 8);
    assert_int_equal(what.stacks, 2);
    assert_int_equal(spool_lost(&what), 10);
    assert_string_equal(what.command, "run it");
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (n = 0; sim_recording_next(&cursor, &event); n++) {
        assert_int_equal(event.kind, want[n].kind);
        assert_int_equal(event.ticks, want[n].ticks);
        assert_int_equal(event.object, want[n].object);
        assert_int_equal(event.size_bytes, want[n].size_bytes);
        if (event.kind == SIM_RECORDED_WAIT) {
            assert_int_equal(event.wait_ticks, 40);
            assert_int_equal(event.lock_kind, SIM_RECORDED_WRITE);
            assert_true(event.wait_failed);
        }
    }
    assert_int_equal(n, 8);
    assert_int_equal(
        sim_recording_totals(recording)->dropped[SIM_RECORDED_UNKNOWN], 1);
    assert_int_equal(
        sim_recording_totals(recording)->dropped[SIM_RECORDED_MISSED], 1);
    sim_recording_close(recording);
}

/* Times and sizes on both sides of 32 bits. */
/* If a thread is named again, the last name counts; one that was never named
 * has none. */
TEST(each_thread_has_its_own_name)
{
    static const char names[3][16] = {"first", "second, longer", "later"};
    static const char *const want[] = {"later", "", "second, longer", ""};
    struct sim_recording *recording;
    struct cli_converted what;
    char error[200];

    spool_begin();
    for (uint32_t i = 1; i < 4; i++)
        spool_append(EMBED_THREAD, 0, i, (const uint64_t[]){42 + i}, 1);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t words[2];

        memcpy(words, names[i], sizeof words);
        spool_append(EMBED_NAME, 0, i == 1 ? 2 : 0, words, 2);
    }
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 1));
    assert_true(spool_convert(&what, error, sizeof error));
    recording = spool_open_result();
    assert_int_equal(sim_recording_totals(recording)->threads, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(sim_recording_thread_name(recording, i), want[i]);
    assert_int_equal(sim_recording_thread(recording, 3), 45);
    sim_recording_close(recording);
}

TEST(large_numbers_are_kept_whole)
{
    static const uint64_t values[] = {UINT32_MAX, UINT64_C(1) << 32,
                                      (UINT64_C(1) << 32) + 40,
                                      (UINT64_C(1) << 40) - 1};
    enum { VALUES = sizeof values / sizeof *values };
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded event;
    char error[200];
    uint64_t stack;

    spool_begin();
    stack = spool_append_stack(0x5010, 3);
    for (uint64_t i = 0; i < VALUES; i++) {
        const uint64_t ticks = (UINT64_C(1) << 41) + i;
        const uint64_t wait[4] = {START + ticks, 0xbeef,
                                  START + ticks - values[i], stack};

        spool_append_alloc(ticks, 0xa000 + 16 * i, values[i], stack);
        spool_append(EMBED_WAIT, EMBED_LOCK_MUTEX, 0, wait, 4);
    }
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (uint64_t i = 0; i < VALUES; i++) {
        assert_true(sim_recording_next(&cursor, &event));
        assert_int_equal(event.ticks, (UINT64_C(1) << 41) + i);
        assert_int_equal(event.size_bytes, values[i]);
        assert_true(sim_recording_next(&cursor, &event));
        assert_int_equal(event.wait_ticks, values[i]);
    }
    assert_false(sim_recording_next(&cursor, &event));
    sim_recording_close(recording);
}

static void
expect_first_frame(const struct sim_recording *recording, uint32_t stack,
                   const char *function)
{
    uint32_t number;

    assert_true(sim_recording_stack(recording, stack, &number, 1) > 0);
    assert_string_equal(sim_recording_frame(recording, number).function,
                        function);
}

/* Five modules at one address, one after the other; then the second one
 * again. */
TEST(each_module_at_a_place_has_its_own_names)
{
    static const char *const files[] = {"/no/a", "/no/b", "/no/c",
                                        "/no/d", "/no/e", "/no/b"};
    enum { FILES = sizeof files / sizeof *files };
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded event;
    char error[200];

    spool_begin();
    for (uint64_t i = 0; i < FILES; i++) {
        const uint64_t unload = START + i;

        spool_append_alloc(i, 0xa000 + 16 * i, 1,
                           spool_append_stack(0x5010, 1));
        spool_append_module_of(files[i]);
        spool_append(EMBED_UNLOAD, 0, 0, &unload, 1);
    }
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (uint64_t i = 0; i < FILES; i++) {
        char function[32];

        assert_true(sim_recording_next(&cursor, &event));
        snprintf(function, sizeof function, "%s+0x210", files[i] + 4);
        expect_first_frame(recording, event.stack, function);
    }
    sim_recording_close(recording);
}

TEST(a_pc_without_a_symbol_is_named_by_its_place)
{
    struct cli_converted what;
    struct sim_recording *recording;
    struct sim_recorded_frame frame;
    char error[200];

    fill_spool();
    assert_true(spool_convert(&what, error, sizeof error));
    recording = spool_open_result();
    /* The module is mapped at 0x5000 from file offset 0x200. */
    assert_true(sim_recording_find(recording, 0x5010, &frame));
    assert_string_equal(frame.function, "file+0x210");
    assert_string_equal(frame.module, "/no/file");
    assert_true(sim_recording_find(recording, 0x9010, &frame));
    assert_string_equal(frame.function, "0x9010");
    assert_string_equal(frame.module, "");
    sim_recording_close(recording);
}

/* The module's path is a pipe to which nobody writes. */
TEST(a_module_that_is_no_file_has_no_names)
{
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded_frame frame;
    char error[200];
    char pipe[96];

    snprintf(pipe, sizeof pipe, "%s", spool_path_of("pipe"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    spool_begin();
    spool_append_module_of(pipe);
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 1));
    alarm(20);
    assert_true(spool_convert(&what, error, sizeof error));
    alarm(0);
    recording = spool_open_result();
    assert_true(sim_recording_find(recording, 0x5010, &frame));
    assert_string_equal(frame.function, "pipe+0x210");
    sim_recording_close(recording);
    assert_int_equal(unlink(pipe), 0);
}

TEST(a_spool_written_over_is_refused_or_gives_a_sound_recording)
{
    struct sim_rng rng = {.state = sim_mix64(30)};
    struct cli_converted what;
    char error[200];
    uint32_t refused = 0;
    int round;

    (void)state;
    for (round = 0; round < 2000; round++) {
        uint64_t used;
        int changes;

        fill_spool();
        used = atomic_load(&spool_header()->used_bytes) - EMBED_SPOOL_FIRST;
        for (changes = 0; changes < 2; changes++)
            spool[EMBED_SPOOL_FIRST + sim_rng_next(&rng) % used] =
                (uint8_t)sim_rng_next(&rng);
        spool[sim_rng_next(&rng) % 128] = (uint8_t)sim_rng_next(&rng);
        if (!spool_convert(&what, error, sizeof error)) {
            refused++;
            assert_true(error[0] != '\0');
            assert_int_not_equal(access(spool_path_of("x.rec"), F_OK), 0);
        } else {
            sim_recording_close(spool_open_result());
        }
    }
    assert_in_range(refused, 100, 1900);
}

int
main(void)
{
    return tests_run(spool_make_folder, spool_remove_folder);
}
