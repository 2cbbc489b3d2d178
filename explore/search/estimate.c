/*
 * estimate.c -- see estimate.h.
 */
#include "explore/search/estimate.h"

#include <string.h>

void
sim_estimate_begin(struct sim_estimate *e)
{
    memset(e, 0, sizeof *e);
    e->per = 1;
}

/* Merge each two stretches into one. */
static void
halve(struct sim_estimate *e)
{
    for (uint32_t i = 0; i < SIM_BATCHES_MAX / 2; i++) {
        e->runs[i] = e->runs[2 * i] + e->runs[2 * i + 1];
        e->share[i] = e->share[2 * i] + e->share[2 * i + 1];
    }
    e->count = SIM_BATCHES_MAX / 2;
    e->per *= 2;
}

void
sim_estimate_add(struct sim_estimate *e, double runs, double share)
{
    if (runs <= e->runs_seen)
        return;
    if (e->points == 0) {
        if (e->count == SIM_BATCHES_MAX)
            halve(e);
        e->runs[e->count] = 0;
        e->share[e->count] = 0;
        e->count++;
    }
    e->points = (e->points + 1) % e->per;
    e->runs[e->count - 1] += runs - e->runs_seen;
    e->share[e->count - 1] += share - e->share_seen;
    e->runs_seen = runs;
    e->share_seen = share;
}

/* Square root by Newton's method, so that no program needs -lm. */
static double
square_root(double x)
{
    double root = x > 1 ? x : 1;

    if (x <= 0)
        return 0;
    for (uint32_t i = 0; i < 200; i++)
        root = (root + x / root) / 2;
    return root;
}

double
sim_estimate_left(const struct sim_estimate *e, double *error)
{
    const double n = e->count;
    double squares = 0;
    double all;

    *error = 0;
    if (e->count < 4 || e->share_seen <= 0)
        return 0;
    all = e->runs_seen / e->share_seen;
    for (uint32_t i = 0; i < e->count; i++) {
        const double off = e->runs[i] - all * e->share[i];

        squares += off * off;
    }
    *error = square_root(squares * n / (n - 1)) / e->share_seen;
    return all - e->runs_seen;
}
