/*
 * sharing.c -- what two processors cost each other: atomic additions to one
 * counter, to two counters of one line, and to two lines. The record path makes
 * one such addition an event, so this says when buckets get in each other's way
 * (docs/speed.md).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

enum { ADDS = 200000, LINE_WORDS = 8, THREADS = 2 };

struct sharing {
    _Atomic uint64_t *counters;
    size_t apart; /* words between the counters of the two threads */
};

struct adder {
    _Atomic uint64_t *counter;
    atomic_uint *ready;
    uint32_t cpu;
    double ns;
};

static void *
add(void *context)
{
    struct adder *adder = context;
    uint64_t begun;

    bench_pin(adder->cpu);
    atomic_fetch_sub(adder->ready, 1);
    while (atomic_load(adder->ready) != 0)
        ;
    begun = bench_cpu_ns();
    for (uint32_t i = 0; i < ADDS; i++)
        atomic_fetch_add_explicit(adder->counter, 1, memory_order_relaxed);
    adder->ns = (double)(bench_cpu_ns() - begun) / ADDS;
    return NULL;
}

/* returns: nanoseconds an addition of one thread, while the other adds, too */
static double
add_once(void *context, uint32_t round)
{
    const struct sharing *sharing = context;
    struct adder adders[THREADS];
    pthread_t threads[THREADS];
    atomic_uint ready = THREADS;
    double ns = 0;

    (void)round;
    for (uint32_t i = 0; i < THREADS; i++) {
        adders[i] = (struct adder){
            .counter = sharing->counters + i * sharing->apart,
            .ready = &ready,
            .cpu = i,
        };
        if (pthread_create(&threads[i], NULL, add, &adders[i]) != 0)
            exit(1);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ns += adders[i].ns / THREADS;
    }
    return ns;
}

int
main(void)
{
    struct sharing apart = {.apart = 64 * LINE_WORDS};
    struct sharing line = {.apart = 1};
    struct sharing counter = {.apart = 0};
    const struct bench_entrant entrants[] = {
        {"lines apart", add_once, &apart},
        {"one line", add_once, &line},
        {"one counter", add_once, &counter}};
    const struct bench_row row = {
        .operation = "atomic-add", .unit = "ns", .threads = THREADS};
    struct bench bench;

    bench_begin(&bench, "sharing", 1);
    apart.counters = line.counters = counter.counters = bench_pages(1 << 16);
    bench_compare(&bench, &row, entrants, sizeof entrants / sizeof *entrants);
    return bench_end(&bench);
}
