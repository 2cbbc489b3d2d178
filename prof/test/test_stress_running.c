/*
 * test_stress_running.c -- real threads record while another one begins cycles,
 * under the running-world contract (prof/core/grace.c).
 *
 * As in a collector, a swept object was allocated in an earlier cycle; an
 * explicit free may free any object. So in every snapshot, whatever the timing,
 * no bucket may show more frees than allocations, and at the end nothing may be
 * missing. Timing decides which situations occur, but not which results are
 * right.
 *
 * build: also=tsan cflags=-O2
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "common/test/unit_test.h"

enum {
    THREADS = 3,
    STACKS = 8,
    HELD = 64,
    ROUNDS = 500000,
    BUSY_MAX = 100000000 /* tries of one call, far more than a real wait
                          * needs */
};

struct held {
    prof_bucket bucket;
    uint32_t cycle; /* read after it was allocated */
};

struct recorder {
    pthread_t thread;
    struct prof *prof;
    struct prof_proc *proc;
    uint32_t number;
    uint64_t allocs;
    uint64_t frees;
};

static const uintptr_t stacks[STACKS][2] = {
    {0x401000, 0x402000}, {0x401010, 0x402000}, {0x401020, 0x402000},
    {0x401030, 0x402000}, {0x401000, 0x403000}, {0x401010, 0x403000},
    {0x401020, 0x403000}, {0x401030, 0x403000},
};

static void *
record(void *argument)
{
    struct recorder *me = argument;
    struct held held[HELD] = {{0}};

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct held *h = &held[i % HELD];
        const uint32_t cycle = prof_heap_phase(me->prof).cycle;

        if (h->bucket != PROF_BUCKET_NONE) {
            if (h->cycle == cycle)
                prof_heap_free_explicit(me->proc, h->bucket);
            else
                prof_heap_free(me->proc, h->bucket);
            me->frees++;
        }
        h->bucket =
            prof_heap_alloc(me->proc, stacks[(i + me->number) % STACKS], 2, 16);
        h->cycle = prof_heap_phase(me->prof).cycle;
        me->allocs++;
    }
    return NULL;
}

/* Repeat a call while record calls of the last cycle are in flight. */
static enum prof_status
insist(enum prof_status (*call)(struct prof *prof), struct prof *prof)
{
    enum prof_status status = call(prof);

    for (uint32_t i = 0; status == PROF_ERR_BUSY && i < BUSY_MAX; i++) {
        sched_yield();
        status = call(prof);
    }
    return status;
}

static uint64_t
frees_without_allocs(struct prof *prof)
{
    struct prof_heap_record records[STACKS];
    enum prof_status status = PROF_ERR_BUSY;
    uint64_t wrong = 0;
    size_t count = 0;

    for (uint32_t i = 0; status == PROF_ERR_BUSY && i < BUSY_MAX; i++)
        status =
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, STACKS, &count);
    assert_int_equal(status, PROF_OK);
    for (size_t i = 0; i < count; i++)
        wrong += records[i].frees > records[i].allocs;
    return wrong;
}

static void
advance_cycles(struct prof *prof, uint32_t cycles, uint64_t *wrong)
{
    for (uint32_t i = 0; i < cycles; i++) {
        assert_int_equal(insist(prof_heap_next_cycle, prof), PROF_OK);
        if (i % 3 == 0)
            *wrong += frees_without_allocs(prof);
        assert_int_equal(insist(prof_heap_flush, prof), PROF_OK);
        if (i % 5 == 0)
            assert_int_equal(insist(prof_heap_post_sweep, prof), PROF_OK);
        *wrong += frees_without_allocs(prof);
    }
}

TEST(cycles_advance_while_others_record)
{
    const struct prof_config config = {
        .buckets_max = 64, /* lost races use up some rows */
        .procs_max = THREADS,
        .world = PROF_WORLD_RUNNING,
        .cycle_first = PROF_CYCLE_WRAP - 100,
    };
    const size_t bytes = prof_bytes_needed(&config);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct recorder recorders[THREADS];
    struct prof_heap_totals totals;
    struct prof *prof;
    uint64_t allocs = 0;
    uint64_t frees = 0;
    uint64_t wrong = 0;

    assert_non_null(block);
    memset(block, 0, bytes);
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        recorders[i] = (struct recorder){
            .prof = prof, .proc = prof_proc_at(prof, i), .number = i};
        assert_int_equal(
            pthread_create(&recorders[i].thread, NULL, record, &recorders[i]),
            0);
    }
    advance_cycles(prof, 5000, &wrong);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(recorders[i].thread, NULL), 0);
        allocs += recorders[i].allocs;
        frees += recorders[i].frees;
    }
    advance_cycles(prof, 3, &wrong);
    totals = prof_heap_totals(prof);
    assert_int_equal(wrong, 0);
    assert_int_equal(totals.allocs_published, allocs);
    assert_int_equal(totals.frees_published, frees);
    assert_int_equal(totals.allocs_pending + totals.frees_pending, 0);
    assert_null(prof_check(prof));
    free(block);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
