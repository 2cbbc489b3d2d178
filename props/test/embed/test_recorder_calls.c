/*
 * test_recorder_calls.c -- what version 2 of recordings adds: resized objects,
 * how an object was requested (zeroed, aligned), timed waits, names, forks.
 *
 * usage: test_recorder_calls PROFSIM RECORDER FOLDER-OF-PROGRAMS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "live_heap.h"
#include "recording.h"
#include "unit_test.h"

static char **words; /* arguments of the command line */
static struct sim_recording *parent;
static struct sim_recording *child;

static struct sim_recording *
open_recording(const char *name)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    char path[64];
    char line[200];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (sim_recording_open(&recording, path, &error))
        return recording;
    sim_recording_explain(&error, path, line, sizeof line);
    print_error("%s\n", line);
    return NULL;
}

/* returns: the object that was allocated with `size_bytes` bytes */
static uint64_t
object_of(const struct sim_recording *recording, uint64_t size_bytes,
          struct sim_recorded *event)
{
    struct sim_recording_cursor cursor;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, event))
        if (event->kind == SIM_RECORDED_ALLOC &&
            event->size_bytes == size_bytes)
            return event->object;
    fail_msg("no object of %llu bytes", (unsigned long long)size_bytes);
    return 0;
}

/* List what became of an object: its sizes, 0 for its free. returns: how
 * many */
static size_t
fate_of(uint64_t object, uint64_t *sizes_bytes, size_t room)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    size_t count = 0;

    sim_recording_begin(parent, &cursor);
    while (sim_recording_next(&cursor, &event) && count < room)
        if (event.kind <= SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE) {
            if (event.object == object)
                sizes_bytes[count++] = event.size_bytes;
        }
    return count;
}

TEST(an_object_that_is_resized_stays_the_same)
{
    static const uint64_t want[] = {1234567, 2345678, 3456789, 45, 0};
    struct sim_recorded event;
    uint64_t sizes_bytes[8];

    assert_int_equal(
        fate_of(object_of(parent, 1234567, &event), sizes_bytes, 8), 5);
    assert_memory_equal(sizes_bytes, want, sizeof want);
    /* Resized to 0 bytes: freed. */
    assert_int_equal(
        fate_of(object_of(parent, 7654321, &event), sizes_bytes, 8), 2);
    assert_int_equal(sizes_bytes[1], 0);
}

/* The object lives for 30 ms. The clock of frees lags by up to two of its
 * ticks, so at least 10 ms must show. */
TEST(a_free_has_a_time_of_its_own)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded born;
    struct sim_recorded event;
    const uint64_t object = object_of(parent, 424240, &born);

    sim_recording_begin(parent, &cursor);
    while (sim_recording_next(&cursor, &event))
        if (event.kind == SIM_RECORDED_FREE && event.object == object)
            break;
    assert_int_equal(event.kind, SIM_RECORDED_FREE);
    assert_int_equal(event.object, object);
    assert_true(event.ticks - born.ticks >= 10000000);
}

/* At the peak two objects are live, of 7654321 and 3456789 bytes. While an
 * object is resized, its old and new bytes are never counted together. */
TEST(the_peak_has_an_object_once)
{
    struct sim_live_heap heap;

    assert_true(sim_live_heap_open(&heap, parent, NULL));
    assert_in_range(heap.total.peak.bytes, 7654321 + 3456789,
                    7654321 + 3456789 + 200000);
    sim_live_heap_close(&heap);
}

/* For the simulated collector a resized object is a new one. */
TEST(its_replay_holds)
{
    char command[256];

    snprintf(command, sizeof command, "'%s' check %s/x.rec >>%s/log", words[1],
             folder, folder);
    assert_int_equal(system(command), 0);
}

/* Check that each allocation of this size is by this function, and that all
 * have the same frame.
 *
 * returns: how deep their stacks are */
