/*
 * small_world.c -- see small_world.h.
 *
 * The explorer sees one access for each operation of the allocator and for each
 * reported event, and varies their order. It does not see the judge's own
 * records (UNSEEN), so these add no orders and hide no race in the profiler.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* recursive locks */
#endif
#include "subjects/catalogue/small_world.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/catalogue/plan_judge.h"

#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

struct block {
    bool is_live;
    bool is_watched;
    unsigned site;
    unsigned bytes;
};

static struct block heap[ADDRESSES + 1];
static struct block events[ADDRESSES + 1]; /* as told */
static bool refuses;
static bool is_unwatched;
static atomic_uint heap_order;
static atomic_uint reported_order;

void
broken(const char *property, const char *what, ...)
{
    static char text[300];
    const int head = snprintf(text, sizeof text, "%s broken: ", property);
    va_list words;

    va_start(words, what);
    vsnprintf(text + head, sizeof text - (size_t)head, what, words);
    va_end(words);
    __assert_fail(text, __FILE__, __LINE__, "the judge");
}

/* ---- The allocator ---- */

unsigned
site_bytes(unsigned site)
{
    static const unsigned bytes[SITES] = {8, 16, 64, 1024, 4096};

    return bytes[site];
}

static UNSEEN unsigned
take(unsigned site, unsigned bytes)
{
    unsigned i = 1;

    while (i <= ADDRESSES && heap[i].is_live)
        i++;
    if (i > ADDRESSES)
        return 0;
    heap[i] = (struct block){true, !is_unwatched, site, bytes};
    return i;
}

static UNSEEN void
give(unsigned address)
{
    if (address == 0 || address > ADDRESSES || !heap[address].is_live)
        broken("M1", "address %u is freed, and is not allocated", address);
    heap[address].is_live = false;
}

static UNSEEN unsigned
resize(unsigned site, unsigned address, unsigned bytes)
{
    const bool fits = bytes <= heap[address].bytes;

    if (!fits)
        give(address);
    if (fits) {
        heap[address].site = site;
        heap[address].bytes = bytes;
        return address;
    }
    heap[address].is_live = true; /* the new block lies elsewhere */
    site = take(site, bytes);
    heap[address].is_live = site == 0;
    return site;
}

unsigned
heap_take(unsigned site, unsigned bytes)
{
    atomic_fetch_add_explicit(&heap_order, 1, memory_order_acq_rel);
    return take(site, bytes);
}

void
heap_give(unsigned address)
{
    atomic_fetch_add_explicit(&heap_order, 1, memory_order_acq_rel);
    give(address);
}

unsigned
heap_resize(unsigned site, unsigned address, unsigned bytes)
{
    atomic_fetch_add_explicit(&heap_order, 1, memory_order_acq_rel);
    return refuses ? 0 : resize(site, address, bytes);
}

UNSEEN void
heap_trim(unsigned address, unsigned bytes)
{
    heap[address].bytes = bytes;
}

UNSEEN unsigned
heap_bytes(unsigned address)
{
    return heap[address].bytes;
}

void
world_refuse(bool resizes_fail)
{
    refuses = resizes_fail;
}

UNSEEN void
world_watch(bool is_profiled)
{
    is_unwatched = !is_profiled;
}

UNSEEN void
world_forget(void)
{
    for (unsigned i = 1; i <= ADDRESSES; i++)
        heap[i].is_watched = false;
}

/* ---- Events ---- */

static UNSEEN void
judge_alloc(unsigned address, unsigned site, unsigned bytes)
{
    if (address == 0 || address > ADDRESSES)
        broken("A2", "an allocation is told at address %u", address);
    if (events[address].is_live)
        broken("A4",
               "address %u is told as allocated twice, with no free between",
               address);
    events[address] = (struct block){true, true, site, bytes};
}

static UNSEEN void
judge_free(unsigned address)
{
    if (address == 0 || address > ADDRESSES || !events[address].is_live)
        broken("A2", "a free is told of address %u, which has no open record",
               address);
    events[address].is_live = false;
}

