/*
 * trace_readers.c -- a second reader comes while the first one sleeps.
 *
 *      first    reads the header, finds no more, sleeps ..... reads the end
 *      second                 tries until it is refused           ^
 *      main                                        stops, and wakes
 *
 * Every wait has a time limit, which only a faulty reader reaches.
 */
#include "props/judge/trace_readers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prof/prof.h"
#include "prof/trace.h"

enum { TRIES_MAX = 200000, YIELDS_MAX = 20000, MILLISECONDS_MAX = 8000 };

/* How long to wait; after a first timeout, shorter. */
static int patience_ms = MILLISECONDS_MAX;

struct readers {
    struct prof_trace *trace;
    enum prof_status last; /* of the first reader; read after the join */
    _Atomic int waits;     /* set when it is about to sleep */
    _Atomic int is_done;
};

static void *
read_all(void *context)
{
    struct readers *readers = context;
    const uint8_t *bytes;
    size_t count;

    do {
        readers->last = prof_trace_read(readers->trace, &bytes, &count);
        if (readers->last == PROF_ERR_AGAIN) {
            atomic_store(&readers->waits, 1);
            readers->last = prof_trace_wait(readers->trace);
        }
        /* BUSY: the second reader was inside for a moment. */
    } while (readers->last == PROF_OK || readers->last == PROF_ERR_AGAIN ||
             readers->last == PROF_ERR_BUSY);
    atomic_store(&readers->is_done, 1);
    return NULL;
}

/* Sleep instead of reading a clock, which may be a fake one. */
static const struct timespec nap = {.tv_nsec = 1000000};

/* On a busy machine the first reader may not run for a while. returns: was the
 * second reader refused in time? */
static bool
is_refused(struct readers *readers)
{
    const uint8_t *bytes;
    size_t count;

    for (int i = 0; i < YIELDS_MAX + patience_ms; i++) {
        if (atomic_load(&readers->waits) != 0 &&
            prof_trace_read(readers->trace, &bytes, &count) == PROF_ERR_BUSY)
            return true;
        if (i < YIELDS_MAX)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
    patience_ms = MILLISECONDS_MAX / 16;
    return false;
}

/* returns: false if it took too long */
static bool
is_done_in_time(struct readers *readers)
{
    for (int i = 0; i < patience_ms; i++) {
        if (atomic_load(&readers->is_done) != 0)
            return true;
        nanosleep(&nap, NULL);
    }
    patience_ms = MILLISECONDS_MAX / 16;
    return false;
}

static bool
next_task(void *context, struct prof_trace_task *task)
{
    int *given = context;

    *task = (struct prof_trace_task){.id = 1};
    return (*given)++ == 0;
}

/* Let the trace end for lack of a buffer: stop then has nothing to hand over,
 * and must still wake the reader. */
static void
fill(struct prof_trace *trace)
{
    const uint64_t bytes = 1;

    for (int i = 0; i < TRIES_MAX && prof_trace_drops(trace).no_buffer == 0;
         i++)
        prof_trace_emit(trace, 0, PROF_EV_HEAP_ALLOC, &bytes, NULL, 0);
}

static const char *
try_with(struct readers *readers, bool is_full)
{
    int given = 0;
    const struct prof_trace_world world = {
        .task = 1, .next = next_task, .context = &given};
    pthread_t first;
    bool refused;

    if (prof_trace_start(readers->trace, &world) != PROF_OK)
        return "cannot begin";
    if (is_full)
        fill(readers->trace);
    if (pthread_create(&first, NULL, read_all, readers) != 0)
        return "cannot begin";
    refused = is_refused(readers);
    if (prof_trace_stop(readers->trace, 0, NULL, 0) != PROF_OK)
        return "stop is refused";
    if (!is_done_in_time(readers))
        return "stop has not woken the reader";
    if (pthread_join(first, NULL) != 0)
        return "cannot end";
    if (!refused)
        return "a second reader is not refused while the first one sleeps";
    return readers->last == PROF_ERR_END ? NULL
                                         : "the reader did not see the end";
}

static const char *
try_once(bool is_full)
{
    const struct prof_trace_config config = {
        .procs_max = 1, .buffers_max = 3, .buffer_bytes = 128, .stacks_max = 1};
    const size_t bytes = prof_trace_bytes_needed(&config);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct readers readers = {.last = PROF_OK};
    const char *why = "there is not enough memory";

    if (block == NULL)
        return why;
    memset(block, 0, bytes);
    if (prof_trace_init(&readers.trace, &config, block, bytes) == PROF_OK)
        why = try_with(&readers, is_full);
    if (why == NULL) /* otherwise a thread may still be using it */
        free(block);
    return why;
}

const char *
trace_readers_try(void)
{
    const char *why = try_once(false);

    return why != NULL ? why : try_once(true);
}
