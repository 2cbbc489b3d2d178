/*
 * batch.h -- repetitions of short operations. 64 keys at a time are staged
 * (copied to a small buffer) untimed, then a batch of 64 operations on them is
 * timed. The result of a repetition is the mean of the middle half of its
 * batches.
 */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H

#include "bench/load.h"

enum { BENCH_OPS = 1 << 15 }; /* operations of a repetition */

/* Do `count` operations on the staged keys. returns: any value that depends on
 * the results, so that they are computed */
typedef uint64_t (*bench_batch_fn)(void *context,
                                   const struct bench_stage *stage,
                                   uint32_t count);

struct bench_batches {
    const struct bench_load *load;
    bench_batch_fn batch;
    void *context;
    uint32_t threads; /* 1 or 2, each on its own processor */
    bool isolated;    /* no operation overlaps the next; one thread only */
};

/*
 * Make one repetition; batches is a struct bench_batches.
 *
 * returns: nanoseconds per operation; with two threads, for both together
 */
double bench_batches_once(void *batches, uint32_t round);

/* Insert all keys of a load in order. */
void bench_insert_all(const struct bench_load *load, bench_batch_fn batch,
                      void *context);

/* Write a loop over staged keys around an expression of `key` and `table`. */
#define BENCH_LOOP(name, type, expression)                               \
    static uint64_t name(void *context, const struct bench_stage *stage, \
                         uint32_t count)                                 \
    {                                                                    \
        type *const table = (type *)context;                             \
        uint64_t sum = 0;                                                \
                                                                         \
        for (uint32_t i = 0; i < count; i++) {                           \
            const struct bench_key *key = bench_staged(stage, i);        \
                                                                         \
            sum += (uint64_t)(expression);                               \
        }                                                                \
        return sum;                                                      \
    }                                                                    \
    struct name##_ends_like_a_statement

#endif
