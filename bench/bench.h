/*
 * bench.h -- benchmarks that compare. A row is one operation on one load, done
 * by several entrants, interleaved (A B C, A B C, ...) in one run. Its result
 * is the ratio of two entrants in the same round. The median of the ratios is
 * shown only if the rounds agree (compare.c).
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BENCH_ROUNDS_MAX = 41,
    BENCH_ENTRANTS_MAX = 12,
};

/* One entrant of a row. The first of a row is ours. */
struct bench_entrant {
    const char *name;
    /* One repetition. returns: the measure, < 0 if it cannot be taken */
    double (*once)(void *context, uint32_t round);
    void *context;
};

/* The parameters and goals of a row. 0 or NULL: the row has none. */
struct bench_row {
    const char *operation;
    const char *order; /* of the accesses, or the kind of stacks */
    const char *unit;  /* of all measures of the row */
    const char *goal_peer;
    double goal_ratio;   /* goal_peer's measure / ours, at least; 0: no goal */
    double goal_best;    /* the best peer's measure / ours, at least */
    double goal_at_most; /* our measure; 0: no such goal */
    double goal_at_least;
    uint32_t depth;
    uint32_t n;
    uint32_t threads;
    bool more_is_better; /* a rate: ratios are ours / theirs */
    bool exact;          /* it does not vary, so one round is enough */
};

struct bench {
    const char *noun;
    FILE *rows; /* machine readable; NULL: none */
    uint32_t rows_planned;
    uint32_t rows_done;
    uint32_t numbers; /* of entrants in rows */
    uint32_t noisy;   /* of these, the ones that were not reported */
    uint64_t begun_ns;
    bool quick;
};

/*
 * Begin a program's run: pin the thread, read the environment (QUICK,
 * BENCH_ROWS the file that rows are appended to).
 *
 * in: noun, what the program measures; rows_planned, to estimate the time left
 */
void bench_begin(struct bench *bench, const char *noun, uint32_t rows_planned);

/* returns: the program's exit code */
int bench_end(struct bench *bench);

/* Run one row and print its result. */
void bench_compare(struct bench *bench, const struct bench_row *row,
                   const struct bench_entrant *entrants, size_t count);

/* Report that an entrant takes no part. */
void bench_skip(const struct bench *bench, const char *name, const char *why);

/* ---- timing ---- */

/* returns: a time stamp in ticks; no instruction is reordered across it */
static inline uint64_t
bench_ticks(void)
{
#if defined(__x86_64__)
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence"
                     : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#else
    uint64_t bench_now_ns(void);

    return bench_now_ns();
#endif
}

uint64_t bench_now_ns(void);

/*
 * returns: CPU time of the calling thread; for repetitions of many
 *          microseconds, during which another process may get the processor
 */
uint64_t bench_cpu_ns(void);

/* returns: nanoseconds in a tick; measured once, at bench_begin() */
double bench_ns_a_tick(void);

/* Pin the thread to one processor; if the system refuses, go on without a
 * message. */
void bench_pin(uint32_t cpu);

/*
 * The mean of the middle half. Of many equal batches this leaves out the slow
 * ones, which an interrupt or another process hit, and the luckiest.
 *
 * in: values, reordered
 */
double bench_middle_mean(double *values, size_t count);

/* in: values, reordered, count > 0; part of them that is below, 0 .. 1 */
double bench_quantile(double *values, size_t count, double part);

/* Use a value, so that the compiler computes it. */
static inline void
bench_use(uint64_t value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

/* returns: zeroed pages, never NULL: ends the program without memory */
void *bench_pages(size_t bytes);

/* Let bench_pages() use 2 MB pages for blocks of at least that size. */
void bench_pages_huge(bool on);
void bench_pages_return(void *pages, size_t bytes);

#endif