static uint32_t
expect_allocator(const struct sim_recording *recording, uint64_t size_bytes,
                 const char *function, const char *module)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint32_t first_frame = UINT32_MAX;
    uint32_t depth = 0;
    int count = 0;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        struct sim_recorded_frame frame;
        uint32_t number;

        if (event.kind != SIM_RECORDED_ALLOC || event.size_bytes != size_bytes)
            continue;
        depth = sim_recording_stack(recording, event.stack, &number, 1);
        assert_true(depth > 0);
        frame = sim_recording_frame(recording, number);
        assert_string_equal(frame.function, function);
        assert_non_null(strstr(frame.module, module));
        assert_true(first_frame == UINT32_MAX || first_frame == number);
        first_frame = number;
        count++;
    }
    assert_int_equal(count, 10);
    return depth;
}

/* A library that is mapped at two places is two modules. */
static void
expect_asked_by_both(const struct sim_recording *recording)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    int count = 0;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        uint32_t numbers[2];

        if (event.kind != SIM_RECORDED_ALLOC || event.size_bytes != 3003)
            continue;
        assert_true(sim_recording_stack(recording, event.stack, numbers, 2) >=
                    2);
        assert_string_equal(sim_recording_frame(recording, numbers[1]).function,
                            "first_asks");
        count++;
    }
    assert_int_equal(count, 2);
}

TEST(a_library_in_place_of_another_has_its_own_names)
{
    struct sim_recording *recording;
    char command[1024];
    uint32_t depth;

    snprintf(command, sizeof command,
             "timeout 60 '%s' record -o %s/u.rec -- '%s/unloading_program' "
             "'%s/unloaded_first.so' '%s/unloaded_second.so' 2>>%s/log",
             words[1], folder, words[3], words[3], words[3], folder);
    assert_int_equal(system(command), 0);
    recording = open_recording("u.rec");
    assert_non_null(recording);
    depth = expect_allocator(recording, 1001, "first_allocates",
                             "unloaded_first.so");
    assert_true(depth > 2);
    /* The second library's function has a larger frame at the same address. */
    assert_int_equal(expect_allocator(recording, 2002, "second_allocates",
                                      "unloaded_second.so"),
                     depth);
    expect_asked_by_both(recording);
    sim_recording_close(recording);
}

TEST(how_it_was_asked_for_is_kept)
{
    struct sim_recorded event;

    object_of(parent, 777777, &event);
    assert_true(event.zeroed);
    assert_int_equal(event.alignment, 0);
    object_of(parent, 888832, &event);
    assert_false(event.zeroed);
    assert_int_equal(event.alignment, 4096);
    object_of(parent, 999999, &event);
    assert_int_equal(event.alignment, 64);
    object_of(parent, 11110, &event);
    assert_true(event.zeroed);
    assert_int_equal(event.alignment, 0);
    object_of(parent, 11136, &event);
    assert_false(event.zeroed);
    assert_int_equal(event.alignment, 64);
    object_of(parent, 1234567, &event);
    assert_false(event.zeroed);
    assert_int_equal(event.alignment, 0);
}

/* Usable sizes are recorded only with the option for it; they are those that
 * the program printed. */
TEST(usable_bytes_are_kept_if_asked_for)
{
    struct sim_recording *recording;
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    char command[512];
    char said[32];
    char path[64];
    FILE *file;
    int count = 0;

    snprintf(command, sizeof command,
             "timeout 60 '%s' record --usable -o %s/m.rec -- "
             "'%s/recorded_calls' usable >%s/said 2>>%s/log",
             words[1], folder, words[3], folder, folder);
    assert_int_equal(system(command), 0);
    recording = open_recording("m.rec");
    assert_non_null(recording);
    snprintf(path, sizeof path, "%s/said", folder);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(said, sizeof said, file) != NULL) {
        const uint64_t bytes = strtoull(said, NULL, 10);

        sim_recording_begin(recording, &cursor);
        while (sim_recording_next(&cursor, &event))
            if (event.size_bytes == bytes && event.kind != SIM_RECORDED_FREE)
                break;
        assert_int_equal(event.size_bytes, bytes);
        assert_int_equal(event.usable_bytes,
                         strtoull(strchr(said, ' '), NULL, 10));
        count++;
    }
    assert_int_equal(count, 4);
    fclose(file);
    sim_recording_close(recording);
    object_of(parent, 1234567, &event);
    assert_int_equal(event.usable_bytes, 0);
}

