/*
 * explored.c -- a subject under the explorer, which tries the orders of its
 * threads:
 *
 *      profsim explore subjects/explored.c mine.c -- -I subjects -lm
 *
 * Two threads allocate and free; one also frees a block of the other. A third
 * thread reads meanwhile. In every order, no reading may have negative numbers
 * or bytes without objects, and the last one must be exact. Functions that a
 * subject lacks are not called. The subject must be thread-safe;
 * config->random() already is.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "subject.h"

enum { SITES = 2, BLOCKS = 3 };

static const struct subject *subject;
static void *state;
static _Atomic(uint64_t) drawn;
static atomic_bool is_made; /* block 1, for the thread that frees it */

static const uintptr_t frames[SITES] = {0x1000, 0x2000};
static const struct subject_block blocks[BLOCKS] = {
    {.address = 0x100000, .size_bytes = 16},
    {.address = 0x200000, .size_bytes = 32},
    {.address = 0x300000, .size_bytes = 64},
};
static const int site_of[BLOCKS] = {0, 1, 0};

static uint64_t
give_random(void *context)
{
    (void)context;
    return atomic_fetch_add(&drawn, UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t
give_now_ns(void *context)
{
    (void)context;
    return 0;
}

/* ---- What it shows ---- */

struct shown {
    struct subject_count live[SITES];
};

static void
add_record(void *context, const struct subject_record *record)
{
    struct shown *shown = context;

    for (int i = 0; i < SITES; i++) {
        if (record->site.depth != 1 || record->site.frames[0] != frames[i])
            continue;
        shown->live[i].objects += record->live.objects;
        shown->live[i].bytes += record->live.bytes;
    }
}

static struct shown
read_it(void)
{
    struct shown shown = {0};

    subject->snapshot(state, add_record, &shown);
    for (int i = 0; i < SITES; i++) {
        if (shown.live[i].objects >= 0 && shown.live[i].bytes >= 0 &&
            (shown.live[i].objects > 0 || shown.live[i].bytes == 0))
            continue;
        fprintf(stderr, "A3: site %d: shows %g live objects of %g bytes\n", i,
                shown.live[i].objects, shown.live[i].bytes);
        abort();
    }
    return shown;
}

/* ---- Threads ---- */

static void
begin_thread(uint32_t thread)
{
    if (subject->thread_start != NULL)
        subject->thread_start(state, thread);
}

static void
end_thread(uint32_t thread)
{
    if (subject->thread_exit != NULL)
        subject->thread_exit(state, thread);
}

static void
make(uint32_t thread, int block)
{
    const struct subject_site site = {&frames[site_of[block]], 1};

    subject->alloc(state, thread, &site, &blocks[block]);
}

static bool
frees(void)
{
    return (subject->can & SUBJECT_FREED_EXPLICITLY) != 0;
}

static void *
first_thread(void *unused)
{
    (void)unused;
    begin_thread(0);
    make(0, 0);
    make(0, 1);
    atomic_store(&is_made, true);
    if (frees())
        subject->free(state, 0, &blocks[0], false);
    end_thread(0);
    return NULL;
}

static void *
second_thread(void *unused)
{
    (void)unused;
    begin_thread(1);
    make(1, 2);
    if (atomic_load(&is_made) && frees()) {
        subject->free(state, 1, &blocks[1], false);
        atomic_store(&is_made, false);
    }
    end_thread(1);
    return NULL;
}

static void *
reading_thread(void *unused)
{
    (void)read_it();
    return unused;
}

/* ---- The end ---- */

static void
expect(const struct shown *shown, int site, int block, bool lives)
{
    const double objects = lives ? 1 : 0;
    const double bytes =
        objects *
        (double)(subject->counted_bytes != NULL
                     ? subject->counted_bytes(blocks[block].size_bytes, 0)
                     : blocks[block].size_bytes);

    if (shown->live[site].objects == objects &&
        shown->live[site].bytes == bytes)
        return;
    fprintf(stderr,
            "%s: at the end site %d shows %g live objects of %g bytes, "
            "expected %g of %g\n",
            shown->live[site].objects > objects ? "A2" : "A6", site,
            shown->live[site].objects, shown->live[site].bytes, objects, bytes);
    abort();
}

int
main(void)
{
    struct subject_config config = {
        .rate_bytes = 1, .random = give_random, .now_ns = give_now_ns};
    void *(*const functions[])(void *) = {first_thread, second_thread,
                                          reading_thread};
    pthread_t threads[3];
    struct shown shown;

    subject = profsim_subject();
    if (subject->memory_bytes > 0)
        config.memory = calloc(1, (subject->memory_bytes + 63) / 64 * 64);
    state = subject->begin(&config);
    if (state == NULL)
        abort();
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3 && subject->cycle != NULL; i++) {
        subject->cycle(state);
        if (subject->flush != NULL)
            subject->flush(state);
    }
    shown = read_it();
    if ((subject->can & SUBJECT_LIVE) != 0 && frees()) {
        expect(&shown, 0, 2, true);
        expect(&shown, 1, 1, atomic_load(&is_made));
    }
    if (subject->end != NULL)
        subject->end(state);
    free(config.memory);
    return 0;
}
