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

/* The keys that a round of the thread inserts. */
static void
insert_prepare(void *context, uint32_t thread, uint32_t round)
{
    struct two *two = context;
    const uint32_t from = (round * BENCH_PAIR + thread) * BENCH_BATCH;

    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        bench_stage_put(&two->stages[thread][0], i, two->load, from + i);
}

static void
insert_once(void *context, uint32_t thread, uint32_t round)
{
    struct two *two = context;

    (void)round;
    bench_use(two->batch(two->context, &two->stages[thread][0], BENCH_BATCH));
}

double
bench_insert_pair(const struct bench_batches *batches)
{
    struct two two = {.load = batches->load,
                      .batch = batches->batch,
                      .context = batches->context};
    const struct bench_pair pair = {.begin = two_begin,
                                    .prepare = insert_prepare,
                                    .once = insert_once,
                                    .end = two_end,
                                    .context = &two,
                                    .rounds = batches->load->n /
                                              (BENCH_PAIR * BENCH_BATCH),
                                    .mean = BENCH_PAIR_MEAN};

    return bench_pair_run(&pair) * bench_ns_a_tick() /
           (BENCH_PAIR * BENCH_BATCH);
}

enum { BLOCK = 16 }; /* batches for each reading of CPU time */

/*
 * The time that insertions took. Ticks are precise, but continue while another
 * process has the processor; CPU time is coarse, and includes staging.
 */
struct spent {
    double ns;       /* of insertions in undisturbed blocks of batches */
    double stage_ns; /* of staging in these blocks */
    double cpu_ns;   /* of insertions and staging in the other blocks */
    uint32_t whole;
    uint32_t broken;
};

static void
spend(struct spent *spent, uint64_t ticks, uint64_t all_ticks, uint64_t cpu_ns)
{
    const double all_ns = (double)all_ticks * bench_ns_a_tick();
    const double away = 0.1; /* of the time, at most */

    if ((double)cpu_ns < (1 - away) * all_ns) {
        spent->cpu_ns += (double)cpu_ns;
        spent->broken++;
    } else {
        spent->ns += (double)ticks * bench_ns_a_tick();
        spent->stage_ns += (double)(all_ticks - ticks) * bench_ns_a_tick();
        spent->whole++;
    }
}

static uint64_t
insert_batch(const struct bench_load *load, bench_batch_fn batch, void *context,
             struct bench_stage *stage, uint32_t from)
{
    const uint32_t left = load->n - from;
    const uint32_t count = left < BENCH_BATCH ? left : BENCH_BATCH;
    uint64_t begun;

    for (uint32_t i = 0; i < count; i++)
        bench_stage_put(stage, i, load, from + i);
    begun = bench_ticks();
    bench_use(batch(context, stage, count));
    return bench_ticks() - begun;
}

double
bench_insert_all(const struct bench_load *load, bench_batch_fn batch,
                 void *context, uint64_t *batch_ticks)
{
    const uint32_t batches = (load->n + BENCH_BATCH - 1) / BENCH_BATCH;
    struct spent spent = {0};
    struct bench_stage stage;

    bench_stage_make(&stage, load->depth);
    for (uint32_t b = 0; b < batches;) {
        const uint64_t begun_ns = bench_cpu_ns();
        const uint64_t begun = bench_ticks();
        uint64_t sum = 0;

        for (uint32_t i = 0; i < BLOCK && b < batches; i++, b++) {
            const uint64_t ticks =
                insert_batch(load, batch, context, &stage, b * BENCH_BATCH);

            sum += ticks;
            if (batch_ticks != NULL && ticks < batch_ticks[b])
                batch_ticks[b] = ticks;
        }
        spend(&spent, sum, bench_ticks() - begun, bench_cpu_ns() - begun_ns);
    }
    bench_stage_free(&stage);
    if (spent.whole == 0)
        return -1;
    spent.cpu_ns -= spent.broken * spent.stage_ns / spent.whole;
    return (spent.ns + spent.cpu_ns) / load->n;
}
