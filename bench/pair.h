/*
 * pair.h -- two threads that do something at the same time, round after round.
 *
 * They wait for each other before each round. A round counts only if both
 * threads ran for half of it: on a busy machine one of the two often has no
 * processor, and two threads that take turns on one processor are not
 * concurrent.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <stdint.h>

enum { BENCH_PAIR = 2 };

/* thread: 0 or 1, each on the processor of that number */
struct bench_pair {
    void (*begin)(void *context, uint32_t thread); /* NULL: nothing */
    /* Before round `round`, not timed; NULL: nothing. */
    void (*prepare)(void *context, uint32_t thread, uint32_t round);
    void (*once)(void *context, uint32_t thread, uint32_t round);
    void (*end)(void *context, uint32_t thread);
    void *context;
    uint32_t rounds;
    uint32_t warm; /* of them, the first: they do not count */
};

/*
 * returns: ticks per round of one thread; < 0 if fewer than a fifth of the
 *          rounds counted
 */
double bench_pair_run(const struct bench_pair *pair);

#endif
