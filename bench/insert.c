/*
 * insert.c -- adding new stacks: on fresh pages, which the kernel must supply
 * first, on recycled pages, and by two threads; the longest time that any 64
 * insertions took; and memory per bucket. Entrants as in table.c.
 *
 * build: ldflags=-rdynamic
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "bench/peers.h"
#include "bench/tables.h"
#include "prof/prof.h"

enum {
    DEPTH = 16,
    SMALL = 100000,
    LARGE = 1000000,
    BATCHES = LARGE / BENCH_BATCH + 1,
    ROWS = 10,
    ROWS_QUICK = 2
};

/* One entrant of a row. */
struct inserter {
    const struct bench_table *table;
    const struct bench_load *load;
    uint64_t *batch_ticks; /* least of each batch, in all rounds so far */
    uint32_t threads;
    bool recycled;
};

static double
insert(const struct inserter *inserter)
{
    const struct bench_table *table = inserter->table;
    const struct bench_load *load = inserter->load;
    struct bench_batches batches = {.load = load, .batch = table->intern};
    double ns;

    batches.context = table->create(load->n, load->depth);
    if (inserter->threads > 1)
        ns = bench_insert_pair(&batches);
    else
        ns = bench_insert_all(load, table->intern, batches.context,
                              inserter->batch_ticks);
    table->destroy(batches.context);
    return ns;
}

static double
insert_once(void *context, uint32_t round)
{
    const struct inserter *inserter = context;
    const size_t key_bytes = 8 * (size_t)inserter->load->depth;

    (void)round;
    if (!inserter->recycled)
        bench_warm_pages(inserter->load->n * (key_bytes + 320) + (8U << 20));
    return insert(inserter);
}

/*
 * returns: milliseconds of the slowest batch. A batch that is slow in only one
 *          round was not slowed by the table, so each batch counts with its
 *          best round.
 */
static double
stall_once(void *context, uint32_t round)
{
    const struct inserter *inserter = context;
    uint64_t worst = 0;

    (void)insert_once(context, round);
    for (uint32_t b = 0; b < inserter->load->n / BENCH_BATCH; b++) {
        if (inserter->batch_ticks[b] > worst)
            worst = inserter->batch_ticks[b];
    }
    return (double)worst * bench_ns_a_tick() / 1e6;
}

/*
 * returns: bytes of the library's block that were touched after an allocation
 *          and a free of each key were published. prof_bytes_needed() is
 *          larger: it includes pages for contention and for counts above 2^32,
 *          which cost nothing until they are touched
 */
static size_t
ours_touched(const struct bench_load *load, const struct prof_config *config)
{
    const size_t page = 4096;
    const size_t bytes = prof_bytes_needed(config);
    unsigned char *resident = calloc(bytes / page + 1, 1);
    void *block = bench_pages(bytes);
    struct prof_proc *proc;
    struct prof *prof;
    size_t pages = 0;

    if (resident == NULL || prof_init(&prof, config, block, bytes) != PROF_OK)
        exit(1);
    proc = prof_proc_at(prof, 0);
    for (uint32_t i = 0; i < load->n; i++) {
        const uint64_t *record = bench_record(load, i);

        prof_heap_free_explicit(
            proc, prof_heap_alloc(proc, record + 1, load->depth, record[0]));
    }
    for (uint32_t rounds = 0; rounds < 3; rounds++) {
        /* Count one in each of the slots. */
        for (prof_bucket bucket = 1; bucket <= load->n; bucket++)
            prof_heap_free(proc, bucket);
        if (prof_heap_next_cycle(prof) != PROF_OK ||
            prof_heap_flush(prof) != PROF_OK)
            exit(1);
    }
    if (mincore(block, bytes, resident) != 0)
        exit(1);
    for (size_t i = 0; i < bytes / page + 1; i++)
        pages += resident[i] & 1;
    bench_pages_return(block, bytes);
    free(resident);
    return pages * page;
}

/* returns: bytes per key that a table took, of pages and of malloc() */
static double
memory_once(void *context, uint32_t round)
{
    const struct inserter *inserter = context;
    const struct bench_table *table = inserter->table;
    const struct bench_load *load = inserter->load;
    const struct prof_config config = {.buckets_max = load->n,
                                       .depth_max = load->depth,
                                       .frames_max =
                                           (uint64_t)load->n * load->depth};
    const struct mallinfo2 before = mallinfo2();
    struct mallinfo2 after;
    size_t bytes;
    void *made;

    (void)round;
    if (table == &bench_ours_table)
        return (double)ours_touched(load, &config) / load->n;
    made = table->create(load->n, load->depth);
    (void)bench_insert_all(load, table->intern, made, NULL);
    after = mallinfo2();
    bytes = bench_arena_used() + after.uordblks + after.hblkhd -
            before.uordblks - before.hblkhd;
    table->destroy(made);
    return (double)bytes / load->n;
}

/* ---- rows ---- */

struct rows {
    struct bench_tables tables;
    struct bench_peer go;
};

struct kind {
    double (*once)(void *context, uint32_t round);
    const char *go_verb; /* NULL: Go takes no part */
    bool recycled;
    bool huge; /* pages */
};

