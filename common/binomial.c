/*
 * binomial.c -- sums of binomial terms.
 *
 * The largest term, at the mode, is computed from log-gamma. Its neighbours
 * follow by ratios, outwards, until a term is below 1e-40 of the largest; the
 * terms left out add up to less than trials * 1e-40. Log-gamma of n <= 1e9 is
 * below 2e10, with a relative error of about 1e-18, so the terms have a
 * relative error of 1e-7. A threshold is wrong only if a sum is that close to
 * alpha / 2.
 */
#include "common/binomial.h"

#include <math.h>

static long double
term_at(uint64_t trials, long double p, uint64_t k)
{
    const long double n = (long double)trials;
    const long double x = (long double)k;

    return expl(lgammal(n + 1) - lgammal(x + 1) - lgammal(n - x + 1) +
                x * logl(p) + (n - x) * log1pl(-p));
}

/* P(k + 1) / P(k) */
static long double
ratio_up(uint64_t trials, long double p, uint64_t k)
{
    return (long double)(trials - k) / (long double)(k + 1) * p / (1 - p);
}

static uint64_t
mode_of(uint64_t trials, long double p)
{
    const uint64_t mode = (uint64_t)((long double)(trials + 1) * p);

    return mode > trials ? trials : mode;
}

struct props_interval
props_binomial_accept(uint64_t trials, long double p, long double alpha)
{
    const uint64_t mode = mode_of(trials, p);
    const long double top = term_at(trials, p, mode);
    struct props_interval accept = {mode, mode};
    long double term = top;
    long double tail = 0;

    /* Go outwards until terms vanish, then back as long as the tail is
     * small. */
    while (accept.least > 0 && term > top * 1e-40L)
        term /= ratio_up(trials, p, --accept.least);
    while (accept.least < mode && tail + term <= alpha / 2) {
        tail += term;
        term *= ratio_up(trials, p, accept.least++);
    }
    term = top;
    tail = 0;
    while (accept.most < trials && term > top * 1e-40L)
        term *= ratio_up(trials, p, accept.most++);
    while (accept.most > mode && tail + term <= alpha / 2) {
        tail += term;
        term /= ratio_up(trials, p, --accept.most);
    }
    return accept;
}