TEST(waits_with_an_end_are_waits)
{
    static const struct {
        enum sim_recorded_lock kind;
        bool failed;
    } want[] = {
        {SIM_RECORDED_MUTEX, true},      {SIM_RECORDED_MUTEX, true},
        {SIM_RECORDED_READ, true},       {SIM_RECORDED_READ, true},
        {SIM_RECORDED_WRITE, true},      {SIM_RECORDED_WRITE, true},
        {SIM_RECORDED_SEMAPHORE, true},  {SIM_RECORDED_SEMAPHORE, true},
        {SIM_RECORDED_SEMAPHORE, false},
    };
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    size_t count = 0;

    sim_recording_begin(parent, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind != SIM_RECORDED_WAIT ||
            strcmp(sim_recording_thread_name(parent, event.thread),
                   "waits a lot") != 0)
            continue;
        assert_true(count < sizeof want / sizeof *want);
        assert_int_equal(event.lock_kind, want[count].kind);
        assert_int_equal(event.wait_failed, want[count].failed);
        assert_true(event.wait_ticks > 1000000);
        count++;
    }
    assert_int_equal(count, sizeof want / sizeof *want);
}

/* A release is recorded only if a thread waits: it must lie within a wait for
 * its lock. */
TEST(a_release_is_one_that_somebody_waits_for)
{
    struct sim_recording_cursor releases;
    struct sim_recorded released;

    sim_recording_begin(parent, &releases);
    while (sim_recording_next(&releases, &released)) {
        struct sim_recording_cursor waits;
        struct sim_recorded wait;
        bool found = false;

        if (released.kind != SIM_RECORDED_RELEASE)
            continue;
        sim_recording_begin(parent, &waits);
        while (!found && sim_recording_next(&waits, &wait))
            found = wait.kind == SIM_RECORDED_WAIT &&
                    wait.lock == released.lock &&
                    wait.ticks - wait.wait_ticks <= released.ticks &&
                    wait.ticks >= released.ticks;
        assert_true(found);
    }
}

TEST(threads_have_their_names)
{
    assert_int_equal(sim_recording_totals(parent)->threads, 2);
    assert_string_equal(sim_recording_thread_name(parent, 0), "named by prctl");
    assert_string_equal(sim_recording_thread_name(parent, 1), "waits a lot");
}

TEST(a_child_knows_when_it_was_forked)
{
    const struct sim_recording_totals *const before =
        sim_recording_totals(parent);
    const struct sim_recording_totals *const after =
        sim_recording_totals(child);
    struct sim_recorded event;

    assert_int_equal(before->forked_ticks, 0);
    assert_true(after->forked_ticks > before->start_ticks);
    assert_true(after->forked_ticks <= after->start_ticks);
    assert_true(after->forked_ticks - before->start_ticks <
                before->duration_ticks);
    object_of(child, 555555, &event);
    /* The parent's wait does not count in the child, which waits once
     * itself. */
    assert_int_equal(after->waits, 1);
    assert_int_equal(after->dropped[SIM_RECORDED_INSIDE], 1);
}

static int
record(void **state)
{
    char command[1024];

    if (folder_make(state) != 0)
        return -1;
    setenv("PROFSIM_RECORDER", words[2], 1);
    snprintf(
        command, sizeof command,
        "timeout 60 '%s' record -o %s/x.rec -- '%s/recorded_calls' 2>%s/log",
        words[1], folder, words[3], folder);
    if (system(command) != 0)
        return -1;
    parent = open_recording("x.rec");
    child = open_recording("x.rec.2");
    return parent != NULL && child != NULL ? 0 : -1;
}

static int
clear(void **state)
{
    sim_recording_close(parent);
    sim_recording_close(child);
    return folder_clear(state);
}

int
main(int argc, char **argv)
{
    char *recorder;

    if (argc != 4 || (recorder = realpath(argv[2], NULL)) == NULL)
        return 1;
    argv[2] = recorder;
    words = argv;
    return tests_run(record, clear);
}
