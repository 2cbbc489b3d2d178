/*
 * trace.c -- writing events into a trace, from one processor and from two,
 * compared with Go's runtime and two language-independent tracers, LTTng-ust
 * and OTF2. For each, a trace is on and is not read during the benchmark. Ours
 * is shown with both orders: by the clock alone, and by one counter shared by
 * all processors, as the 1.5 format numbers events. Events have no stacks;
 * table.c measures those. Bytes per event are those in the file.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/pair.h"
#include "bench/peers.h"
#include "prof/trace.h"

enum { EVENTS = 200000, ROUNDS = 1000, BUFFERS = 64 };

struct tracing {
    struct prof_trace *trace;
    enum prof_trace_event event;
    bool told;
    size_t bytes;   /* of the last session */
    uint64_t ticks; /* of a clock that only counts */
};

static bool
only_task(void *context, struct prof_trace_task *task)
{
    bool *told = context;

    if (*told)
        return false;
    *told = true;
    *task = (struct prof_trace_task){.id = 1};
    return true;
}

static bool
begin(struct tracing *tracing)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = only_task, .context = &tracing->told};

    tracing->told = false;
    return prof_trace_start(tracing->trace, &world) == PROF_OK;
}

static void
end(struct tracing *tracing)
{
    enum prof_status status = prof_trace_stop(tracing->trace, 0, NULL, 0);

    tracing->bytes = 0;
    while (status == PROF_OK) {
        const uint8_t *bytes;
        size_t count;

        status = prof_trace_read(tracing->trace, &bytes, &count);
        if (status == PROF_OK)
            tracing->bytes += count;
    }
    if (status != PROF_ERR_END ||
        prof_trace_drops(tracing->trace).no_buffer != 0)
        exit(1);
}

static void
emit(const struct tracing *tracing, uint32_t proc, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t argument = i + (1 << 20);

        prof_trace_emit(tracing->trace, proc, tracing->event, &argument, NULL,
                        0);
    }
}

static double
emit_once(void *context, uint32_t round)
{
    struct tracing *tracing = context;
    uint64_t begun_ns;
    double ns;

    (void)round;
    if (!begin(tracing))
        return -1;
    begun_ns = bench_cpu_ns();
    emit(tracing, 0, EVENTS);
    ns = (double)(bench_cpu_ns() - begun_ns) / EVENTS;
    end(tracing);
    return ns;
}

static void
emit_round(void *context, uint32_t thread, uint32_t round)
{
    struct tracing *tracing = context;

    (void)round;
    emit(tracing, thread, EVENTS / ROUNDS);
}

static double
emit_pair(void *context, uint32_t round)
{
    const struct bench_pair pair = {.once = emit_round,
                                    .context = context,
                                    .rounds = ROUNDS,
                                    .warm = ROUNDS / 10};
    double ticks;

    (void)round;
    if (!begin(context))
        return -1;
    ticks = bench_pair_run(&pair);
    end(context);
    return ticks * bench_ns_a_tick() / (BENCH_PAIR * (EVENTS / ROUNDS));
}

/* Bytes per event, without those of a session that has none; buffers' headers
 * are included. */
static double
bytes_once(void *context, uint32_t round)
{
    struct tracing *tracing = context;
    size_t empty_bytes;

    if (!begin(tracing))
        return -1;
    end(tracing);
    empty_bytes = tracing->bytes;
    if (!(emit_once(context, round) > 0))
        return -1;
    return (double)(tracing->bytes - empty_bytes) / EVENTS;
}

/* Lower bound of a stamp: it must read the clock. */
static double
clock_once(void *context, uint32_t round)
{
    uint64_t sum = 0;
    uint64_t begun_ns;

    (void)context;
    (void)round;
    begun_ns = bench_cpu_ns();
    for (uint32_t i = 0; i < EVENTS; i++) {
#if defined(__x86_64__)
        sum += __builtin_ia32_rdtsc();
#else
        sum += bench_now_ns();
#endif
        bench_use(sum);
    }
    return (double)(bench_cpu_ns() - begun_ns) / EVENTS;
}

/* ---- rows ---- */

static uint64_t
count_ticks(void *context)
{
    struct tracing *tracing = context;

    return tracing->ticks += 100;
}

static void
make(struct tracing *tracing, enum prof_trace_order order, bool counts)
{
    const struct prof_trace_config config = {
        .procs_max = BENCH_PAIR,
        .buffers_max = BUFFERS,
        .order = order,
        .clock = {.ticks = counts ? count_ticks : NULL, .context = tracing}};
    const size_t bytes = prof_trace_bytes_needed(&config);

    if (prof_trace_init(&tracing->trace, &config, bench_pages(bytes), bytes) !=
        PROF_OK)
        exit(1);
}

enum { GO, LTTNG, OTF2, PEERS };

