/*
 * contention.c -- the cost of a block event: one that is recorded, with a given
 * stack, and one that sampling leaves out.
 */
#include "bench/batch.h"
#include "bench/bench.h"
#include "bench/ours.h"
#include "bench/peers.h"

enum { CALLS = 100000, DEPTH = 16, STACKS = 10000, TICKS_OUT = 10 };

static double
sampled_out_once(void *context, uint32_t round)
{
    const struct bench_ours *ours = context;
    struct prof_proc *proc = prof_proc_at(ours->prof, 0);
    const uint64_t *record = bench_record(ours->load, round % STACKS);
    uint64_t begun;
    double ns;

    prof_block_rate_set(ours->prof, 1000000000);
    begun = bench_cpu_ns();
    for (uint32_t i = 0; i < CALLS; i++)
        prof_contention_event(proc, PROF_BLOCK, record + 1, DEPTH, TICKS_OUT);
    ns = (double)(bench_cpu_ns() - begun) / CALLS;
    prof_block_rate_set(ours->prof, 1);
    return ns;
}

int
main(void)
{
    struct bench_load load;
    struct bench_ours ours;
    struct bench_peer go;
    struct bench bench;
    struct bench_batches batches = {.load = &load,
                                    .batch = bench_ours_block,
                                    .context = &ours,
                                    .threads = 1};
    struct bench_command block = {&go, "block"};
    struct bench_command off = {&go, "blockoff"};
    const struct bench_entrant kept[] = {
        {"profsim", bench_batches_once, &batches},
        {"go1.19", bench_peer_once, &block}};
    const struct bench_entrant left_out[] = {
        {"profsim", sampled_out_once, &ours},
        {"go1.19", bench_peer_once, &off}};
    struct bench_row row = {
        .operation = "block-kept",
        .order = "zipf",
        .unit = "ns",
        .goal_peer = "go1.19",
        .goal_ratio = 4.7,
        .depth = DEPTH,
        .n = STACKS,
    };
    size_t entrants;

    bench_begin(&bench, "contention", 2);
    entrants = bench_go_start(&go) ? 2 : 1;
    if (entrants == 1)
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    bench_load_make(&load, BENCH_CALLS, DEPTH, STACKS);
    bench_load_order(&load, BENCH_ZIPF);
    bench_ours_make(&ours, &load);
    if (entrants == 2)
        (void)bench_peer_ask(&go, "load %s", load.path);
    bench_compare(&bench, &row, kept, entrants);
    row.operation = "block-left-out";
    row.goal_ratio = 1;
    bench_compare(&bench, &row, left_out, entrants);
    bench_ours_free(&ours);
    bench_load_free(&load);
    bench_peer_stop(&go);
    return bench_end(&bench);
}
