/*
 * heap.c -- the record path of the heap profile: an allocation and a free as a
 * runtime records them, stack unwinding excluded on both sides.
 */
#include "batch.h"
#include "bench.h"
#include "ours.h"
#include "peers/peers.h"
#include "peers/tables.h"

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
              struct bench_row row, struct bench_batches batches[2],
              struct bench_peer *go, const char *const verbs[2])
{
    struct bench_command command = {go, verbs[point->threads - 1]};
    struct bench_entrant entrants[3] = {
        {"profsim", bench_batches_once, &batches[0]}};
    size_t count = 1;

    row.order = point->huge ? bench_order_name_huge(point->order)
                            : bench_order_name(point->order);
    row.unit = "ns";
    row.goal_peer = go->name;
    row.depth = point->depth;
    row.n = point->n;
    row.threads = point->threads;
    /* sharing.c measures how two threads slow each other down. */
    if (point->threads == 1 || batches[1].batch != bench_floor_free)
        entrants[count++] = (struct bench_entrant){
            batches[1].batch == bench_floor_free ? "(atomic add)"
                                                 : "(lower bound)",
            bench_batches_once, &batches[1]};
    if (go->to != NULL)
        entrants[count++] =
            (struct bench_entrant){go->name, bench_peer_once, &command};
    bench_compare(bench, &row, entrants, count);
}

static void
run_point(struct bench *bench, const struct point *point, struct bench_peer *go)
{
    static const char *const allocs[] = {"alloc", "alloc2"};
    static const char *const frees[] = {"free", "free2"};
    struct bench_load load;
    struct bench_ours ours;
    void *floor_table;
    struct bench_batches batches[2] = {
        {.load = &load, .context = &ours, .threads = point->threads},
        {.load = &load, .context = &ours, .threads = point->threads}};

    bench_load_make(&load, BENCH_CALLS, point->depth, point->n);
    bench_load_order(&load, point->order);
    bench_pages_huge(point->huge);
    bench_ours_make(&ours, &load);
    if (go->to != NULL)
        (void)bench_peer_ask(go, "load %s", load.path);
    floor_table = bench_floor_counted.create(load.n, load.depth);
    bench_pages_huge(false);
    (void)bench_insert_all(&load, bench_floor_counted.intern, floor_table,
                           NULL);
    batches[0].batch = bench_ours_alloc;
    batches[1].batch = bench_floor_counted.intern; /* the lower bound */
    batches[1].context = floor_table;
    run_operation(bench, point,
                  (struct bench_row){.operation = "alloc",
                                     .goal_ratio = point->goal_alloc},
                  batches, go, allocs);
    batches[0].batch = bench_ours_alloc_many;
    run_operation(bench, point,
                  (struct bench_row){.operation = "alloc-many",
                                     .goal_ratio = point->goal_alloc},
                  batches, go, allocs);
    batches[0].batch = bench_ours_free_batch;
    bench_floor_counted.destroy(floor_table);
    batches[1].batch = bench_floor_free;
    batches[1].context = &ours;
    run_operation(
        bench, point,
        (struct bench_row){.operation = "free", .goal_ratio = point->goal_free},
        batches, go, frees);
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