static bool
takes_part(const struct bench_table *table, const struct bench_row *row)
{
    if (row->n >= LARGE && !table->large)
        return false;
    return row->threads == 1 || table->concurrent_inserts;
}

static void
run_row(struct bench *bench, struct rows *rows, struct bench_row row,
        const struct kind *kind)
{
    struct inserter inserters[BENCH_ENTRANTS_MAX];
    struct bench_entrant entrants[BENCH_ENTRANTS_MAX];
    struct bench_command go = {&rows->go, kind->go_verb};
    const size_t ticks_bytes = BATCHES * sizeof(uint64_t);
    struct bench_load load;
    size_t count = 0;

    row.goal_peer = rows->go.name;
    row.depth = DEPTH;
    bench_load_make(&load, BENCH_CALLS, row.depth, row.n);
    for (size_t i = 0; i < rows->tables.count; i++) {
        const struct bench_table *table = rows->tables.all[i];
        struct inserter *inserter = &inserters[count];

        if (!takes_part(table, &row))
            continue;
        *inserter = (struct inserter){.table = table,
                                      .load = &load,
                                      .batch_ticks = bench_pages(ticks_bytes),
                                      .threads = row.threads,
                                      .recycled = kind->recycled};
        for (uint32_t b = 0; b < BATCHES; b++)
            inserter->batch_ticks[b] = UINT64_MAX;
        entrants[count++] =
            (struct bench_entrant){table->name, kind->once, inserter};
    }
    if (rows->go.to != NULL && kind->go_verb != NULL) {
        (void)bench_peer_ask(&rows->go, "load %s", load.path);
        entrants[count++] =
            (struct bench_entrant){rows->go.name, bench_peer_once, &go};
    }
    bench_pages_recycled(kind->recycled);
    bench_pages_huge(kind->huge);
    /* Freed memory goes back to the table, not to the kernel. */
    mallopt(M_MMAP_MAX, kind->recycled ? 0 : 65536);
    mallopt(M_TRIM_THRESHOLD, kind->recycled ? INT32_MAX : 128 << 10);
    bench_compare(bench, &row, entrants, count);
    bench_pages_recycled(false);
    bench_pages_huge(false);
    for (size_t i = 0; i < count; i++) {
        if (entrants[i].context != &go)
            bench_pages_return(inserters[i].batch_ticks, ticks_bytes);
    }
    bench_load_free(&load);
}

/* A quick run makes only the first two rows. The default is an insertion, in
 * ns, on one thread. */
static const struct {
    struct bench_row row;
    struct kind kind;
} all_rows[] = {
    {{.order = "fresh-pages", .goal_ratio = 4, .n = SMALL},
     {.once = insert_once, .go_verb = "insert"}},
    {{.order = "recycled", .goal_best = 0.93, .n = SMALL},
     {.once = insert_once, .recycled = true}},
    {{.order = "recycled", .goal_best = 1, .n = LARGE},
     {.once = insert_once, .recycled = true}},
    {{.order = "fresh-pages", .goal_ratio = 4.7, .n = LARGE},
     {.once = insert_once, .go_verb = "insert"}},
    {{.order = "fresh-pages", .goal_ratio = 5, .n = SMALL, .threads = 2},
     {.once = insert_once, .go_verb = "insert2"}},
    {{.order = "fresh-huge-pages", .goal_ratio = 4, .n = SMALL},
     {.once = insert_once, .go_verb = "insert", .huge = true}},
    {{.order = "fresh-huge-pages", .goal_ratio = 4, .n = LARGE},
     {.once = insert_once, .go_verb = "insert", .huge = true}},
    {{.order = "fresh-huge-pages", .goal_ratio = 5, .n = SMALL, .threads = 2},
     {.once = insert_once, .go_verb = "insert2", .huge = true}},
    {{.operation = "stall-of-64",
      .order = "fresh-pages",
      .unit = "ms",
      .goal_at_most = 0.3,
      .n = LARGE},
     {.once = stall_once, .go_verb = "stall"}},
    {{.operation = "memory",
      .unit = "bytes",
      .goal_at_most = 232,
      .n = LARGE,
      .exact = true},
     {.once = memory_once, .go_verb = "memory"}},
};

static void
run_all(struct bench *bench, struct rows *rows)
{
    const size_t count = bench->quick ? 2 : sizeof all_rows / sizeof *all_rows;

    for (size_t i = 0; i < count; i++) {
        struct bench_row row = all_rows[i].row;

        if (row.operation == NULL)
            row.operation = "insert";
        if (row.unit == NULL)
            row.unit = "ns";
        if (row.threads == 0)
            row.threads = 1;
        run_row(bench, rows, row, &all_rows[i].kind);
    }
}

int
main(void)
{
    static struct rows rows = {
        .tables = {.all = {&bench_ours_table}, .count = 1}};
    struct bench bench;

    bench_begin(&bench, "insert", ROWS);
    if (bench.quick)
        bench.rows_planned = ROWS_QUICK;
    bench_tables_add_peers(&rows.tables, &bench);
    if (!bench_go_start(&rows.go))
        bench_skip(&bench, rows.go.name, "not built (make bench-peers)");
    run_all(&bench, &rows);
    bench_peer_stop(&rows.go);
    return bench_end(&bench);
}
