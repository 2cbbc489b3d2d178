/*
 * test_pprof_sink.c -- if the output fails, at whatever byte, the writer
 * reports it and writes nothing more (P4); golang/go#73107 loses such an error.
 * test_file.c tests that files stay whole.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pprof_case.h"
#include "pprof_writers.h"
#include "prof/file.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

/* ---- the sinks ---- */

/* A sink that takes bytes up to a limit, and counts calls after its refusal. */
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

/* The same with profiles larger than any buffer, so that the sink is called
 * many times. */
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

/* ---- a real file ---- */

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

int
main(void)
{
    return tests_run(NULL, NULL);
}
