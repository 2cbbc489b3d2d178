/*
 * ring.c -- the control calls of the heap profile: advance the cycle, publish a
 * slot, read a snapshot. Before each flush, ours and Go's, every bucket has an
 * allocation and a free in the slot that the flush publishes.
 *
 * Our snapshot refers to stacks, but Go's MemProfile copies each stack into a
 * record of 288 bytes. So ours has two rows: by reference, and with stacks
 * copied into such records, as prof_heap_iterate() visits them.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/ours.h"
#include "bench/peers.h"

enum { CALLS = 100000, FRAMES = 32, DEPTH = 16 };

struct copied {
    int64_t counters[4];
    uintptr_t stack[FRAMES];
};

struct copying {
    struct copied *to;
    size_t room;
    size_t count;
};

struct ring {
    struct bench_ours ours;
    struct prof_heap_record *records;
    struct copied *copies;
    size_t records_max;
};

static bool
step_round(struct ring *ring)
{
    return prof_heap_next_cycle(ring->ours.prof) == PROF_OK;
}

static double
next_cycle_once(void *context, uint32_t round)
{
    struct ring *ring = context;
    const uint64_t begun = bench_cpu_ns();

    (void)round;
    for (uint32_t i = 0; i < CALLS; i++) {
        if (!step_round(ring))
            return -1;
    }
    return (double)(bench_cpu_ns() - begun) / CALLS;
}

/*
 * Make one allocation and one free of each `step`-th bucket, for the next flush
 * to publish.
 */
static bool
fill(struct ring *ring, uint32_t step)
{
    const struct bench_load *load = ring->ours.load;
    struct prof_proc *proc = prof_proc_at(ring->ours.prof, 0);

    for (uint32_t i = 0; i < load->n; i += step) {
        const uint64_t *record = bench_record(load, i);

        (void)prof_heap_alloc(proc, record + 1, load->depth, record[0]);
    }
    if (!step_round(ring))
        return false;
    for (uint32_t i = 0; i < load->n; i += step)
        prof_heap_free(proc, ring->ours.buckets[i]);
    return true;
}

static double
a_bucket(const struct ring *ring, uint64_t begun)
{
    return (double)(bench_cpu_ns() - begun) / ring->ours.load->n;
}

static double
flush_filled(struct ring *ring, uint32_t step)
{
    uint64_t begun;

    if (!fill(ring, step) || !step_round(ring))
        return -1;
    begun = bench_cpu_ns();
    if (prof_heap_flush(ring->ours.prof) != PROF_OK)
        return -1;
    return a_bucket(ring, begun);
}

static double
flush_once(void *context, uint32_t round)
{
    (void)round;
    return flush_filled(context, 1);
}

/* Flush if one bucket in a hundred had events, as in a large program. */
static double
flush_idle_once(void *context, uint32_t round)
{
    (void)round;
    return flush_filled(context, 100);
}

static double
sweep_once(void *context, uint32_t round)
{
    struct ring *ring = context;
    uint64_t begun;

    (void)round;
    if (!fill(ring, 1))
        return -1;
    begun = bench_cpu_ns();
    if (prof_heap_post_sweep(ring->ours.prof) != PROF_OK)
        return -1;
    return a_bucket(ring, begun);
}

static double
snapshot_once(void *context, uint32_t round)
{
    struct ring *ring = context;
    const uint64_t begun = bench_cpu_ns();
    size_t count;

    (void)round;
    if (prof_heap_snapshot(ring->ours.prof, PROF_SELECT_ALL, ring->records,
                           ring->records_max, &count) != PROF_OK ||
        count != ring->ours.load->n)
        return -1;
    return a_bucket(ring, begun);
}

/* A record of Go's MemProfile. */
static void
copy_record(void *context, const struct prof_heap_record *from)
{
    struct copying *copying = context;
    struct copied *to = &copying->to[copying->count];

    if (copying->count++ >= copying->room)
        return;
    to->counters[0] = (int64_t)prof_heap_alloc_bytes(from);
    to->counters[1] = (int64_t)prof_heap_free_bytes(from);
    to->counters[2] = (int64_t)from->allocs;
    to->counters[3] = (int64_t)from->frees;
    memcpy(to->stack, from->stack, from->depth * sizeof *from->stack);
    memset(to->stack + from->depth, 0,
           (FRAMES - from->depth) * sizeof *to->stack);
}

static double
copying_once(void *context, uint32_t round)
{
    struct ring *ring = context;
    struct copying copying = {.to = ring->copies, .room = ring->ours.load->n};
    const uint64_t begun = bench_cpu_ns();

    (void)round;
    if (prof_heap_flush(ring->ours.prof) != PROF_OK)
        return -1;
    prof_heap_iterate(ring->ours.prof, copy_record, &copying);
    if (copying.count != copying.room)
        return -1;
    return a_bucket(ring, begun);
}

/* ---- rows ---- */

struct operation {
    const char *name;
    double (*once)(void *context, uint32_t round);
    const char *verb; /* of the peer */
    double goals[3];  /* Go / ours, at each of `sizes` */
};

static const uint32_t sizes[] = {10000, 100000, 1000000};

static const struct operation operations[] = {
    {"next_cycle", next_cycle_once, "next", {1, 0, 0}},
    {"flush", flush_once, "flush", {0, 12, 12}},
    {"flush-idle", flush_idle_once, "flushidle", {0, 0, 0}},
    {"post_sweep", sweep_once, "sweep", {0, 12, 12}},
    {"snapshot", snapshot_once, "snapshot", {0, 13.5, 9.5}},
    {"snapshot-copied", copying_once, "snapshot", {0, 3, 3}},
};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    OPERATIONS = sizeof operations / sizeof *operations
};

static void
run_size(struct bench *bench, uint32_t size, struct bench_peer *go)
{
    const uint32_t n = sizes[size];
    struct bench_load load;
    struct ring ring = {.records_max = n + 50};

    bench_load_make(&load, BENCH_CALLS, DEPTH, n);
    bench_ours_make(&ring.ours, &load);
    ring.records = malloc(ring.records_max * sizeof *ring.records);
    ring.copies = malloc(n * sizeof *ring.copies);
    if (ring.records == NULL || ring.copies == NULL)
        exit(1);
    if (go->to != NULL)
        (void)bench_peer_ask(go, "load %s", load.path);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = &operations[i];
        struct bench_command command = {go, operation->verb};
        const struct bench_entrant entrants[] = {
            {"profsim", operation->once, &ring},
            {go->name, bench_peer_once, &command}};
        const struct bench_row row = {
            .operation = operation->name,
            .unit = i == 0 ? "ns" : "ns/bucket",
            .goal_peer = go->name,
            .goal_ratio = operation->goals[size],
            .depth = DEPTH,
            .n = n,
        };

        if (i == 0 && size > 0)
            continue;
        bench_compare(bench, &row, entrants, go->to != NULL ? 2 : 1);
    }
    free(ring.copies);
    free(ring.records);
    bench_ours_free(&ring.ours);
    bench_load_free(&load);
}

int
main(void)
{
    struct bench_peer go;
    struct bench bench;

    bench_begin(&bench, "ring", SIZES * (OPERATIONS - 1) + 1);
    if (bench.quick)
        bench.rows_planned -= OPERATIONS - 1;
    if (!bench_go_start(&go))
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    for (uint32_t i = 0; i < SIZES; i++) {
        if (!bench.quick || sizes[i] <= 100000)
            run_size(&bench, i, &go);
    }
    bench_peer_stop(&go);
    return bench_end(&bench);
}
