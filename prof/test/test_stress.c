/*
 * test_stress.c -- the core under real threads, in addition to the explorer: on
 * the real machine, and under ThreadSanitizer.
 *
 *      workers   record; meet at a barrier; the leader begins a cycle; go on
 *      reader    reads all the time, also while the world is stopped
 *
 * Workers record allocations and frees of their own objects, and contention,
 * all with the same stacks, so that the first event of a stack is a race. Each
 * counts for itself what it has recorded, and at the end the sums must agree.
 *
 * The number of rounds is fixed, not the time. The program prints what failed,
 * and a line of numbers.
 *
 * build: also=tsan cflags=-O2
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"

enum {
    INSTANCES = 60,
    WORKERS = 3,
    ROUNDS = 4,
    EVENTS = 400, /* of a worker in a round, at most */
    STACKS = 96,
    LIVE_MAX = 64,
    BUCKETS = 3 * STACKS,
    SWEEPS = 20, /* seen by the reader in a round */
    READS_MAX = 1000000
};

/* What one worker has recorded. Only that worker uses it, until it is
 * joined. */
struct worker {
    struct prof *prof;
    uint32_t index;
    uint64_t random;
    uint64_t allocs;
    uint64_t frees;
    uint64_t waits;
    uint64_t wait_ticks;
    uint64_t dropped;
    prof_bucket live[LIVE_MAX];
    uint32_t live_count;
};

static pthread_barrier_t stop_begins;
static pthread_barrier_t stop_ends;
static atomic_bool is_done;
static uint32_t passed;
static uint32_t failed;

static void
expect(bool holds, const char *what)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("broken: %s\n", what);
}

/* splitmix64; each worker has its own state. */
static uint64_t
draw(struct worker *worker)
{
    uint64_t x = worker->random += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Make stack i, with i % 9 frames; empty ones differ in the size. */
static uint32_t
stack_of(uintptr_t frames[8], uint64_t i)
{
    for (uint64_t k = 0; k < i % 9; k++)
        frames[k] = 0x400000 + 0x100 * (uintptr_t)i + (uintptr_t)k;
    return (uint32_t)(i % 9);
}

static void
record_alloc(struct worker *worker, uint64_t i)
{
    uintptr_t frames[8] = {0};
    const uint32_t depth = stack_of(frames, i);
    const prof_bucket bucket = prof_heap_alloc(
        prof_proc_at(worker->prof, worker->index), frames, depth, i + 1);

    if (bucket == PROF_BUCKET_NONE) {
        worker->dropped++;
        return;
    }
    worker->allocs++;
    worker->live[worker->live_count++] = bucket;
}

static void
record_free(struct worker *worker, bool is_explicit)
{
    struct prof_proc *proc = prof_proc_at(worker->prof, worker->index);
    const prof_bucket bucket = worker->live[--worker->live_count];

    if (is_explicit)
        prof_heap_free_explicit(proc, bucket);
    else
        prof_heap_free(proc, bucket);
    worker->frees++;
}

static void
record_wait(struct worker *worker, uint64_t i, int64_t ticks)
{
    uintptr_t frames[8] = {0};
    const uint32_t depth = stack_of(frames, i);

    prof_contention_event(prof_proc_at(worker->prof, worker->index), PROF_BLOCK,
                          frames, depth, ticks);
    worker->waits++;
    worker->wait_ticks += (uint64_t)ticks;
}

/* All workers begin with the same stacks in the same order, so they race to
 * insert each bucket. */
static void
race_for_every_stack(struct worker *worker)
{
    for (uint64_t stack = 0; stack < STACKS; stack++) {
        record_alloc(worker, stack);
        record_free(worker, true);
        record_wait(worker, stack, 1);
    }
}

/*
 * First sweep objects that the collection at the last stop found dead; they
 * were allocated before it. Then free objects explicitly.
 */
static void
work_a_round(struct worker *worker)
{
    const uint32_t dead = worker->live_count / 2;

    for (uint32_t i = 0; i < dead; i++)
        record_free(worker, false);
    for (uint32_t i = 0; i < EVENTS; i++) {
        const uint64_t stack = draw(worker) % STACKS;
        const uint64_t what = draw(worker) % 8;

        if (what == 0)
            record_wait(worker, stack, 1 + (int64_t)(draw(worker) % 100));
        else if (worker->live_count == LIVE_MAX ||
                 (what < 4 && worker->live_count > 0))
            record_free(worker, true);
        else
            record_alloc(worker, stack);
    }
}

static void *
worker_main(void *context)
{
    struct worker *worker = context;

    (void)pthread_barrier_wait(&stop_ends);
    race_for_every_stack(worker);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        work_a_round(worker);
        (void)pthread_barrier_wait(&stop_begins);
        (void)pthread_barrier_wait(&stop_ends);
    }
    return NULL;
}

