/*
 * trace_readers.c -- a reader that sleeps, and another one.
 *
 *      first:   read the header, read: nothing yet, sleep ......... read on,
 * end second:                           refused, until it is so main: stop
 * ---------------wakes-^
 *
 * Every wait is bounded; who is right needs none of the bounds.
 */
#include "trace_readers.h"

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

enum { TRIES_MAX = 200000, SECONDS_MAX = 20 };

/* How long to wait; who has been let down once is less patient. */
static int patience_seconds = SECONDS_MAX;

struct readers {
    struct prof_trace *trace;
    enum prof_status last; /* of the first reader; read after the join */
    _Atomic int waits;     /* it is about to sleep */
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
        /* BUSY: the other one was a moment in there. */
    } while (readers->last == PROF_OK || readers->last == PROF_ERR_AGAIN ||
             readers->last == PROF_ERR_BUSY);
    return NULL;
}

/* returns: whether the second reader was refused, in time */
static bool
is_refused(struct readers *readers)
{
    const uint8_t *bytes;
    size_t count;

    for (int i = 0; i < TRIES_MAX; i++) {
        if (atomic_load(&readers->waits) != 0 &&
            prof_trace_read(readers->trace, &bytes, &count) == PROF_ERR_BUSY)
            return true;
        sched_yield();
    }
    return false;
}

static bool
next_task(void *context, struct prof_trace_task *task)
{
    int *given = context;

    *task = (struct prof_trace_task){.id = 1};
    return (*given)++ == 0;
}

static const char *
try_with(struct readers *readers)
{
    int given = 0;
    const struct prof_trace_world world = {
        .task = 1, .next = next_task, .context = &given};
    struct timespec limit;
    pthread_t first;
    bool refused;

    if (prof_trace_start(readers->trace, &world) != PROF_OK ||
        pthread_create(&first, NULL, read_all, readers) != 0)
        return "cannot begin";
    refused = is_refused(readers);
    if (prof_trace_stop(readers->trace, 0, NULL, 0) != PROF_OK)
        return "stop is refused";
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += patience_seconds;
    if (pthread_timedjoin_np(first, NULL, &limit) != 0) {
        patience_seconds = 1;
        return "stop has not woken the reader";
    }
    if (!refused)
        return "a second reader is not refused while the first one sleeps";
    return readers->last == PROF_ERR_END ? NULL
                                         : "the reader did not see the end";
}

const char *
trace_readers_try(void)
{
    const struct prof_trace_config config = {
        .procs_max = 1, .buffers_max = 3, .stacks_max = 1};
    const size_t bytes = prof_trace_bytes_needed(&config);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct readers readers = {.last = PROF_OK};
    const char *why = "there is not enough memory";

    if (block == NULL)
        return why;
    memset(block, 0, bytes);
    if (prof_trace_init(&readers.trace, &config, block, bytes) == PROF_OK)
        why = try_with(&readers);
    if (why == NULL) /* else a thread may still be in it */
        free(block);
    return why;
}
