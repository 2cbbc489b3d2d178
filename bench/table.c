/*
 * table.c -- looking up a stack: the bucket table, compared with Go's stkbucket
 * and general-purpose tables; and the number of a stack in a trace, where the
 * key has no size, compared with Go's traceStackTable.
 *
 * Peer tables use our hash and compare keys word by word, so that only the
 * tables differ. All find the key or add it; stack unwinding is excluded
 * everywhere. C++ sets are single-threaded, and have no lock here.
 *
 * build: ldflags=-rdynamic
 */
#include <string.h>

#include "bench/bench.h"
#include "bench/peers.h"
#include "bench/tables.h"

struct point {
    enum bench_stacks stacks;
    uint32_t depth;
    uint32_t n;
    enum bench_order order;
    double goal_hit;      /* Go / ours */
    double goal_isolated; /* the same; < 0: a row without a goal; 0: no row */
    bool two_threads;
    bool quick;
    bool stack_ids; /* only the row of the tracer's stack numbers */
};

/* Measured on another machine; docs/speed.md says what ours allows. */
static const double GOAL_TWO_THREADS = 2.25;
static const double GOAL_BEST = 1.1;

static const struct point points[] = {
    {BENCH_CALLS, 4, 10000, BENCH_ZIPF, 1.47, -1, true, false, false},
    {BENCH_CALLS, 16, 100, BENCH_ZIPF, 3.0, 0, true, true, false},
    {BENCH_CALLS, 16, 1000, BENCH_ZIPF, 0, 0, false, false, false},
    {BENCH_CALLS, 16, 10000, BENCH_ZIPF, 2.3, 1.52, true, true, false},
    {BENCH_CALLS, 32, 10000, BENCH_ZIPF, 3.5, 0, true, true, false},
    {BENCH_CALLS, 128, 10000, BENCH_ZIPF, 0, 0, true, false, false},
    {BENCH_CALLS, 16, 100000, BENCH_ZIPF, 2.1, 0, false, false, false},
    {BENCH_CALLS, 16, 100000, BENCH_UNIFORM, 1.95, -1, false, true, false},
    {BENCH_GRID, 16, 100000, BENCH_UNIFORM, 0, 0, false, false, false},
    {BENCH_CALLS, 16, 1000000, BENCH_ZIPF, 0, 0, false, false, false},
    {BENCH_CALLS, 16, 1000000, BENCH_UNIFORM, 6.3, 2.76, true, false, false},
    {BENCH_CALLS, 16, 100, BENCH_ZIPF, 1.2, 0, false, false, true},
    {BENCH_CALLS, 16, 10000, BENCH_ZIPF, 1.94, 0, false, false, true},
    {BENCH_CALLS, 16, 100000, BENCH_ZIPF, 2.9, 0, false, false, true},
    /* Go's fixed chains would be 55 long, and take minutes to fill. */
    {BENCH_CALLS, 4, 10000000, BENCH_UNIFORM, 0, -1, false, false, false},
};

enum {
    POINTS = sizeof points / sizeof *points,
    ALL_UP_TO = 1000000 /* keys; above, only tables with `large` */
};

/* The entrants at one point (keys, depth, order). */
struct party {
    struct bench_tables tables;
    const struct bench_table *there[BENCH_ENTRANTS_MAX];
    void *made[BENCH_ENTRANTS_MAX];
    size_t count;
    struct bench_peer go;
    struct bench_load load;
};

static const char *
order_of(const struct point *point)
{
    if (point->stacks == BENCH_GRID)
        return "grid";
    return bench_order_name(point->order);
}

/* returns: whether the same keys are in the same tables */
static bool
is_like(const struct point *a, const struct point *b)
{
    return a != NULL && b != NULL && a->stacks == b->stacks &&
           a->depth == b->depth && a->n == b->n && a->stack_ids == b->stack_ids;
}

