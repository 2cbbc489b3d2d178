/*
 * trace.c -- an event into a trace buffer, with the real clock and with one
 * that only counts. Go's runtime does the same beside us: the same events, no
 * stack on either side, and as here each processor reads the clock for itself.
 */
#include <stdlib.h>

#include "batch.h"
#include "bench.h"
#include "peers/peers.h"
#include "prof/trace.h"

enum { EVENTS = 200000, BUFFERS = 64, PROC = 0 };

struct tracer {
    struct prof_trace *trace;
    enum prof_trace_event event;
    uint32_t args;
    uint64_t ticks; /* of the counting clock */
};

static uint64_t
count_ticks(void *context)
{
    struct tracer *tracer = context;

    return tracer->ticks += 100;
}

static bool
no_task(void *context, struct prof_trace_task *task)
{
    bool *told = context;

    if (*told)
        return false;
    *told = true;
    *task = (struct prof_trace_task){.id = 1};
    return true;
}

static void
make(struct tracer *tracer, bool real_clock)
{
    const struct prof_trace_config config = {
        .procs_max = 1,
        .buffers_max = BUFFERS,
        .order = PROF_TRACE_ORDER_CLOCK,
        .clock = {.ticks = real_clock ? NULL : count_ticks, .context = tracer},
    };
    const size_t bytes = prof_trace_bytes_needed(&config);

    if (prof_trace_init(&tracer->trace, &config, bench_pages(bytes), bytes) !=
        PROF_OK)
        exit(1);
}

/* Stop the session and read it to its end. returns: its bytes */
static size_t
stop(struct tracer *tracer)
{
    enum prof_status status = prof_trace_stop(tracer->trace, PROC, NULL, 0);
    size_t sum = 0;

    while (status == PROF_OK) {
        const uint8_t *bytes;
        size_t count;

        status = prof_trace_read(tracer->trace, &bytes, &count);
        if (status == PROF_OK)
            sum += count;
    }
    if (status != PROF_ERR_END ||
        prof_trace_drops(tracer->trace).no_buffer != 0)
        exit(1);
    return sum;
}

static double
emit_once(void *context, uint32_t round)
{
    struct tracer *tracer = context;
    bool told = false;
    const struct prof_trace_world world = {.proc = PROC,
                                           .thread = 1,
                                           .task = 1,
                                           .next = no_task,
                                           .context = &told};
    uint64_t begun;
    double ns;

    (void)round;
    if (prof_trace_start(tracer->trace, &world) != PROF_OK)
        return -1;
    begun = bench_cpu_ns();
    for (uint64_t i = 0; i < EVENTS; i++) {
        const uint64_t argument = i + (1 << 20);

        prof_trace_emit(tracer->trace, PROC, tracer->event, &argument, NULL, 0);
    }
    ns = (double)(bench_cpu_ns() - begun) / EVENTS;
    (void)stop(tracer);
    return ns;
}

static void
run_row(struct bench *bench, const char *operation, double goal,
        struct tracer *ours, const char *verb, struct bench_peer *go)
{
    struct bench_command command = {go, verb};
    const struct bench_entrant entrants[] = {
        {"profsim", emit_once, ours}, {go->name, bench_peer_once, &command}};
    const struct bench_row row = {.operation = operation,
                                  .unit = "ns",
                                  .goal_peer = go->name,
                                  .goal_ratio = verb != NULL ? goal : 0,
                                  .goal_at_most = verb == NULL ? goal : 0};

    bench_compare(bench, &row, entrants,
                  go->to != NULL && verb != NULL ? 2 : 1);
}

int
main(void)
{
    struct tracer real = {.event = PROF_EV_HEAP_ALLOC};
    struct tracer counting = {.event = PROF_EV_HEAP_ALLOC};
    struct bench_peer go;
    struct bench bench;

    bench_begin(&bench, "trace", 3);
    if (!bench_go_start(&go))
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    make(&real, true);
    make(&counting, false);
    run_row(&bench, "event-1-arg", 3, &real, "trace1", &go);
    real.event = PROF_EV_GO_SYSBLOCK;
    run_row(&bench, "event-0-args", 3, &real, "trace0", &go);
    run_row(&bench, "event-counted", 2.5, &counting, NULL, &go);
    bench_peer_stop(&go);
    return bench_end(&bench);
}
