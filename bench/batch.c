/* batch.c -- the repetitions of batch.h, on one thread or two. */
#include "bench/batch.h"

#include <stdlib.h>

#include "bench/bench.h"
#include "bench/pair.h"

enum {
    BATCHES = BENCH_OPS / BENCH_BATCH,
    WARM_BATCHES =
        BATCHES / 2, /* untimed, because others used the caches before */
    PAIR_STAGES = 4  /* two threads: batches that are timed together */
};

static inline void
fence(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#endif
}

static void
fill_stage(struct bench_stage *stage, const struct bench_load *load,
           const uint32_t *order)
{
    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        bench_stage_put(stage, i, load, order[i]);
}

/* Returns the beginning of a part of the order of accesses. */
static const uint32_t *
slice_of(const struct bench_load *load, uint32_t slice)
{
    return &load->order[(uint64_t)slice * BENCH_OPS %
                        (BENCH_ORDER - BENCH_OPS - BENCH_OPS / 2)];
}

/* Do the operations one by one: each begins when the previous one has ended. */
static void
run_isolated(const struct bench_batches *batches, struct bench_stage *stage)
{
    for (uint32_t i = 0; i < BENCH_BATCH; i++) {
        stage->first = i;
        bench_use(batches->batch(batches->context, stage, 1));
        fence();
    }
    stage->first = 0;
}

static double
run_batches(const struct bench_batches *batches, uint32_t slice)
{
    static double values[BATCHES];
    const struct bench_load *load = batches->load;
    const uint32_t *order = slice_of(load, slice);
    struct bench_stage stage;

    bench_stage_make(&stage, load->depth);
    for (uint32_t b = 0; b < WARM_BATCHES + BATCHES; b++) {
        uint64_t begun;

        fill_stage(&stage, load, &order[b * BENCH_BATCH]);
        begun = bench_ticks();
        if (batches->isolated)
            run_isolated(batches, &stage);
        else
            bench_use(batches->batch(batches->context, &stage, BENCH_BATCH));
        if (b >= WARM_BATCHES)
            values[b - WARM_BATCHES] = (double)(bench_ticks() - begun);
    }
    bench_stage_free(&stage);
    return bench_middle_mean(values, BATCHES) * bench_ns_a_tick() / BENCH_BATCH;
}

/* ---- two threads ---- */

struct two {
    const struct bench_load *load;
    bench_batch_fn batch;
    void *context;
    uint32_t round;
    struct bench_stage stages[BENCH_PAIR][PAIR_STAGES];
};

static void
two_begin(void *context, uint32_t thread)
{
    struct two *two = context;

    for (uint32_t s = 0; s < PAIR_STAGES; s++)
        bench_stage_make(&two->stages[thread][s], two->load->depth);
}

static void
two_end(void *context, uint32_t thread)
{
    struct two *two = context;

    for (uint32_t s = 0; s < PAIR_STAGES; s++)
        bench_stage_free(&two->stages[thread][s]);
}

static void
two_prepare(void *context, uint32_t thread, uint32_t round)
{
    struct two *two = context;
    const uint32_t *order =
        slice_of(two->load, two->round * BENCH_PAIR + thread);

    for (uint32_t s = 0; s < PAIR_STAGES; s++)
        fill_stage(&two->stages[thread][s], two->load,
                   &order[(round * PAIR_STAGES + s) * BENCH_BATCH]);
}

static void
two_once(void *context, uint32_t thread, uint32_t round)
{
    struct two *two = context;

    (void)round;
    for (uint32_t s = 0; s < PAIR_STAGES; s++)
        bench_use(
            two->batch(two->context, &two->stages[thread][s], BENCH_BATCH));
}

double
bench_batches_once(void *context, uint32_t round)
{
    const struct bench_batches *batches = context;
    struct two two = {.load = batches->load,
                      .batch = batches->batch,
                      .context = batches->context,
                      .round = round};
    const struct bench_pair pair = {.begin = two_begin,
                                    .prepare = two_prepare,
                                    .once = two_once,
                                    .end = two_end,
                                    .context = &two,
                                    .rounds =
                                        (WARM_BATCHES + BATCHES) / PAIR_STAGES,
                                    .warm = WARM_BATCHES / PAIR_STAGES};

    if (batches->threads > 1)
        return bench_pair_run(&pair) * bench_ns_a_tick() /
               (BENCH_PAIR * PAIR_STAGES * BENCH_BATCH);
    return run_batches(batches, round);
}

/* ---- inserts ---- */

void
bench_insert_all(const struct bench_load *load, bench_batch_fn batch,
                 void *context)
{
    struct bench_stage stage;

    bench_stage_make(&stage, load->depth);
    for (uint32_t from = 0; from < load->n; from += BENCH_BATCH) {
        const uint32_t left = load->n - from;
        const uint32_t count = left < BENCH_BATCH ? left : BENCH_BATCH;

        for (uint32_t i = 0; i < count; i++)
            bench_stage_put(&stage, i, load, from + i);
        bench_use(batch(context, &stage, count));
    }
    bench_stage_free(&stage);
}
