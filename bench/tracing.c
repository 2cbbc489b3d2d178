/*
 * tracing.c -- events with one number into a trace, from one processor and from
 * two, beside tracers that are no part of a language: LTTng-ust and OTF2. A
 * trace is on and nobody reads it meanwhile, on all sides. Ours is in the
 * order of the clock, as theirs are; the order of stamps, right whatever the
 * clocks do, is beside it. Bytes of an event are those of the file.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "pair.h"
#include "peers/peers.h"
#include "prof/trace.h"

enum { EVENTS = 200000, TURNS = 100, BUFFERS = 64 };

struct tracing {
    struct prof_trace *trace;
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
emit(struct prof_trace *trace, uint32_t proc, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t argument = i + (1 << 20);

        prof_trace_emit(trace, proc, PROF_EV_HEAP_ALLOC, &argument, NULL, 0);
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
    emit(tracing->trace, 0, EVENTS);
    ns = (double)(bench_cpu_ns() - begun_ns) / EVENTS;
    end(tracing);
    return ns;
}

static void
emit_turn(void *context, uint32_t thread, uint32_t turn)
{
    struct tracing *tracing = context;

    (void)turn;
    emit(tracing->trace, thread, EVENTS / TURNS);
}

static double
emit_pair(void *context, uint32_t round)
{
    const struct bench_pair pair = {.once = emit_turn,
                                    .context = context,
                                    .turns = TURNS,
                                    .warm = TURNS / 10};
    double ticks;

    (void)round;
    if (!begin(context))
        return -1;
    ticks = bench_pair_run(&pair);
    end(context);
    return ticks * bench_ns_a_tick() / (BENCH_PAIR * (EVENTS / TURNS));
}

/* Less what a session without events has; each buffer has a header, too. */
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

/* What a stamp asks for at least: the clock is read. */
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

/* ---------------------------------------------------------------------- rows
 */

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
        .order = order,
        .buffers_max = BUFFERS,
        .clock = {.ticks = counts ? count_ticks : NULL, .context = tracing}};
    const size_t bytes = prof_trace_bytes_needed(&config);

    if (prof_trace_init(&tracing->trace, &config, bench_pages(bytes), bytes) !=
        PROF_OK)
        exit(1);
}

/* A simulated clock: one call on our side, an argument on theirs. */
static void
run_counted(struct bench *bench, struct tracing *tracing,
            struct bench_peer *otf2)
{
    struct bench_command command = {otf2, "tracecounted"};
    const struct bench_entrant entrants[] = {
        {"profsim", emit_once, tracing},
        {otf2->name, bench_peer_once, &command}};
    const struct bench_row row = {.operation = "event-counted",
                                  .unit = "ns",
                                  .goal_peer = otf2->name,
                                  .goal_ratio = 2.28};

    bench_compare(bench, &row, entrants, otf2->to != NULL ? 2 : 1);
}

enum { GO, LTTNG, OTF2, PEERS };

static void
start_peers(struct bench *bench, struct bench_peer peers[PEERS])
{
    if (!bench_go_start(&peers[GO]))
        bench_skip(bench, peers[GO].name, "not built (make bench-peers)");
    /* A script that makes a session for what was built. */
    if (!bench_peer_start(&peers[LTTNG], "lttng-ust",
                          access("out/bench/peers/lttng", X_OK) == 0
                              ? "bench/peers/lttng.sh"
                              : NULL))
        bench_skip(bench, peers[LTTNG].name, "not built (make bench-peers)");
    if (!bench_peer_start(&peers[OTF2], "otf2", "out/bench/peers/otf2"))
        bench_skip(bench, peers[OTF2].name, "not built (make bench-peers)");
}

static void
run_row(struct bench *bench, struct tracing *tracing, struct tracing *stamped,
        struct bench_peer *peers, uint32_t threads)
{
    struct bench_command commands[PEERS];
    struct bench_entrant entrants[3 + PEERS];
    const struct bench_row row = {.operation = "event",
                                  .unit = "ns",
                                  .goal_peer = peers[GO].name,
                                  .goal_ratio = threads == 1 ? 3 : 2.4,
                                  .goal_best = threads == 1 ? 0.92 : 0.93,
                                  .threads = threads};
    double (*const once)(void *, uint32_t) =
        threads == 1 ? emit_once : emit_pair;
    size_t count = 0;

    entrants[count++] = (struct bench_entrant){"profsim", once, tracing};
    entrants[count++] = (struct bench_entrant){"(stamps)", once, stamped};
    if (threads == 1)
        entrants[count++] = (struct bench_entrant){"(clock)", clock_once, NULL};
    for (size_t i = 0; i < PEERS; i++) {
        if (peers[i].to == NULL)
            continue;
        commands[i] = (struct bench_command){
            &peers[i], threads == 1 ? "trace1" : "trace12"};
        entrants[count++] = (struct bench_entrant){
            peers[i].name, bench_peer_once, &commands[i]};
    }
    bench_compare(bench, &row, entrants, count);
}

int
main(void)
{
    struct tracing tracing = {0};
    struct tracing stamped = {0};
    struct tracing counted = {0};
    struct bench_peer peers[PEERS];
    struct bench bench;
    const struct bench_entrant sized[] = {{"profsim", bytes_once, &stamped}};
    const struct bench_row row = {.operation = "event-bytes",
                                  .unit = "bytes",
                                  .goal_at_most = 6.05,
                                  .exact = true};

    bench_begin(&bench, "tracing", 4);
    start_peers(&bench, peers);
    make(&tracing, PROF_TRACE_ORDER_CLOCK, false);
    make(&stamped, PROF_TRACE_ORDER_STAMPS, false);
    make(&counted, PROF_TRACE_ORDER_CLOCK, true);
    run_row(&bench, &tracing, &stamped, peers, 1);
    run_row(&bench, &tracing, &stamped, peers, 2);
    run_counted(&bench, &counted, &peers[OTF2]);
    bench_compare(&bench, &row, sized, 1);
    for (size_t i = 0; i < PEERS; i++)
        bench_peer_stop(&peers[i]);
    return bench_end(&bench);
}
