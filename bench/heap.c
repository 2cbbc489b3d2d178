/*
 * heap.c -- the record path of the heap profile: an allocation and a free as a
 * runtime records them, stack unwinding excluded on both sides.
 */
#include "bench/batch.h"
#include "bench/bench.h"
#include "bench/ours.h"
#include "bench/peers.h"

struct point {
    uint32_t depth;
    uint32_t n;
    enum bench_order order;
    uint32_t threads;
    double goal_alloc; /* Go / ours; 0: none */
    double goal_free;
    bool quick;
    bool huge; /* use huge pages, see prof_init() */
};

static const struct point points[] = {
    {4, 10000, BENCH_ZIPF, 1, 0, 0, false, false},
    {16, 100, BENCH_ZIPF, 1, 0, 0, false, false},
    {16, 10000, BENCH_ZIPF, 1, 3, 3.0, true, false},
    {16, 10000, BENCH_ZIPF, 2, 9, 2.9, true, false},
    {32, 10000, BENCH_ZIPF, 1, 0, 0, false, false},
    {128, 10000, BENCH_ZIPF, 1, 0, 0, false, false},
    {16, 100000, BENCH_ZIPF, 1, 0, 0, false, false},
    {16, 1000000, BENCH_ZIPF, 1, 7, 1.6, true, false},
    {16, 1000000, BENCH_UNIFORM, 1, 7, 0, false, false},
    {16, 1000000, BENCH_ZIPF, 1, 7, 0, false, true},
    {16, 1000000, BENCH_UNIFORM, 1, 7, 0, false, true},
};

enum { POINTS = sizeof points / sizeof *points };

static void
run_operation(struct bench *bench, const struct point *point,
              struct bench_row row, struct bench_batches *batches,
              struct bench_peer *go, const char *const verbs[2])
{
    struct bench_command command = {go, verbs[point->threads - 1]};
    const struct bench_entrant entrants[] = {
        {"profsim", bench_batches_once, batches},
        {go->name, bench_peer_once, &command}};

    row.order = point->huge ? bench_order_name_huge(point->order)
                            : bench_order_name(point->order);
    row.unit = "ns";
    row.goal_peer = go->name;
    row.depth = point->depth;
    row.n = point->n;
    row.threads = point->threads;
    bench_compare(bench, &row, entrants, go->to != NULL ? 2 : 1);
}

static void
run_point(struct bench *bench, const struct point *point, struct bench_peer *go)
{
    static const char *const allocs[] = {"alloc", "alloc2"};
    static const char *const frees[] = {"free", "free2"};
    struct bench_load load;
    struct bench_ours ours;
    struct bench_batches batches = {
        .load = &load, .context = &ours, .threads = point->threads};

    bench_load_make(&load, BENCH_CALLS, point->depth, point->n);
    bench_load_order(&load, point->order);
    bench_pages_huge(point->huge);
    bench_ours_make(&ours, &load);
    if (go->to != NULL)
        (void)bench_peer_ask(go, "load %s", load.path);
    bench_pages_huge(false);
    batches.batch = bench_ours_alloc;
    run_operation(bench, point,
                  (struct bench_row){.operation = "alloc",
                                     .goal_ratio = point->goal_alloc},
                  &batches, go, allocs);
    batches.batch = bench_ours_alloc_many;
    run_operation(bench, point,
                  (struct bench_row){.operation = "alloc-many",
                                     .goal_ratio = point->goal_alloc},
                  &batches, go, allocs);
    batches.batch = bench_ours_free_batch;
    run_operation(
        bench, point,
        (struct bench_row){.operation = "free", .goal_ratio = point->goal_free},
        &batches, go, frees);
    bench_ours_free(&ours);
    bench_load_free(&load);
}

int
main(void)
{
    struct bench_peer go;
    struct bench bench;

    bench_begin(&bench, "heap", 0);
    for (uint32_t i = 0; i < POINTS; i++)
        bench.rows_planned += bench.quick && !points[i].quick ? 0 : 3;
    if (!bench_go_start(&go))
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    for (uint32_t i = 0; i < POINTS; i++) {
        if (!bench.quick || points[i].quick)
            run_point(&bench, &points[i], &go);
    }
    bench_peer_stop(&go);
    return bench_end(&bench);
}
