/*
 * own_subject.c -- the library as a subject: `--subject own`. Campaigns without
 * --subject call the library directly, at no cost. Here the same library is
 * called through the table that subjects fill in, and judged like any other
 * subject.
 *
 * The numbers are those that a user sees: at the rate R, a sample of S bytes
 * counts for 1 / (1 - exp(-S/R)) objects. Only the sum is rounded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "prof/fork.h"
#include "prof/prof.h"
#include "props/command/subject_file.h"

enum { SLOT_BITS = 13, RECORDS_MAX = 1024, DEPTH_MAX = 32 };

#define SLOTS (UINT64_C(1) << SLOT_BITS)

/* Addresses are reused, so an address keeps its slot when its block is
 * freed. */
struct slot {
    uint64_t address; /* 0: not taken */
    prof_bucket bucket;
};

struct own {
    struct prof *prof;
    struct slot slots[SLOTS]; /* a hash table by address */
    struct prof_heap_record records[RECORDS_MAX];
    struct prof_contention_record waits[RECORDS_MAX];
    _Alignas(PROF_BLOCK_ALIGN) unsigned char block[];
};

static const struct prof_config library = {
    .buckets_max = RECORDS_MAX,
    .depth_max = DEPTH_MAX,
    .procs_max = SUBJECT_THREADS_MAX,
};

static void *
begin(const struct subject_config *config)
{
    struct own *own = config->memory;
    struct prof_config mine = library;

    mine.seed = config->random(config->context);
    if (prof_init(&own->prof, &mine, own->block, prof_bytes_needed(&mine)) !=
        PROF_OK)
        return NULL;
    prof_heap_rate_set(own->prof, (int64_t)config->rate_bytes);
    return own;
}

static prof_bucket *
bucket_of(struct own *own, const struct subject_block *block)
{
    const uint64_t hash = block->address * UINT64_C(0x9e3779b97f4a7c15);

    for (uint64_t i = 0; i < SLOTS; i++) {
        struct slot *slot =
            &own->slots[((hash >> (64 - SLOT_BITS)) + i) % SLOTS];

        if (slot->address == 0)
            slot->address = block->address;
        if (slot->address == block->address)
            return &slot->bucket;
    }
    (void)fprintf(stderr, "own: more than %d blocks live\n", (int)SLOTS);
    abort();
}

static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct own *own = state;
    struct prof_proc *proc = prof_proc_at(own->prof, thread);

    if (block->address == 0)
        return;
    *bucket_of(own, block) =
        prof_heap_sample(proc, block->size_bytes)
            ? prof_heap_alloc(proc, site->frames, site->depth,
                              block->size_bytes)
            : PROF_BUCKET_NONE;
}

static void
release(void *state, uint32_t thread, const struct subject_block *block,
        bool swept)
{
    struct own *own = state;
    struct prof_proc *proc = prof_proc_at(own->prof, thread);

    if (swept)
        prof_heap_free(proc, *bucket_of(own, block));
    else
        prof_heap_free_explicit(proc, *bucket_of(own, block));
}

static void
reallocate(void *state, uint32_t thread, const struct subject_site *site,
           const struct subject_block *from, const struct subject_block *to)
{
    if (to->address == 0)
        return;
    release(state, thread, from, false);
    allocate(state, thread, site, to);
}

static void
must_be_ok(enum prof_status status)
{
    if (status != PROF_OK)
        abort();
}

static void
cycle(void *state)
{
    must_be_ok(prof_heap_next_cycle(((struct own *)state)->prof));
}

static void
flush(void *state)
{
    must_be_ok(prof_heap_flush(((struct own *)state)->prof));
}

static void
set_rate(void *state, uint64_t rate_bytes)
{
    prof_heap_rate_set(((struct own *)state)->prof, (int64_t)rate_bytes);
}