static void
fill(struct party *party, const struct point *point)
{
    bench_load_make(&party->load, point->stacks, point->depth, point->n);
    party->count = 0;
    party->tables.all[0] =
        point->stack_ids ? &bench_ours_stacks : &bench_ours_table;
    for (size_t i = 0; i < party->tables.count; i++) {
        const struct bench_table *table = party->tables.all[i];
        void *made;

        if (point->n > ALL_UP_TO && !table->large)
            continue;
        made = table->create(point->n, point->depth);
        bench_insert_all(&party->load, table->intern, made);
        party->there[party->count] = table;
        party->made[party->count++] = made;
    }
    if (point->n <= ALL_UP_TO)
        (void)bench_peer_ask(&party->go, "load %s", party->load.path);
}

static void
empty(struct party *party)
{
    for (size_t i = 0; i < party->count; i++)
        party->there[i]->destroy(party->made[i]);
    bench_load_free(&party->load);
    party->count = 0;
}

/* Run one row: all tables that support this number of threads, with isolated
 * operations or not. */
static void
run_row(struct bench *bench, struct party *party, const struct bench_row *row,
        const char *go_verb, bool isolated)
{
    struct bench_batches batches[BENCH_ENTRANTS_MAX];
    struct bench_entrant entrants[BENCH_ENTRANTS_MAX];
    struct bench_command go = {&party->go, go_verb};
    size_t count = 0;

    for (size_t i = 0; i < party->count; i++) {
        const struct bench_table *table = party->there[i];

        if (row->threads > 1 && !table->concurrent)
            continue;
        batches[count] = (struct bench_batches){
            .load = &party->load,
            .batch = table->intern,
            .context = party->made[i],
            .threads = row->threads,
            .isolated = isolated,
        };
        entrants[count] = (struct bench_entrant){
            table->name, bench_batches_once, &batches[count]};
        count++;
    }
    if (party->go.to != NULL && row->n <= ALL_UP_TO)
        entrants[count++] =
            (struct bench_entrant){party->go.name, bench_peer_once, &go};
    bench_compare(bench, row, entrants, count);
}

static void
run_point(struct bench *bench, struct party *party, const struct point *point,
          const struct point *next)
{
    struct bench_row row = {
        .operation = "hit",
        .order = order_of(point),
        .unit = "ns",
        .goal_peer = party->go.name,
        .goal_ratio = point->goal_hit,
        .goal_best = GOAL_BEST,
        .depth = point->depth,
        .n = point->n,
        .threads = 1,
    };

    if (party->count == 0)
        fill(party, point);
    bench_load_order(&party->load, point->order);
    if (point->stack_ids)
        row.operation = "stack-id";
    run_row(bench, party, &row, point->stack_ids ? "stackid" : "hit", false);
    if (point->goal_isolated != 0 && !bench->quick) {
        row.operation = "hit-isolated";
        row.goal_ratio = point->goal_isolated > 0 ? point->goal_isolated : 0;
        run_row(bench, party, &row, "hitalone", true);
    }
    if (point->two_threads && !bench->quick) {
        row.operation = "hit";
        row.threads = 2;
        row.goal_ratio =
            point->depth == 16 && point->n == 10000 ? GOAL_TWO_THREADS : 0;
        run_row(bench, party, &row, "hit2", false);
    }
    if (!is_like(point, next))
        empty(party);
}

static uint32_t
rows_of(const struct point *point, bool quick)
{
    if (quick)
        return point->quick;
    return 1U + (point->goal_isolated != 0) + point->two_threads;
}

int
main(void)
{
    static struct party party = {
        .tables = {.all = {&bench_ours_table}, .count = 1}};
    struct bench bench;
    uint32_t rows = 0;

    bench_begin(&bench, "table", 0);
    for (uint32_t i = 0; i < POINTS; i++)
        rows += rows_of(&points[i], bench.quick);
    bench.rows_planned = rows;
    bench_tables_add_peers(&party.tables, &bench);
    if (!bench_go_start(&party.go))
        bench_skip(&bench, party.go.name, "not built (make bench-peers)");
    for (uint32_t i = 0; i < POINTS; i++) {
        const struct point *next = i + 1 < POINTS ? &points[i + 1] : NULL;

        if (!bench.quick)
            run_point(&bench, &party, &points[i], next);
        else if (points[i].quick)
            run_point(&bench, &party, &points[i], NULL);
    }
    bench_peer_stop(&party.go);
    return bench_end(&bench);
}