void
report_alloc(unsigned address, unsigned site, unsigned bytes)
{
    atomic_fetch_add_explicit(&reported_order, 1, memory_order_relaxed);
    judge_alloc(address, site, bytes);
}

void
report_free(unsigned address)
{
    atomic_fetch_add_explicit(&reported_order, 1, memory_order_relaxed);
    judge_free(address);
}

static UNSEEN bool
is_reported(unsigned address)
{
    return events[address].is_live;
}

void
give_if_reported(unsigned address)
{
    if (is_reported(address))
        report_free(address);
    heap_give(address);
}

static UNSEEN void
count(const struct block *blocks, struct shown *shown, bool watched_only)
{
    memset(shown, 0, SITES * sizeof *shown);
    for (unsigned i = 1; i <= ADDRESSES; i++)
        if (blocks[i].is_live && (!watched_only || blocks[i].is_watched)) {
            shown[blocks[i].site].objects++;
            shown[blocks[i].site].bytes += blocks[i].bytes;
        }
}

void
reported(struct shown *shown)
{
    atomic_fetch_add_explicit(&reported_order, 1, memory_order_relaxed);
    count(events, shown, false);
}

/* ---- Services ---- */

static pthread_mutex_t loader = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t interpreter = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t world = PTHREAD_RWLOCK_INITIALIZER;
static bool has_unwound;
static __thread bool has_bounds;
static struct library *libraries;
static struct object *objects[ADDRESSES + 1];

static void
allocate_inside(void)
{
    const unsigned address = profiler.alloc(SITE_INSIDE, site_bytes(0));

    if (address != 0)
        profiler.free(address);
}

void
unwind(void)
{
    pthread_mutex_lock(&loader);
    if (!has_unwound) {
        has_unwound = true;
        allocate_inside();
    }
    pthread_mutex_unlock(&loader);
}

void
thread_bounds(void)
{
    if (has_bounds)
        return;
    has_bounds = true;
    allocate_inside();
}

void
loader_lock(void)
{
    pthread_mutex_lock(&loader);
}

void
loader_unlock(void)
{
    pthread_mutex_unlock(&loader);
}

struct library *
library_first(void)
{
    return libraries;
}

void
library_load(void)
{
    struct library *const library = calloc(1, sizeof *library);

    if (library == NULL)
        abort();
    call_begin();
    pthread_mutex_lock(&loader);
    allocate_inside();
    library->next = libraries;
    libraries = library;
    pthread_mutex_unlock(&loader);
    call_end();
}

void
library_unload(void)
{
    struct library *library;

    pthread_mutex_lock(&loader);
    library = libraries;
    libraries = library->next;
    free(library);
    pthread_mutex_unlock(&loader);
}

void
interpreter_give(void)
{
    pthread_mutex_unlock(&interpreter);
}

void
interpreter_take(void)
{
    pthread_mutex_lock(&interpreter);
}

void
world_stop(void)
{
    pthread_rwlock_wrlock(&world);
}

void
world_start(void)
{
    pthread_rwlock_unlock(&world);
}

void
call_begin(void)
{
    if (profiler.manner == INTERPRETED)
        interpreter_take();
    else if (profiler.manner == ATTACHED)
        pthread_rwlock_rdlock(&world);
}

void
call_end(void)
{
    if (profiler.manner == INTERPRETED)
        interpreter_give();
    else if (profiler.manner == ATTACHED)
        pthread_rwlock_unlock(&world);
}

struct object *
object_at(unsigned address)
{
    return objects[address];
}

void
object_make(unsigned address)
{
    struct object *const object = calloc(1, sizeof *object);

    if (object == NULL || (object->bytes = malloc(sizeof(unsigned))) == NULL)
        abort();
    *object->bytes = heap_bytes(address);
    objects[address] = object;
}

void
object_sweep_begin(unsigned address)
{
    objects[address]->is_dying = true;
    free(objects[address]->bytes);
}

void
object_sweep_end(unsigned address)
{
    free(objects[address]);
    objects[address] = NULL;
    heap_give(address);
}

