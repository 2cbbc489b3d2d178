/*
 * table.c -- looking a stack up, and adding a new one: the bucket table, beside
 * Go's stkbucket and general-purpose tables.
 *
 * A peer table is given our hash and a word compare, so that tables differ and
 * nothing else. All find the key or add it; unwinding is outside on all sides.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "instance.h"
#include "peers/peers.h"
#include "peers/tables.h"

/* ---------------------------------------------------------------------- ours
 */

struct ours {
    struct prof *prof;
    void *block;
    size_t bytes;
};

static void *
ours_create(uint32_t n, uint32_t depth)
{
    const struct prof_config config = {
        .buckets_max = n,
        .depth_max = depth,
        .frames_max = (uint64_t)n * depth,
    };
    struct ours *ours = malloc(sizeof *ours);

    if (ours == NULL)
        exit(1);
    ours->bytes = prof_bytes_needed(&config);
    ours->block = bench_pages(ours->bytes);
    if (prof_init(&ours->prof, &config, ours->block, ours->bytes) != PROF_OK)
        exit(1);
    return ours;
}

static void
ours_destroy(void *context)
{
    struct ours *ours = context;

    bench_pages_return(ours->block, ours->bytes);
    free(ours);
}

BENCH_LOOP(ours_intern, struct ours,
           prof_table_intern(&table->prof->table, KIND_HEAP, key->frames,
                             (uint32_t)key->words - 2, key->size_bytes));

static const struct bench_table ours_table = {
    .name = "profsim",
    .create = ours_create,
    .destroy = ours_destroy,
    .intern = ours_intern,
    .concurrent = true,
};

/* ---------------------------------------------------------------------- rows
 */

struct place {
    enum bench_stacks stacks;
    uint32_t depth;
    uint32_t n;
    enum bench_order order;
    double goal_hit; /* Go / ours */
    bool quick;
};

static const struct place places[] = {
    {BENCH_CALLS, 4, 10000, BENCH_ZIPF, 1.47, false},
    {BENCH_CALLS, 16, 100, BENCH_ZIPF, 3.0, true},
    {BENCH_CALLS, 16, 10000, BENCH_ZIPF, 2.3, true},
    {BENCH_CALLS, 32, 10000, BENCH_ZIPF, 3.5, true},
    {BENCH_CALLS, 128, 10000, BENCH_ZIPF, 0, false},
    {BENCH_CALLS, 16, 100000, BENCH_ZIPF, 2.1, false},
    {BENCH_CALLS, 16, 100000, BENCH_UNIFORM, 1.95, true},
    {BENCH_GRID, 16, 100000, BENCH_UNIFORM, 0, false},
    {BENCH_CALLS, 16, 1000000, BENCH_ZIPF, 0, false},
    {BENCH_CALLS, 16, 1000000, BENCH_UNIFORM, 6.3, false},
};

enum { PLACES = sizeof places / sizeof *places };

struct tables {
    const struct bench_table *all[BENCH_ENTRANTS_MAX];
    void *made[BENCH_ENTRANTS_MAX];
    struct bench_batches batches[BENCH_ENTRANTS_MAX];
    struct bench_entrant entrants[BENCH_ENTRANTS_MAX];
    size_t count;
    struct bench_peer go;
    struct bench_command go_hit[2]; /* by threads - 1 */
    bool has_go;
};

static const char *
order_of(const struct place *place)
{
    if (place->stacks == BENCH_GRID)
        return "grid";
    return bench_order_name(place->order);
}

/* All entrants that can take part with so many threads. */
static size_t
enter(struct tables *tables, const struct bench_load *load, uint32_t threads)
{
    size_t count = 0;

    for (size_t i = 0; i < tables->count; i++) {
        const struct bench_table *table = tables->all[i];

        if (threads > 1 && !table->concurrent)
            continue;
        tables->batches[count] = (struct bench_batches){
            .load = load,
            .batch = table->intern,
            .context = tables->made[i],
            .thread_begin = table->thread_begin,
            .thread_end = table->thread_end,
            .threads = threads,
        };
        tables->entrants[count] = (struct bench_entrant){
            table->name, bench_batches_once, &tables->batches[count]};
        count++;
    }
    if (tables->has_go)
        tables->entrants[count++] = (struct bench_entrant){
            tables->go.name, bench_peer_once, &tables->go_hit[threads - 1]};
    return count;
}

