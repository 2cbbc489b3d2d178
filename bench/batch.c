/* batch.c -- the repetitions of batch.h, on one thread or two. */
#include "batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

enum {
    THREADS_MAX = 2,
    BATCHES = BENCH_OPS / BENCH_BATCH,
    WARM_BATCHES = BATCHES / 2 /* untimed: others had the caches before */
};

struct worker {
    const struct bench_batches *batches;
    atomic_uint *ready;
    uint32_t index;
    uint32_t round;
    double ns;
};

static double
run_batches(const struct bench_batches *batches, uint32_t slice)
{
    static _Thread_local double values[BATCHES];
    const struct bench_load *load = batches->load;
    const uint32_t *order =
        &load->order[(uint64_t)slice * BENCH_OPS % (BENCH_ORDER - BENCH_OPS)];
    struct bench_stage stage;
    double ticks;

    bench_stage_make(&stage, load->depth);
    for (uint32_t b = 0; b < WARM_BATCHES + BATCHES; b++) {
        uint64_t begun;

        for (uint32_t i = 0; i < BENCH_BATCH; i++)
            bench_stage_put(&stage, i, load, order[b * BENCH_BATCH + i]);
        begun = bench_ticks();
        bench_use(batches->batch(batches->context, &stage, BENCH_BATCH));
        if (b >= WARM_BATCHES)
            values[b - WARM_BATCHES] = (double)(bench_ticks() - begun);
    }
    bench_stage_free(&stage);
    ticks = bench_middle_mean(values, BATCHES);
    return ticks * bench_ns_a_tick() / BENCH_BATCH;
}

static void *
work(void *context)
{
    struct worker *worker = context;

    bench_pin(worker->index);
    if (worker->batches->thread_begin != NULL)
        worker->batches->thread_begin();
    atomic_fetch_sub(worker->ready, 1);
    while (atomic_load(worker->ready) != 0)
        ;
    worker->ns = run_batches(worker->batches,
                             worker->round * THREADS_MAX + worker->index);
    if (worker->batches->thread_end != NULL)
        worker->batches->thread_end();
    return NULL;
}

double
bench_batches_once(void *context, uint32_t round)
{
    const struct bench_batches *batches = context;
    struct worker workers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    atomic_uint ready = batches->threads;
    double rate = 0;

    if (batches->threads <= 1) {
        if (batches->thread_begin != NULL)
            batches->thread_begin();
        rate = run_batches(batches, round);
        if (batches->thread_end != NULL)
            batches->thread_end();
        return rate;
    }
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        workers[i] = (struct worker){
            .batches = batches, .ready = &ready, .index = i, .round = round};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            perror("bench: thread");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        pthread_join(threads[i], NULL);
        rate += 1 / workers[i].ns;
    }
    return 1 / rate;
}

double
bench_insert_all(const struct bench_load *load, bench_batch_fn batch,
                 void *context)
{
    struct bench_stage stage;
    uint64_t ticks = 0;

    bench_stage_make(&stage, load->depth);
    for (uint32_t from = 0; from < load->n; from += BENCH_BATCH) {
        const uint32_t left = load->n - from;
        const uint32_t count = left < BENCH_BATCH ? left : BENCH_BATCH;
        uint64_t begun;

        for (uint32_t i = 0; i < count; i++)
            bench_stage_put(&stage, i, load, from + i);
        begun = bench_ticks();
        bench_use(batch(context, &stage, count));
        ticks += bench_ticks() - begun;
    }
    bench_stage_free(&stage);
    return (double)ticks * bench_ns_a_tick() / load->n;
}
