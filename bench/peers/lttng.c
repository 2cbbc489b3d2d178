/*
 * lttng.c -- LTTng-ust as a peer: tracepoints with one number, recorded in
 * per-processor rings that overwrite their oldest part, so that no file is
 * written during the benchmark. lttng.sh makes the session.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_event.h"

#include "../bench.h"
#include "../pair.h"
#include "serve.h"

enum { EVENTS = 200000, ROUNDS = 1000 };

static void
emit(void *context, uint32_t thread, uint32_t round)
{
    const uint32_t count = *(const uint32_t *)context;

    (void)thread;
    (void)round;
    for (uint32_t i = 0; i < count; i++)
        lttng_ust_tracepoint(bench, number, i + (1 << 20));
}

static double
one_thread(const char *argument)
{
    uint32_t count = EVENTS;
    const uint64_t begun = bench_cpu_ns();

    (void)argument;
    emit(&count, 0, 0);
    return (double)(bench_cpu_ns() - begun) / EVENTS;
}

static double
two_threads(const char *argument)
{
    uint32_t count = EVENTS / ROUNDS;
    const struct bench_pair pair = {
        .once = emit, .context = &count, .rounds = ROUNDS, .warm = ROUNDS / 10};

    (void)argument;
    return bench_pair_run(&pair) * bench_ns_a_tick() / (BENCH_PAIR * count);
}

int
main(void)
{
    static const struct serve_verb verbs[] = {{"trace1", one_thread},
                                              {"trace12", two_threads}};

    bench_pin(0);
    if (!lttng_ust_tracepoint_enabled(bench, number))
        return 1; /* without a session only a test of a flag is measured */
    return serve(verbs, sizeof verbs / sizeof *verbs);
}
