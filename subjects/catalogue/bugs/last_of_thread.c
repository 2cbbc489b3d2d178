/*
 * last_of_thread.c -- K10, jemalloc#2681: a thread's record is destroyed when
 * its last block is freed or when it ends, whichever is later. Each may take
 * itself for the later one. (The report does not state the cause; this one has
 * the same symptom.)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "subjects/catalogue/small_world.h"

struct record {
    atomic_int users; /* live blocks, and the thread */
    atomic_bool has_ended;
};

static __thread struct record *mine;
static struct record *record_of[ADDRESSES + 1];

static void
thread_begin(void)
{
    mine = calloc(1, sizeof *mine);
    if (mine == NULL)
        abort();
    atomic_init(&mine->users, 1);
}

#ifdef FIXED
static void
release(struct record *record)
{
    if (atomic_fetch_sub(&record->users, 1) == 1)
        free(record);
}
#else
/* Let go, and then look whether anybody is left. */
static void
release(struct record *record)
{
    atomic_fetch_sub(&record->users, 1);
    if (atomic_load(&record->users) == 0 && record->has_ended)
        free(record);
}
#endif

static void
thread_end(void)
{
    atomic_store(&mine->has_ended, true);
    release(mine);
}

static unsigned
alloc(unsigned site, unsigned bytes)
{
    const unsigned address = heap_take(site, bytes);

    record_of[address] = mine;
    if (mine != NULL)
        atomic_fetch_add(&mine->users, 1);
    report_alloc(address, site, bytes);
    return address;
}

static void
drop(unsigned address)
{
    report_free(address);
    if (record_of[address] != NULL)
        release(record_of[address]);
    heap_give(address);
}

const struct profiler profiler = {
    .thread_begin = thread_begin,
    .thread_end = thread_end,
    .alloc = alloc,
    .free = drop,
    .snapshot = reported,
};