/* ---- The judge ---- */

/*
 * The number of objects that a site may show. `least` counts only calls that
 * have returned; `most` also counts calls that have begun. A snapshot during
 * other calls may show any moment of its duration: window_least and window_most
 * are the bounds over that time.
 */
static struct {
    long least;
    long most;
    long window_least;
    long window_most;
} bounds[SITES];
static atomic_uint change_order;

static UNSEEN void
change(unsigned site, long least, long most)
{
    bounds[site].least += least;
    bounds[site].most += most;
    if (bounds[site].least < bounds[site].window_least)
        bounds[site].window_least = bounds[site].least;
    if (bounds[site].most > bounds[site].window_most)
        bounds[site].window_most = bounds[site].most;
}

void
change_begin(unsigned site, int more)
{
    atomic_fetch_add_explicit(&change_order, 1, memory_order_relaxed);
    change(site, more < 0 ? -1 : 0, more > 0 ? 1 : 0);
}

void
change_end(unsigned site, int more)
{
    atomic_fetch_add_explicit(&change_order, 1, memory_order_relaxed);
    change(site, more > 0 ? 1 : 0, more < 0 ? -1 : 0);
}

static UNSEEN void
open_windows(void)
{
    for (unsigned i = 0; i < SITES; i++) {
        bounds[i].window_least = bounds[i].least;
        bounds[i].window_most = bounds[i].most;
    }
}

static void
judge_sanity(unsigned site, const struct shown *shown)
{
    if (shown->objects < 0 || shown->bytes < 0 ||
        (shown->objects == 0) != (shown->bytes == 0))
        broken("A3", "site %u shows %ld live objects of %ld bytes", site,
               shown->objects, shown->bytes);
}

void
judge_meanwhile(void)
{
    struct shown shown[SITES] = {0};

    atomic_fetch_add_explicit(&change_order, 1, memory_order_relaxed);
    open_windows();
    profiler.snapshot(shown);
    atomic_fetch_add_explicit(&change_order, 1, memory_order_relaxed);
    for (unsigned i = 1; i < SITES; i++) {
        judge_sanity(i, &shown[i]);
        if (shown[i].objects < bounds[i].window_least ||
            shown[i].objects > bounds[i].window_most)
            broken("O2",
                   "site %u shows %ld live objects; there were %ld to %ld", i,
                   shown[i].objects, bounds[i].window_least,
                   bounds[i].window_most);
        if (shown[i].bytes != shown[i].objects * (long)site_bytes(i))
            broken("V1", "site %u shows %ld bytes in %ld objects of %u", i,
                   shown[i].bytes, shown[i].objects, site_bytes(i));
    }
}

void
judge_at_rest(void)
{
    struct shown shown[SITES] = {0};
    struct shown truth[SITES];
    long surplus = 0;

    profiler.snapshot(shown);
    count(heap, truth, true);
    for (unsigned i = 0; i < SITES; i++) {
        judge_sanity(i, &shown[i]);
        surplus += shown[i].objects - truth[i].objects;
    }
    for (unsigned i = 1; i < SITES; i++) {
        if (shown[i].objects != truth[i].objects)
            broken(surplus == 0 ? "A5" : "A1",
                   "site %u shows %ld live objects; %ld are live", i,
                   shown[i].objects, truth[i].objects);
        if (shown[i].bytes != truth[i].bytes)
            broken("V1", "site %u shows %ld live bytes; %ld are live", i,
                   shown[i].bytes, truth[i].bytes);
    }
}

void
judge_file(void)
{
    unsigned char bytes[64];
    const size_t size = profiler.write(bytes, sizeof bytes);

    if (size == 0 || (size - 1) % FILE_RECORD_BYTES != 0)
        broken("R1", "a file of %zu bytes ends in the middle of a record",
               size);
    if (bytes[0] != (size - 1) / FILE_RECORD_BYTES)
        broken("R1", "the head says %u records; %zu follow", bytes[0],
               (size - 1) / FILE_RECORD_BYTES);
}
