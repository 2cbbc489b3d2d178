/*
 * explorer.c -- complete runs per second of the explorer (explore/engine/), on
 * programs whose number of orderings is known.
 */
#include "bench/bench.h"
#include "explore/engine/explore.h"
#include "explore/textbook/textbook.h"

static double
runs_a_second(const struct sim_kernel *kernel)
{
    const struct sim_exhaust_options options = {.run = {.lazy_start = true}};
    const uint64_t begun_ns = bench_cpu_ns();
    struct sim_exhaust_result result;

    if (sim_explore_exhaust(kernel, &options, &result) != SIM_VERDICT_PASS)
        return -1;
    return (double)result.runs * 1e6 / (double)(bench_cpu_ns() - begun_ns);
}

static double
seqlock_once(void *context, uint32_t round)
{
    (void)context;
    (void)round;
    return runs_a_second(fixtures_seqlock(2, 2));
}

static double
table_once(void *context, uint32_t round)
{
    (void)context;
    (void)round;
    return runs_a_second(fixtures_table(2, 1, true));
}

static double
counter_once(void *context, uint32_t round)
{
    (void)context;
    (void)round;
    return runs_a_second(fixtures_counter(3));
}

int
main(void)
{
    static const struct {
        const char *name;
        double (*once)(void *context, uint32_t round);
    } rows[] = {{"seqlock-2-2", seqlock_once},
                {"table-2-1-same", table_once},
                {"counter-3", counter_once}};
    struct bench bench;

    bench_begin(&bench, "explorer", sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct bench_entrant ours = {"profsim", rows[i].once, NULL};
        const struct bench_row row = {.operation = rows[i].name,
                                      .unit = "kruns/s",
                                      .more_is_better = true};

        bench_compare(&bench, &row, &ours, 1);
    }
    return bench_end(&bench);
}
