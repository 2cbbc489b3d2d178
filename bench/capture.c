/*
 * capture.c -- taking the stack that all other rows leave out; and malloc and
 * free with every allocation recorded. The recorder asks libunwind, which keeps
 * what it has learned of each return address: it must also see through programs
 * without frame pointers. What those would allow is the floor: a walk that
 * checks each frame against the bounds of the thread's stack.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"
#include "peers/peers.h"
#include "prof/prof.h"

enum { CALLS = 2000, DEPTH_MAX = 32, OBJECT_BYTES = 64 };

/* unwind_so.c */
void bench_unwind_begin(void);
uint32_t bench_unwind(uintptr_t *pcs, uint32_t depth_max);

struct capture {
    uint32_t (*capture)(uintptr_t *pcs, uint32_t depth);
    struct prof_proc *proc; /* NULL: only capture */
    uint32_t depth;
    uint64_t spent_ns;
};

static uintptr_t stack_low, stack_high;

static void
find_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &low, &bytes) != 0)
        exit(1);
    pthread_attr_destroy(&attributes);
    stack_low = (uintptr_t)low;
    stack_high = stack_low + bytes;
}

static __attribute__((noinline)) uint32_t
walk_frames(uintptr_t *pcs, uint32_t depth_max)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uint32_t depth = 0;

    while (depth < depth_max && frame >= stack_low &&
           frame <= stack_high - 2 * sizeof frame &&
           frame % sizeof frame == 0) {
        const uintptr_t *words = (const uintptr_t *)frame;

        if (words[1] == 0)
            break;
        pcs[depth++] = words[1];
        if (words[0] <= frame) /* callers lie above */
            break;
        frame = words[0];
    }
    return depth;
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

/* So many frames more than the caller has; no compiler makes them a loop. */
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
    struct capture captures[] = {{bench_unwind, proc, row->depth, 0},
                                 {walk_frames, proc, row->depth, 0},
                                 {walk_glibc, proc, row->depth, 0}};
    struct bench_command command = {go, verb};
    const struct bench_entrant entrants[] = {
        {"profsim", capture_once, &captures[0]},
        {"(frame pointers)", capture_once, &captures[1]},
        {"glibc", capture_once, &captures[2]},
        {go->name, bench_peer_once, &command}};

    bench_compare(bench, row, entrants, go->to != NULL ? 4 : 3);
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
    find_stack();
    bench_unwind_begin();
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
