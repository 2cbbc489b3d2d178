/*
 * test_tracer_stop.c -- prof_trace_stop_wait() waits until the reader has taken
 * the last part of a trace; with real threads, slow and dead readers, signals.
 */
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "aligned_block.h"
#include "prof/prof.h"
#include "prof/trace.h"
#include "unit_test.h"

static void *block;

static struct prof_trace *
new_trace(void)
{
    const struct prof_trace_config config = {
        .procs_max = 1, .buffers_max = 16, .buffer_bytes = 512};
    const size_t bytes = prof_trace_bytes_needed(&config);
    struct prof_trace *trace;

    block = props_block(bytes, 0);
    assert_int_equal(prof_trace_init(&trace, &config, block, bytes), PROF_OK);
    return trace;
}

static bool
one_task(void *context, struct prof_trace_task *task)
{
    int *given = context;

    *task = (struct prof_trace_task){.id = 1};
    return (*given)++ == 0;
}

static void
start(struct prof_trace *trace)
{
    int given = 0;
    const struct prof_trace_world world = {
        .task = 1, .next = one_task, .context = &given};

    assert_int_equal(prof_trace_start(trace, &world), PROF_OK);
}

enum { SESSIONS = 40 };

struct slow_reader {
    struct prof_trace *trace;
    _Atomic uint64_t bytes; /* read so far */
    _Atomic int ends;       /* sessions read to their end */
    _Atomic int may_signal; /* the main thread may get signals */
    pthread_t main;
};

/* Sleeps before each read, so that a thread that waits for the reader falls
 * asleep. */
static void *
read_slowly(void *context)
{
    struct slow_reader *reader = context;
    const struct timespec nap = {.tv_nsec = 200000};
    const uint8_t *bytes;
    size_t count;

    while (atomic_load(&reader->ends) < SESSIONS) {
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
do_nothing(int signal)
{
    (void)signal;
}

static void *
wait_for_the_end(void *trace)
{
    return prof_trace_stop_wait(trace) == PROF_OK ? trace : NULL;
}

/* Signals come while the thread sleeps. Each wait is for its own session, as
 * the next one may start at once. */
TEST(who_waits_for_the_reader_goes_on_when_all_was_read)
{
    const struct sigaction action = {.sa_handler = do_nothing};
    struct sigaction before;
    struct prof_trace *const trace = new_trace();
    struct slow_reader reader = {.trace = trace, .main = pthread_self()};
    pthread_t thread;
    uint64_t bytes = 0;

    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(prof_trace_stop_wait(trace), PROF_OK);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    for (int i = 0; i < SESSIONS; i++) {
        pthread_t other;
        void *result = NULL;

        start(trace); /* accepted: the last session was read to its end */
        assert_int_equal(prof_trace_stop_wait(trace), PROF_ERR_BUSY);
        for (uint64_t j = 0; j < 20; j++)
            prof_trace_emit(trace, 0, PROF_EV_HEAP_ALLOC, &j, NULL, 0);
        assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
        assert_int_equal(pthread_create(&other, NULL, wait_for_the_end, trace),
                         0);
        atomic_store(&reader.may_signal, 1);
        assert_int_equal(prof_trace_stop_wait(trace), PROF_OK);
        atomic_store(&reader.may_signal, 0);
        bytes = atomic_load(&reader.bytes);
        assert_int_equal(pthread_join(other, &result), 0);
        assert_ptr_equal(result, trace);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(bytes > 0);
    assert_int_equal(atomic_load(&reader.bytes), bytes);
    assert_int_equal(prof_trace_stop_wait(trace), PROF_OK);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    free(block);
}

/* If the reader has died, another thread may read the rest, and the waiting
 * thread is woken. */
TEST(another_thread_may_read_the_rest_for_those_who_wait)
{
    struct prof_trace *const trace = new_trace();
    pthread_t waiters[3];
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;

    start(trace);
    assert_int_equal(prof_trace_read(trace, &bytes, &count), PROF_OK);
    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            pthread_create(&waiters[i], NULL, wait_for_the_end, trace), 0);
    do {
        sched_yield();
        status = prof_trace_read(trace, &bytes, &count);
    } while (status == PROF_OK);
    assert_int_equal(status, PROF_ERR_END);
    for (int i = 0; i < 3; i++) {
        void *result = NULL;

        assert_int_equal(pthread_join(waiters[i], &result), 0);
        assert_ptr_equal(result, trace);
    }
    free(block);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
