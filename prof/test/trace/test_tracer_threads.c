/*
 * test_tracer_threads.c -- the tracer with real threads and the processors' own
 * counter: a task that goes from processor to processor, and a stop that waits
 * for a slow reader.
 *
 * build: also=tsan
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/test/aligned_block.h"
#include "prof/test/trace/tracer_case.h"
#include "common/test/unit_test.h"

enum { HANDOFFS = 2000 };

/* Make a tracer that reads the processors' counter. */
static void
open_real(const struct prof_trace_config *config)
{
    const size_t bytes = prof_trace_bytes_needed(config);

    free(one.trace);
    assert_int_equal(
        prof_trace_init(&one.trace, config, props_block(bytes, 0), bytes),
        PROF_OK);
}

/* Two processors in turn block and wake task 2. */
struct relay {
    struct prof_trace *trace;
    _Atomic int baton; /* handoffs so far; if odd, the task is ready */
};

static void
await(struct relay *relay, int value)
{
    while (atomic_load(&relay->baton) != value)
        sched_yield();
}

static void *
run_relay(void *context)
{
    struct relay *relay = context;
    const uint64_t task = 2;

    prof_trace_emit(relay->trace, 1, PROF_EV_PROC_START, &task, NULL, 0);
    for (int i = 0; i < HANDOFFS; i++) {
        await(relay, 2 * i + 1);
        prof_trace_emit(relay->trace, 1, PROF_EV_GO_START, &task, NULL, 0);
        prof_trace_emit(relay->trace, 1, PROF_EV_GO_BLOCK, NULL, NULL, 0);
        atomic_store(&relay->baton, 2 * i + 2);
    }
    return NULL;
}

/* Do the counters of all processors show the same time? */
static bool
counters_agree(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool agree = false;

    assert_non_null(file);
    while (!agree && fgets(line, sizeof line, file) != NULL)
        agree = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
    fclose(file);
    return agree;
}

TRACER_TEST(what_follows_on_another_processor_is_later_by_the_counter)
{
    const struct prof_trace_config config = {.procs_max = 2,
                                             .buffers_max = 64,
                                             .buffer_bytes = 8192,
                                             .tick_divisor = 1,
                                             .order = PROF_TRACE_ORDER_CLOCK};
    static const struct prof_trace_task tasks[] = {
        {.id = 1}, {.id = 2, .state = PROF_TASK_WAITING}};
    struct relay relay = {0};
    int64_t ticks = 0;
    pthread_t second;

    if (!counters_agree())
        skip();
    open_real(&config);
    relay.trace = one.trace;
    tracer_begin(tasks, 2);
    assert_int_equal(pthread_create(&second, NULL, run_relay, &relay), 0);
    for (int i = 0; i < HANDOFFS; i++) {
        await(&relay, 2 * i);
        tracer_emit(0, PROF_EV_GO_UNBLOCK, 2);
        atomic_store(&relay.baton, 2 * i + 1);
    }
    assert_int_equal(pthread_join(second, NULL), 0);
    tracer_end();
    for (uint32_t i = 0; i < model_trace_count(&one.decoded); i++) {
        const struct model_trace_event *event = model_trace_at(&one.decoded, i);

        assert_true(event->ticks > ticks);
        ticks = event->ticks;
    }
}

/* ---- a stop that waits ---- */

enum { STOPS = 40 };

struct slow_reader {
    struct prof_trace *trace;
    _Atomic uint64_t bytes; /* read so far */
    _Atomic int ends;       /* sessions read to their end */
    _Atomic int may_signal; /* the main thread may get signals */
    pthread_t main;
};

/* Sleeps before each read, so that a thread that waits for the reader falls
 * asleep; and sends it signals. */
static void *
read_slowly(void *context)
{
    struct slow_reader *reader = context;
    const struct timespec nap = {.tv_nsec = 200000};
    const uint8_t *bytes;
    size_t count;

    while (atomic_load(&reader->ends) < STOPS) {
        enum prof_status status;

        nanosleep(&nap, NULL);
        if (atomic_load(&reader->may_signal) != 0)
            pthread_kill(reader->main, SIGUSR1);
        status = prof_trace_read(reader->trace, &bytes, &count);
        if (status == PROF_OK)
            atomic_fetch_add(&reader->bytes, count);
        else if (status == PROF_ERR_AGAIN)
            (void)!prof_trace_wait(reader->trace);
        else if (status == PROF_ERR_END)
            atomic_fetch_add(&reader->ends, 1);
    }
    return NULL;
}

static void
do_nothing(int number)
{
    (void)number;
}

static void *
wait_for_the_end(void *trace)
{
    return prof_trace_stop_wait(trace) == PROF_OK ? trace : NULL;
}

/* Two threads wait, one of them under signals. The next session may start at
 * once. */
TRACER_TEST(who_waits_for_the_reader_goes_on_when_all_was_read)
{
    const struct prof_trace_config config = {
        .procs_max = 1, .buffers_max = 16, .buffer_bytes = 512};
    static const struct prof_trace_task task = {.id = 1};
    const struct sigaction action = {.sa_handler = do_nothing};
    struct sigaction before;
    struct slow_reader reader = {.main = pthread_self()};
    pthread_t thread, other;
    uint64_t bytes = 0;
    void *result;

    open_real(&config);
    reader.trace = one.trace;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(prof_trace_stop_wait(one.trace), PROF_OK);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    for (int i = 0; i < STOPS; i++) {
        /* Accepted: the last session was read to its end. */
        assert_int_equal(tracer_start(&task, 1), PROF_OK);
        assert_int_equal(prof_trace_stop_wait(one.trace), PROF_ERR_BUSY);
        for (uint64_t j = 0; j < 20; j++)
            tracer_emit(0, PROF_EV_HEAP_ALLOC, j);
        assert_int_equal(tracer_stop(), PROF_OK);
        assert_int_equal(
            pthread_create(&other, NULL, wait_for_the_end, one.trace), 0);
        atomic_store(&reader.may_signal, 1);
        assert_int_equal(prof_trace_stop_wait(one.trace), PROF_OK);
        atomic_store(&reader.may_signal, 0);
        bytes = atomic_load(&reader.bytes);
        assert_int_equal(pthread_join(other, &result), 0);
        assert_ptr_equal(result, one.trace);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&reader.bytes), bytes);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}
