/*
 * test_pprof_sink.c -- an output that fails is reported, at whatever byte it
 * does, and nothing is written after it (P4): golang/go#73107 loses it. Memory
 * that is too small, full disks, interrupted writes, files that stay whole.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "pprof_case.h"
#include "pprof_writers.h"
#include "prof/file.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

/* ---- the sinks ---- */

/* Takes bytes up to a limit, counts what comes after its refusal. */
struct failing {
    size_t limit;
    size_t taken;
    size_t refused;
    size_t calls_after;
};

static enum prof_status
take_until(void *context, const void *bytes, size_t bytes_count)
{
    struct failing *failing = context;

    (void)bytes;
    if (failing->refused > 0) {
        failing->calls_after++;
        return PROF_ERR_SINK;
    }
    if (bytes_count > failing->limit - failing->taken) {
        failing->refused++;
        return PROF_ERR_SINK;
    }
    failing->taken += bytes_count;
    return PROF_OK;
}

static size_t
length_of(size_t writer)
{
    case_begin(&run);
    assert_int_equal(pprof_writers[writer].write(&run.output), PROF_OK);
    return run.memory.bytes_count;
}

TEST(a_sink_that_fails_at_any_byte_is_reported)
{
    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        const size_t length = length_of(writer);

        assert_true(length > 20);
        for (size_t limit = 0; limit <= length; limit++) {
            struct failing failing = {.limit = limit};
            enum prof_status status;

            case_begin(&run);
            run.output.sink =
                (struct prof_sink){.write = take_until, .context = &failing};
            status = pprof_writers[writer].write(&run.output);
            if (status != (limit < length ? PROF_ERR_SINK : PROF_OK) ||
                failing.calls_after != 0)
                fail_msg("%s, %zu of %zu bytes: %s, %zu calls after",
                         pprof_writers[writer].what, limit, length,
                         prof_status_text(status), failing.calls_after);
        }
    }
}

/* The same with profiles larger than any buffer: many calls of the sink. */
TEST(a_long_profile_stops_at_the_call_that_fails)
{
    enum { RECORDS = 5000 };
    static struct prof_heap_record records[RECORDS];
    static uintptr_t pcs[RECORDS];
    size_t calls = 0;
    bool whole = false;

    for (size_t i = 0; i < RECORDS; i++) {
        pcs[i] = CASE_WORK + i % 100;
        records[i] = (struct prof_heap_record){
            .allocs = i, .size_bytes = 1000 + i, .stack = &pcs[i], .depth = 1};
    }
    for (size_t limit = 0; !whole; limit += 7919) {
        struct failing failing = {.limit = limit};
        enum prof_status status;

        assert_true(limit < (1 << 22));
        case_begin(&run);
        run.output.sink =
            (struct prof_sink){.write = take_until, .context = &failing};
        status = prof_text_heap(&run.output, records, RECORDS, 1, NULL);
        whole = status == PROF_OK;
        assert_int_equal(status, failing.refused ? PROF_ERR_SINK : PROF_OK);
        assert_int_equal(failing.calls_after, 0);
        calls += failing.taken > 0;
    }
    assert_true(calls > 2);
}

TEST(the_sinks_own_status_is_the_answer)
{
    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        case_begin(&run);
        run.memory.bytes_max = 10;
        assert_int_equal(pprof_writers[writer].write(&run.output),
                         PROF_ERR_SINK);
        assert_int_equal(run.memory.bytes_count, 0);
    }
}

/* ---- real files ---- */

static char path[sizeof folder + 16];

static int
a_folder(void **state)
{
    (void)state;
    return folder_with(path, sizeof path, "heap.pb");
}

static int
no_folder(void **state)
{
    unlink(path);
    return folder_remove(state); /* fails if a temporary file is left */
}

static size_t
file_bytes(char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t bytes;

    if (file == NULL)
        return 0;
    bytes = fread(to, 1, room, file);
    fclose(file);
    return bytes;
}

TEST(a_file_appears_whole)
{
    static struct prof_file file;
    static char got[CASE_BYTES];
    const size_t length = length_of(0);

    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    case_begin(&run);
    run.output.sink = prof_file_sink(&file);
    assert_int_equal(pprof_writers[0].write(&run.output), PROF_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(file_bytes(got, sizeof got), length);
    case_begin(&run);
    assert_int_equal(pprof_writers[0].write(&run.output), PROF_OK);
    assert_memory_equal(got, run.bytes, length);
}

TEST(a_file_that_fails_leaves_the_old_one)
{
    static struct prof_file file;
    char temporary[sizeof folder + sizeof file.temporary];
    char got[16];

    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(prof_file_sink(&file).write(&file, "old", 3), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(prof_file_sink(&file).write(&file, "new!", 4), PROF_OK);
    snprintf(temporary, sizeof temporary, "%s/%s", folder, file.temporary);
    assert_int_equal(access(temporary, F_OK), 0);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_int_equal(file_bytes(got, sizeof got), 3);
    assert_memory_equal(got, "old", 3);
}

TEST(a_folder_that_is_not_there_is_reported)
{
    static struct prof_file file;

    assert_int_equal(prof_file_begin(&file, "/nowhere/at/all"), PROF_ERR_SINK);
    assert_true(file.error != 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
}

TEST(a_full_disk_is_reported)
{
    static struct prof_file file;

    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        memset(&file, 0, sizeof file);
        file.descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC);
        assert_true(file.descriptor >= 0);
        case_begin(&run);
        run.output.sink = prof_descriptor_sink(&file);
        assert_int_equal(pprof_writers[writer].write(&run.output),
                         PROF_ERR_SINK);
        assert_string_equal(strerror(file.error), "No space left on device");
        close(file.descriptor);
    }
}

static void
on_signal(int number)
{
    (void)number;
}

/* Interrupts its creator's writes until told that it is over. */
static _Atomic int written_all;

static void *
interrupt(void *creator)
{
    const pthread_t thread = *(pthread_t *)creator;
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < 20000 && written_all == 0; i++) {
        pthread_kill(thread, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct drain {
    int descriptor;
    size_t bytes;
};

/* Reads slowly, so that a pipe fills up and writes stop half-way. */
static void *
drain_pipe(void *context)
{
    struct drain *drain = context;
    const struct timespec pause = {.tv_nsec = 2000000};
    char buffer[16384];
    ssize_t got;

    while ((got = read(drain->descriptor, buffer, sizeof buffer)) > 0) {
        drain->bytes += (size_t)got;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

TEST(interrupted_writes_are_continued)
{
    static char many[1 << 20];
    static struct prof_file file;
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
    struct sigaction before;
    pthread_t self = pthread_self();
    pthread_t interrupter;
    pthread_t reader;
    struct drain drain = {0};
    int ends[2];

    sigaction(SIGUSR1, &action, &before);
    assert_int_equal(pipe(ends), 0);
    memset(&file, 0, sizeof file);
    file.descriptor = ends[1];
    drain.descriptor = ends[0];
    written_all = 0;
    assert_int_equal(pthread_create(&interrupter, NULL, interrupt, &self), 0);
    assert_int_equal(pthread_create(&reader, NULL, drain_pipe, &drain), 0);
    assert_int_equal(
        prof_descriptor_sink(&file).write(&file, many, sizeof many), PROF_OK);
    written_all = 1;
    close(ends[1]);
    pthread_join(interrupter, NULL);
    pthread_join(reader, NULL);
    close(ends[0]);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(drain.bytes, sizeof many);
}

int
main(void)
{
    return tests_run(a_folder, no_folder);
}
