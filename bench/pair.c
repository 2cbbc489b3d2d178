/* pair.c -- see pair.h. */
#include "bench/pair.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/bench.h"

enum {
    SPINS = 10000, /* after these, yield: the other thread is not running */
    PART = 5       /* one round in five must count */
};

/* A round counts if both threads were at work for this share of the slower
 * one's time. Rounds take microseconds; a thread that lost its processor is
 * away for milliseconds. */
static const double SHARE = 0.5;

struct span {
    uint64_t begun;
    uint64_t ended;
};

struct half {
    const struct bench_pair *pair;
    atomic_uint *arrived; /* at all meetings so far */
    struct span *spans;   /* by round */
    uint32_t thread;
};

static void
meet(const struct half *half, uint32_t meeting)
{
    const uint32_t all = (meeting + 1) * BENCH_PAIR;
    uint32_t spins = 0;

    atomic_fetch_add(half->arrived, 1);
    while (atomic_load_explicit(half->arrived, memory_order_acquire) < all) {
        if (++spins % SPINS == 0)
            sched_yield();
    }
}

static void *
run_half(void *context)
{
    const struct half *half = context;
    const struct bench_pair *pair = half->pair;

    bench_pin(half->thread);
    if (pair->begin != NULL)
        pair->begin(pair->context, half->thread);
    for (uint32_t round = 0; round < pair->rounds; round++) {
        if (pair->prepare != NULL)
            pair->prepare(pair->context, half->thread, round);
        meet(half, round);
        half->spans[round].begun = bench_ticks();
        pair->once(pair->context, half->thread, round);
        half->spans[round].ended = bench_ticks();
    }
    if (pair->end != NULL)
        pair->end(pair->context, half->thread);
    return NULL;
}

/* returns: ticks of one thread, < 0 if the two did not run together */
static double
shared_round(const struct span *a, const struct span *b)
{
    const uint64_t a_ticks = a->ended - a->begun;
    const uint64_t b_ticks = b->ended - b->begun;
    const uint64_t begun = a->begun > b->begun ? a->begun : b->begun;
    const uint64_t ended = a->ended < b->ended ? a->ended : b->ended;
    const double longer = (double)(a_ticks > b_ticks ? a_ticks : b_ticks);

    if (ended <= begun || (double)(ended - begun) < SHARE * longer)
        return -1;
    return (double)(a_ticks + b_ticks) / 2;
}

static double
sum_up(const struct bench_pair *pair, const struct half *halves)
{
    double *values = malloc(pair->rounds * sizeof *values);
    double mean = -1;
    size_t count = 0;

    if (values == NULL)
        return -1;
    for (uint32_t round = pair->warm; round < pair->rounds; round++) {
        const double ticks =
            shared_round(&halves[0].spans[round], &halves[1].spans[round]);

        if (ticks >= 0)
            values[count++] = ticks;
    }
    if (PART * count >= pair->rounds - pair->warm && count > 0)
        mean = bench_middle_mean(values, count);
    free(values);
    return mean;
}

double
bench_pair_run(const struct bench_pair *pair)
{
    struct half halves[BENCH_PAIR];
    pthread_t threads[BENCH_PAIR];
    atomic_uint arrived = 0;
    double ticks;

    for (uint32_t i = 0; i < BENCH_PAIR; i++)
        halves[i] = (struct half){
            .pair = pair,
            .arrived = &arrived,
            .spans = bench_pages(pair->rounds * sizeof(struct span)),
            .thread = i,
        };
    for (uint32_t i = 0; i < BENCH_PAIR; i++) {
        if (pthread_create(&threads[i], NULL, run_half, &halves[i]) != 0) {
            perror("bench: thread");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < BENCH_PAIR; i++)
        pthread_join(threads[i], NULL);
    ticks = sum_up(pair, halves);
    for (uint32_t i = 0; i < BENCH_PAIR; i++)
        bench_pages_return(halves[i].spans, pair->rounds * sizeof(struct span));
    return ticks;
}
