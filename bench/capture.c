/*
 * capture.c -- the cost of unwinding a stack, which all other rows leave out;
 * and malloc and free with every allocation recorded. The recorder must also
 * unwind programs without frame pointers, so it reads unwind tables and caches
 * each return address. In programs that declare that they keep frame pointers,
 * it walks the frames.
 */
#define UNW_LOCAL_ONLY
#include <execinfo.h>
#include <libunwind.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "record/unwind/frames.h"
#include "bench/peers.h"
#include "prof/prof.h"
#include "record/unwind/unwind.h"

enum { CALLS = 2000, DEPTH_MAX = 32, OBJECT_BYTES = 64 };

struct capture {
    uint32_t (*capture)(uintptr_t *pcs, uint32_t depth);
    struct prof_proc *proc; /* NULL: only capture */
    uint32_t depth;
    uint64_t spent_ns;
};

static struct embed_own_stack own;

static __attribute__((noinline)) uint32_t
walk_tables(uintptr_t *pcs, uint32_t depth_max)
{
    const struct embed_registers from =
        embed_caller_of(__builtin_frame_address(0));

    return embed_unwind_walk(pcs, depth_max, &from, false, &own);
}

static __attribute__((noinline)) uint32_t
walk_frames(uintptr_t *pcs, uint32_t depth_max)
{
    struct embed_stack_memory memory = {.own = &own};
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    embed_stack_memory_begin(&memory, frame);
    return embed_frames_walk(pcs, depth_max, frame, &memory.bounds);
}

static __attribute__((noinline)) uint32_t
walk_libunwind(uintptr_t *pcs, uint32_t depth_max)
{
    return (uint32_t)unw_backtrace((void **)(void *)pcs, (int)depth_max);
}

static uint32_t
walk_glibc(uintptr_t *pcs, uint32_t depth_max)
{
    return (uint32_t)backtrace((void **)(void *)pcs, (int)depth_max);
}

static void
measure(struct capture *capture)
{
    uintptr_t pcs[DEPTH_MAX + 2];
    const uint64_t begun_ns = bench_cpu_ns();

    for (uint32_t i = 0; i < CALLS; i++) {
        if (capture->proc == NULL) {
            bench_use(capture->capture(pcs, capture->depth));
        } else {
            void *object = malloc(OBJECT_BYTES);
            const uint32_t depth = capture->capture(pcs, capture->depth);
            const prof_bucket bucket =
                prof_heap_alloc(capture->proc, pcs, depth, OBJECT_BYTES);

            bench_use((uintptr_t)object);
            prof_heap_free(capture->proc, bucket);
            free(object);
        }
    }
    capture->spent_ns = bench_cpu_ns() - begun_ns;
}

/* Call itself `left` times, then measure; written so that no compiler makes it
 * a loop. */
static __attribute__((noinline, noclone)) uint32_t
descend(struct capture *capture, uint32_t left)
{
    uint32_t frames = 0;

    if (left == 0)
        measure(capture);
    else
        frames = descend(capture, left - 1) + 1;
    bench_use(frames);
    return frames;
}

static double
capture_once(void *context, uint32_t round)
{
    struct capture *capture = context;

    (void)round;
    bench_use(descend(capture, capture->depth));
    return (double)capture->spent_ns / CALLS;
}

static struct prof *
make_prof(void)
{
    const struct prof_config config = {.buckets_max = 1000};
    const size_t bytes = prof_bytes_needed(&config);
    struct prof *prof;

    if (prof_init(&prof, &config, bench_pages(bytes), bytes) != PROF_OK)
        exit(1);
    return prof;
}

static void
run_row(struct bench *bench, const struct bench_row *row, const char *verb,
        struct bench_peer *go, struct prof_proc *proc)
{
    struct capture captures[] = {{walk_tables, proc, row->depth, 0},
                                 {walk_frames, proc, row->depth, 0},
                                 {walk_libunwind, proc, row->depth, 0},
                                 {walk_glibc, proc, row->depth, 0}};
    struct bench_command command = {go, verb};
    const struct bench_entrant entrants[] = {
        {"profsim", capture_once, &captures[0]},
        {"frame pointers", capture_once, &captures[1]},
        {"libunwind", capture_once, &captures[2]},
        {"glibc", capture_once, &captures[3]},
        {go->name, bench_peer_once, &command}};

    bench_compare(bench, row, entrants, go->to != NULL ? 5 : 4);
}

int
main(void)
{
    static const uint32_t depths[] = {4, 16, 32};
    static const char *const verbs[] = {"capture4", "capture16", "capture-32"};
    struct bench_row row = {
        .operation = "capture", .unit = "ns", .goal_peer = "go1.19"};
    struct bench_peer go;
    struct bench bench;

    bench_begin(&bench, "capture", 4);
    if (bench.quick)
        bench.rows_planned = 2;
    embed_unwind_start();
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_GLOBAL);
    if (!bench_go_start(&go))
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        row.depth = depths[i];
        row.goal_ratio = row.depth == 16 ? 31 : 0;
        if (!bench.quick || row.depth == 16)
            run_row(&bench, &row, verbs[i], &go, NULL);
    }
    row.operation = "malloc-free";
    row.depth = 16;
    row.goal_ratio = 12;
    run_row(&bench, &row, "malloc", &go, prof_proc_at(make_prof(), 0));
    bench_peer_stop(&go);
    return bench_end(&bench);
}