/* ---- reading ---- */

/* Check what must hold of a reading at any moment, whatever threads do. */
static const char *
fault_of(const struct prof_heap_record *records, size_t count)
{
    bool is_listed[STACKS + 1] = {0};

    for (size_t i = 0; i < count; i++) {
        const struct prof_heap_record *record = &records[i];
        uintptr_t frames[8];

        if (record->size_bytes < 1 || record->size_bytes > STACKS)
            return "a size that nobody recorded";
        if (is_listed[record->size_bytes])
            return "a bucket listed twice";
        is_listed[record->size_bytes] = true;
        if (record->depth != stack_of(frames, record->size_bytes - 1) ||
            memcmp(frames, record->stack, record->depth * sizeof *frames) != 0)
            return "a stack that nobody recorded";
        if (record->frees > record->allocs)
            return "more frees than allocations";
    }
    return NULL;
}

struct reading {
    uint64_t allocs;
    const char *fault;
};

static void
read_one(void *context, const struct prof_heap_record *record)
{
    struct reading *reading = context;

    if (record->frees > record->allocs)
        reading->fault = "more frees than allocations, iterating";
    reading->allocs += record->allocs;
}

/* Read until the workers are done. returns: the first fault, or NULL */
static void *
reader_main(void *context)
{
    static struct prof_heap_record records[BUCKETS];
    static struct prof_contention_record waits[BUCKETS];
    struct prof *prof = context;
    struct reading last = {0};

    for (uint32_t i = 0; i < READS_MAX && !atomic_load(&is_done); i++) {
        struct reading now = {0};
        struct prof_heap_totals totals;
        const char *fault;
        size_t count = 0;

        if (prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS,
                               &count) != PROF_OK)
            return "a snapshot was refused";
        fault = fault_of(records, count);
        if (fault == NULL &&
            prof_contention_snapshot(prof, PROF_BLOCK, waits, BUCKETS,
                                     &count) != PROF_OK)
            fault = "a snapshot of contention was refused";
        prof_heap_iterate(prof, read_one, &now);
        totals = prof_heap_totals(prof);
        if (now.allocs < last.allocs || totals.allocs_published < now.allocs)
            fault = "what was published is gone";
        if (now.fault != NULL)
            fault = now.fault;
        if (fault != NULL)
            return (void *)(uintptr_t)fault;
        last = now;
    }
    return NULL;
}

/* ---- the end ---- */

/* Four cycles publish every allocation and every free. */
static void
publish_everything(struct prof *prof)
{
    for (uint32_t i = 0; i < 4; i++) {
        expect(prof_heap_next_cycle(prof) == PROF_OK,
               "the last cycles advance");
        expect(prof_heap_flush(prof) == PROF_OK, "and are flushed");
    }
}

