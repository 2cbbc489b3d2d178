/*
 * scale.c -- how many events many processors would record a second, on a
 * virtual clock: this machine has two.
 *
 * A processor works for WORK_NS, draws a bucket (Zipf) and adds to its counter.
 * A line of eight counters is with the processor that added last; whoever else
 * wants it waits until those before are served, and then for the hand-over.
 * Two costs of a hand-over are tried, the one that sharing.c measures here and
 * one between sockets; against columns of each processor, whose lines stay
 * where they are and are added up when the cycle turns. The model has no
 * queues between caches and no back-off, so real machines may do worse.
 *
 * Nothing here depends on the machine: the rows are the same everywhere.
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "rng.h"

enum {
    PROCS_MAX = 192,
    BUCKETS = 10000,
    LINE_COUNTERS = 8,
    LINES = BUCKETS / LINE_COUNTERS,
    EVENTS = 2000, /* of each processor */
    WORK_NS = 30,  /* the lookup, and what the program does */
    ADD_NS = 6,    /* to a line that is here */
    NOBODY = PROCS_MAX
};

struct scale {
    uint32_t procs;
    uint32_t hand_over_ns; /* 0: every processor has lines of its own */
};

struct line {
    double free_ns; /* when the last in its queue has been served */
    uint32_t owner;
};

static struct line lines[LINES];
static double next_ns[PROCS_MAX]; /* when each wants to add */
static double cumulated[BUCKETS]; /* weights of buckets */

static void
make_weights(void)
{
    double sum = 0;

    for (uint32_t i = 0; i < BUCKETS; i++) {
        sum += pow(i + 1, -0.99);
        cumulated[i] = sum;
    }
}

static uint32_t
draw_bucket(struct sim_rng *rng)
{
    const double u = (double)(sim_rng_next(rng) >> 11) * 0x1p-53;
    const double want = u * cumulated[BUCKETS - 1];
    uint32_t low = 0;
    uint32_t high = BUCKETS - 1;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (cumulated[middle] < want)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t
first_of(uint32_t procs)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < procs; i++) {
        if (next_ns[i] < next_ns[first])
            first = i;
    }
    return first;
}

/* The addition of `proc` that is due. returns: when it is done */
static double
add(const struct scale *scale, uint32_t proc, struct sim_rng *rng)
{
    /* Which buckets share a line is chance: a rank and the step of a walk. */
    const uint32_t bucket = draw_bucket(rng) * 7919 % BUCKETS;
    struct line *line = &lines[bucket / LINE_COUNTERS];
    double now_ns = next_ns[proc];

    if (scale->hand_over_ns == 0)
        return now_ns + ADD_NS;
    if (line->free_ns > now_ns)
        now_ns = line->free_ns;
    now_ns += line->owner == proc ? ADD_NS : scale->hand_over_ns;
    line->owner = proc;
    line->free_ns = now_ns;
    return now_ns;
}

/* returns: million events a second, of all together */
static double
simulate_once(void *context, uint32_t round)
{
    const struct scale *scale = context;
    const uint32_t events = EVENTS * scale->procs;
    struct sim_rng rng = {1};
    double end_ns = 0;

    (void)round;
    for (uint32_t i = 0; i < LINES; i++)
        lines[i] = (struct line){0, NOBODY};
    for (uint32_t i = 0; i < scale->procs; i++)
        next_ns[i] = i % WORK_NS;
    for (uint32_t i = 0; i < events; i++) {
        const uint32_t proc = first_of(scale->procs);
        const double done_ns = add(scale, proc, &rng);

        if (done_ns > end_ns)
            end_ns = done_ns;
        next_ns[proc] = done_ns + WORK_NS;
    }
    return events * 1e3 / end_ns;
}

int
main(void)
{
    static const uint32_t procs[] = {2, 16, 64, PROCS_MAX};
    enum { ROWS = sizeof procs / sizeof *procs };
    struct bench bench;

    bench_begin(&bench, "scale", ROWS);
    make_weights();
    for (size_t i = 0; i < ROWS; i++) {
        struct scale own = {procs[i], 0};
        struct scale die = {procs[i], 16};
        struct scale sockets = {procs[i], 150};
        const struct bench_entrant entrants[] = {
            {"shared 16 ns", simulate_once, &die},
            {"shared 150 ns", simulate_once, &sockets},
            {"columns of each", simulate_once, &own}};
        const struct bench_row row = {.operation = "events",
                                      .order = "zipf",
                                      .unit = "M/s",
                                      .n = BUCKETS,
                                      .threads = procs[i],
                                      .more_is_better = true,
                                      .exact = true};

        bench_compare(&bench, &row, entrants,
                      sizeof entrants / sizeof *entrants);
    }
    return bench_end(&bench);
}