static void
run_place(struct bench *bench, struct tables *tables, const struct place *place)
{
    struct bench_load load;

    bench_load_make(&load, place->stacks, place->depth, place->n);
    bench_load_order(&load, place->order);
    for (size_t i = 0; i < tables->count; i++) {
        const struct bench_table *table = tables->all[i];

        if (table->thread_begin != NULL)
            table->thread_begin();
        tables->made[i] = table->create(load.n, load.depth);
        bench_insert_all(&load, table->intern, tables->made[i]);
        if (table->thread_end != NULL)
            table->thread_end();
    }
    if (tables->has_go)
        (void)bench_peer_ask(&tables->go, "load %s", load.path);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        const struct bench_row row = {
            .operation = "hit",
            .order = order_of(place),
            .unit = "ns",
            .goal_peer = tables->go.name,
            .goal_ratio = threads == 1 ? place->goal_hit : 0,
            .depth = place->depth,
            .n = place->n,
            .threads = threads,
        };

        if (threads == 2 && (bench->quick || place->n != 10000))
            continue;
        bench_compare(bench, &row, tables->entrants,
                      enter(tables, &load, threads));
    }
    for (size_t i = 0; i < tables->count; i++) {
        const struct bench_table *table = tables->all[i];

        if (table->thread_begin != NULL)
            table->thread_begin();
        table->destroy(tables->made[i]);
        if (table->thread_end != NULL)
            table->thread_end();
    }
    bench_load_free(&load);
}

/* ------------------------------------------------------------------- inserts
 */

struct inserts {
    const struct bench_table *table;
    const struct bench_load *load;
};

static double
insert_once(void *context, uint32_t round)
{
    const struct inserts *inserts = context;
    const struct bench_load *load = inserts->load;
    const size_t key_bytes = 8 * (size_t)load->depth;
    double ns;
    void *table;

    (void)round;
    bench_warm_pages(load->n * (key_bytes + 320) + (8U << 20));
    if (inserts->table->thread_begin != NULL)
        inserts->table->thread_begin();
    table = inserts->table->create(load->n, load->depth);
    ns = bench_insert_all(load, inserts->table->intern, table);
    inserts->table->destroy(table);
    if (inserts->table->thread_end != NULL)
        inserts->table->thread_end();
    return ns;
}

static void
run_inserts(struct bench *bench, struct tables *tables, uint32_t n, double goal)
{
    const struct bench_row row = {
        .operation = "insert",
        .order = "fresh-pages",
        .unit = "ns",
        .goal_peer = tables->go.name,
        .goal_ratio = goal,
        .depth = 16,
        .n = n,
    };
    struct inserts inserts[BENCH_ENTRANTS_MAX];
    struct bench_command go = {&tables->go, "insert"};
    struct bench_load load;
    size_t count = 0;

    bench_load_make(&load, BENCH_CALLS, row.depth, n);
    for (; count < tables->count; count++) {
        inserts[count] = (struct inserts){tables->all[count], &load};
        tables->entrants[count] = (struct bench_entrant){
            tables->all[count]->name, insert_once, &inserts[count]};
    }
    if (tables->has_go) {
        (void)bench_peer_ask(&tables->go, "load %s", load.path);
        tables->entrants[count++] =
            (struct bench_entrant){tables->go.name, bench_peer_once, &go};
    }
    bench_compare(bench, &row, tables->entrants, count);
    bench_load_free(&load);
}

/* -------------------------------------------------------------------- memory
 */

static double
ours_memory(void *context, uint32_t round)
{
    const uint32_t n = *(const uint32_t *)context;
    const struct prof_config config = {
        .buckets_max = n, .depth_max = 16, .frames_max = (uint64_t)n * 16};

    (void)round;
    return (double)prof_bytes_needed(&config) / n;
}

static void
run_memory(struct bench *bench, struct tables *tables)
{
    const struct bench_row row = {
        .operation = "memory",
        .unit = "bytes",
        .goal_at_most = 232,
        .depth = 16,
        .n = 1000000,
    };
    uint32_t n = row.n;
    struct bench_command go = {&tables->go, "memory"};
    const struct bench_entrant entrants[] = {
        {"profsim", ours_memory, &n}, {tables->go.name, bench_peer_once, &go}};
    struct bench_load load;

    bench_load_make(&load, BENCH_CALLS, row.depth, n);
    if (tables->has_go)
        (void)bench_peer_ask(&tables->go, "load %s", load.path);
    bench_compare(bench, &row, entrants, tables->has_go ? 2 : 1);
    bench_load_free(&load);
}

int
main(void)
{
    static struct tables tables;
    struct bench bench;

    bench_begin(&bench, "table", PLACES + 5);
    tables.all[tables.count++] = &ours_table;
    for (uint32_t i = 0; i < BENCH_TABLES; i++) {
        const char *name, *why;
        const struct bench_table *table = bench_table_at(i, &name, &why);

        if (table != NULL)
            tables.all[tables.count++] = table;
        else
            bench_skip(&bench, name, why);
    }
    tables.has_go = bench_go_start(&tables.go);
    if (!tables.has_go)
        bench_skip(&bench, tables.go.name, "not built (make bench-peers)");
    tables.go_hit[0] = (struct bench_command){&tables.go, "hit"};
    tables.go_hit[1] = (struct bench_command){&tables.go, "hit2"};
    for (uint32_t i = 0; i < PLACES; i++) {
        if (!bench.quick || places[i].quick)
            run_place(&bench, &tables, &places[i]);
    }
    run_inserts(&bench, &tables, 100000, 3.3);
    if (!bench.quick) {
        run_inserts(&bench, &tables, 1000000, 4.7);
        run_memory(&bench, &tables);
    }
    bench_peer_stop(&tables.go);
    return bench_end(&bench);
}