static void
fork_own(void *state, uint32_t thread, bool child)
{
    (void)thread;
    if (child)
        prof_after_fork_child(((struct own *)state)->prof);
}

static struct subject_count
count_of(const struct prof_heap_record *record, uint64_t objects)
{
    const double size = (double)record->size_bytes;
    const double each = record->rate_bytes > 1
                            ? -1 / expm1(-size / (double)record->rate_bytes)
                            : 1;

    if (objects == 0)
        return (struct subject_count){0};
    return (struct subject_count){
        .objects = each * (double)objects,
        .bytes = each * (double)objects * size,
        .samples = (int64_t)objects,
    };
}

static void
snapshot(void *state, subject_visit *visit, void *context)
{
    struct own *own = state;
    size_t count;

    must_be_ok(prof_heap_snapshot(own->prof, PROF_SELECT_ALL, own->records,
                                  RECORDS_MAX, &count));
    for (size_t i = 0; i < count; i++) {
        const struct prof_heap_record *from = &own->records[i];
        const struct subject_record record = {
            .site = {from->stack, from->depth},
            .live = count_of(from, from->allocs - from->frees),
            .allocated = count_of(from, from->allocs),
            .freed = count_of(from, from->frees),
        };

        visit(context, &record);
    }
}

/* ---- Waits ---- */

static void
wait_own(void *state, const struct subject_wait *wait)
{
    struct prof *prof = ((struct own *)state)->prof;

    prof_contention_event(prof_proc_at(prof, wait->waiter), PROF_BLOCK,
                          wait->waited.frames, wait->waited.depth,
                          (int64_t)wait->ticks);
    prof_contention_event(prof_proc_at(prof, wait->holder), PROF_MUTEX,
                          wait->released.frames, wait->released.depth,
                          (int64_t)wait->ticks);
}

static void
set_wait_rate(void *state, enum subject_waits which, uint64_t rate)
{
    struct prof *prof = ((struct own *)state)->prof;

    if (which == SUBJECT_BLOCK_WAITS)
        prof_block_rate_set(prof, (int64_t)rate);
    else
        (void)prof_mutex_fraction_set(prof, (int64_t)rate);
}

static void
read_waits(void *state, enum subject_waits which, subject_visit_wait *visit,
           void *context)
{
    struct own *own = state;
    size_t count;

    must_be_ok(prof_contention_snapshot(
        own->prof, which == SUBJECT_BLOCK_WAITS ? PROF_BLOCK : PROF_MUTEX,
        own->waits, RECORDS_MAX, &count));
    for (size_t i = 0; i < count; i++) {
        const struct subject_wait_record record = {
            .site = {own->waits[i].stack, own->waits[i].depth},
            .count = (double)own->waits[i].count,
            .ticks = (double)own->waits[i].cycles,
        };

        visit(context, &record);
    }
}

const struct subject *
cli_subject_own(void)
{
    static struct subject own = {
        .version = SUBJECT_VERSION,
        .name = "own",
        .can = SUBJECT_FREED_EXPLICITLY | SUBJECT_SWEPT | SUBJECT_LIVE |
               SUBJECT_ALLOCATED | SUBJECT_FREED | SUBJECT_SAMPLES |
               SUBJECT_SAMPLING | SUBJECT_OFF | SUBJECT_AT_ONCE |
               SUBJECT_BLOCK | SUBJECT_MUTEX | SUBJECT_WAITS_SAMPLED |
               SUBJECT_FORKS,
        .depth_max = DEPTH_MAX,
        .begin = begin,
        .alloc = allocate,
        .realloc = reallocate,
        .free = release,
        .cycle = cycle,
        .flush = flush,
        .set_rate = set_rate,
        .fork = fork_own,
        .snapshot = snapshot,
        .wait = wait_own,
        .set_wait_rate = set_wait_rate,
        .read_waits = read_waits,
    };

    own.memory_bytes = sizeof(struct own) + prof_bytes_needed(&library);
    return &own;
}