struct rows {
    struct tracing by_clock;
    struct tracing by_stamps;
    struct tracing counted; /* by a clock that only counts */
    struct bench_peer peers[PEERS];
};

static void
start_peers(struct bench *bench, struct bench_peer peers[PEERS])
{
    (void)bench_go_start(&peers[GO]);
    /* Start a script, which makes a session for the program built. */
    (void)bench_peer_start(&peers[LTTNG], "lttng-ust",
                           access("out/bench/peers/lttng", X_OK) == 0
                               ? "bench/peers/lttng.sh"
                               : NULL);
    (void)bench_peer_start(&peers[OTF2], "otf2", "out/bench/peers/otf2");
    for (size_t i = 0; i < PEERS; i++) {
        if (peers[i].to == NULL)
            bench_skip(bench, peers[i].name, "not built (make bench-peers)");
    }
}

static void
run_row(struct bench *bench, struct rows *rows, struct bench_row row,
        enum prof_trace_event event, const char *verb)
{
    struct bench_command commands[PEERS];
    struct bench_entrant entrants[3 + PEERS];
    double (*const once)(void *, uint32_t) =
        row.threads == 1 ? emit_once : emit_pair;
    size_t count = 0;

    row.unit = "ns";
    row.goal_peer = rows->peers[GO].name;
    rows->by_clock.event = rows->by_stamps.event = event;
    entrants[count++] =
        (struct bench_entrant){"profsim", once, &rows->by_clock};
    entrants[count++] =
        (struct bench_entrant){"profsim stamps", once, &rows->by_stamps};
    if (row.threads == 1)
        entrants[count++] = (struct bench_entrant){"(clock)", clock_once, NULL};
    for (size_t i = 0; i < PEERS; i++) {
        /* The other peers have only events with one number. */
        if (rows->peers[i].to == NULL ||
            (i != GO && event != PROF_EV_HEAP_ALLOC))
            continue;
        commands[i] = (struct bench_command){&rows->peers[i], verb};
        entrants[count++] = (struct bench_entrant){
            rows->peers[i].name, bench_peer_once, &commands[i]};
    }
    bench_compare(bench, &row, entrants, count);
}

/* A simulated clock: a call on our side, an argument on theirs. */
static void
run_counted(struct bench *bench, struct rows *rows)
{
    struct bench_command command = {&rows->peers[OTF2], "tracecounted"};
    const struct bench_entrant entrants[] = {
        {"profsim", emit_once, &rows->counted},
        {rows->peers[OTF2].name, bench_peer_once, &command}};
    const struct bench_row row = {.operation = "event-counted",
                                  .unit = "ns",
                                  .goal_peer = rows->peers[OTF2].name,
                                  .goal_ratio = 2.28};

    bench_compare(bench, &row, entrants, rows->peers[OTF2].to != NULL ? 2 : 1);
}

static void
run_bytes(struct bench *bench, struct rows *rows)
{
    const struct bench_entrant entrants[] = {
        {"profsim", bytes_once, &rows->by_clock},
        {"profsim stamps", bytes_once, &rows->by_stamps}};
    const struct bench_row row = {.operation = "event-bytes",
                                  .unit = "bytes",
                                  .goal_at_most = 6.05,
                                  .exact = true};

    rows->by_clock.event = rows->by_stamps.event = PROF_EV_HEAP_ALLOC;
    bench_compare(bench, &row, entrants, sizeof entrants / sizeof *entrants);
}

int
main(void)
{
    static struct rows rows;
    struct bench bench;

    bench_begin(&bench, "trace", 5);
    start_peers(&bench, rows.peers);
    make(&rows.by_clock, PROF_TRACE_ORDER_CLOCK, false);
    make(&rows.by_stamps, PROF_TRACE_ORDER_STAMPS, false);
    make(&rows.counted, PROF_TRACE_ORDER_CLOCK, true);
    rows.counted.event = PROF_EV_HEAP_ALLOC;
    run_row(&bench, &rows,
            (struct bench_row){.operation = "event-1-arg",
                               .goal_ratio = 3,
                               .goal_best = 1.5,
                               .threads = 1},
            PROF_EV_HEAP_ALLOC, "trace1");
    run_row(&bench, &rows,
            (struct bench_row){.operation = "event-1-arg",
                               .goal_ratio = 2.4,
                               .goal_best = 0.93,
                               .threads = 2},
            PROF_EV_HEAP_ALLOC, "trace12");
    run_row(&bench, &rows,
            (struct bench_row){
                .operation = "event-0-args", .goal_ratio = 3, .threads = 1},
            PROF_EV_GO_SYSBLOCK, "trace0");
    run_counted(&bench, &rows);
    run_bytes(&bench, &rows);
    for (size_t i = 0; i < PEERS; i++)
        bench_peer_stop(&rows.peers[i]);
    return bench_end(&bench);
}