static void
judge(struct prof *prof, const struct worker *workers)
{
    static struct prof_heap_record records[BUCKETS];
    static struct prof_contention_record waits[BUCKETS];
    struct worker sum = {0};
    struct prof_heap_totals totals;
    uint64_t wait_count = 0;
    uint64_t wait_ticks = 0;
    size_t count = 0;
    const char *fault;

    for (uint32_t i = 0; i < WORKERS; i++) {
        sum.allocs += workers[i].allocs;
        sum.frees += workers[i].frees;
        sum.waits += workers[i].waits;
        sum.wait_ticks += workers[i].wait_ticks;
        sum.dropped += workers[i].dropped;
    }
    totals = prof_heap_totals(prof);
    expect(totals.allocs_published + totals.allocs_pending == sum.allocs &&
               totals.frees_published + totals.frees_pending == sum.frees,
           "published and pending are what was recorded");
    publish_everything(prof);
    totals = prof_heap_totals(prof);
    expect(totals.allocs_published == sum.allocs &&
               totals.frees_published == sum.frees,
           "in the end everything is published");
    expect(sum.dropped == 0 && prof_drops(prof).no_bucket == 0 &&
               prof_drops(prof).no_frames == 0,
           "there was room for all");
    expect(prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS,
                              &count) == PROF_OK,
           "the last snapshot is taken");
    fault = fault_of(records, count);
    expect(fault == NULL, fault != NULL ? fault : "");
    expect(count == STACKS, "every stack has its bucket");
    expect(prof_contention_snapshot(prof, PROF_BLOCK, waits, BUCKETS, &count) ==
               PROF_OK,
           "the last snapshot of contention is taken");
    for (size_t i = 0; i < count; i++) {
        wait_count += waits[i].count;
        wait_ticks += waits[i].cycles;
    }
    expect(wait_count == sum.waits && wait_ticks == sum.wait_ticks,
           "every wait is counted");
    expect(prof_check(prof) == NULL, "the instance is sound");
}

static void
stress_an_instance(uint64_t seed)
{
    /* A lost race uses up a row: with room for three times as many as there
     * are stacks of each of the two kinds, none is dropped. */
    const struct prof_config config = {.buckets_max = 2 * BUCKETS,
                                       .procs_max = WORKERS,
                                       .cycle_first = PROF_CYCLE_WRAP - 5};
    const size_t bytes = prof_bytes_needed(&config);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct worker workers[WORKERS] = {0};
    pthread_t threads[WORKERS];
    pthread_t reader;
    struct prof *prof = NULL;
    void *fault = NULL;

    if (block == NULL)
        abort();
    memset(block, 0, bytes);
    if (prof_init(&prof, &config, block, bytes) != PROF_OK)
        abort();
    if (pthread_barrier_init(&stop_begins, NULL, WORKERS + 1) != 0 ||
        pthread_barrier_init(&stop_ends, NULL, WORKERS + 1) != 0)
        abort();
    atomic_store(&is_done, false);
    if (pthread_create(&reader, NULL, reader_main, prof) != 0)
        abort();
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i].prof = prof;
        workers[i].index = i;
        workers[i].random = seed * WORKERS + i;
        if (pthread_create(&threads[i], NULL, worker_main, &workers[i]) != 0)
            abort();
    }
    (void)pthread_barrier_wait(&stop_ends);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        enum prof_status status = PROF_ERR_BUSY;

        (void)pthread_barrier_wait(&stop_begins);
        /* The reader runs on, and may make this call busy, but not for long. */
        for (uint32_t tries = 0; status == PROF_ERR_BUSY && tries < 100000000;
             tries++)
            status = prof_heap_next_cycle(prof);
        expect(status == PROF_OK,
               "the cycle advances while the world is stopped");
        (void)pthread_barrier_wait(&stop_ends);
        expect(prof_heap_flush(prof) == PROF_OK, "a flush is done");
        /* Too early: what is swept later is published later. It must come
         * after the flush, which publishes the swept objects' allocations. */
        for (uint32_t i = 0; i < SWEEPS; i++)
            expect(prof_heap_post_sweep(prof) == PROF_OK, "a sweep is shown");
    }
    for (uint32_t i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    atomic_store(&is_done, true);
    (void)pthread_join(reader, &fault);
    expect(fault == NULL, fault != NULL ? (const char *)fault : "");
    judge(prof, workers);
    (void)pthread_barrier_destroy(&stop_begins);
    (void)pthread_barrier_destroy(&stop_ends);
    free(block);
}

int
main(void)
{
    for (uint64_t seed = 0; seed < INSTANCES; seed++)
        stress_an_instance(seed);
    printf("%" PRIu32 " passed, %" PRIu32 " failed\n", passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
