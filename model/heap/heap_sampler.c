/*
 * heap_sampler.c -- the three samplers as docs/sampling.md describes them, at a
 * rate of R bytes.
 *
 *   go1.5          gap uniform below 2R, less the overshoot of the last sample
 *   go1.10, 1.17   gap = 1 + floor(-ln 2 R log2(q / 2^26)), q from 1 to 2^26
 *   exact          gap = 1 + U + R V; U below R accepted with probability
 *                  e^(-U/R), V the successes, each of probability 1/e, before
 *                  the first failure
 */
#include "model/heap/heap_sampler.h"

#include "model/model_assert.h"

__extension__ typedef unsigned __int128 u128;

static uint64_t
fair_below(uint64_t *state, uint64_t limit)
{
    uint64_t value;

    (void)model_draw_below(state, limit, &value);
    return value;
}

/* True with probability e^(-a/b). Trial n = 1, 2, ... succeeds with probability
 * a/(b n); the result is whether the first failure has an odd n. A trial is two
 * draws, of probability a/b and 1/n. */
static bool
exp_chance(uint64_t *state, uint64_t a, uint64_t b)
{
    for (uint64_t n = 1;; n++) {
        bool goes_on = fair_below(state, b) < a;

        if (goes_on && n > 1)
            goes_on = fair_below(state, n) == 0;
        if (!goes_on)
            return n % 2 == 1;
    }
}

static uint64_t
gap_exact(uint64_t *state, uint64_t rate)
{
    uint64_t fraction;
    uint64_t run = 0;
    u128 gap;

    do
        fraction = fair_below(state, rate);
    while (!exp_chance(state, fraction, rate));
    while (exp_chance(state, 1, 1))
        run++;
    gap = (u128)rate * run + fraction + 1;
    return gap > UINT64_MAX ? UINT64_MAX : (uint64_t)gap;
}

/* log2(1 + i/32), with as many digits as in Go. */
static const double corners[33] = {
    0,
    0.0443941193584535,
    0.08746284125033943,
    0.12928301694496647,
    0.16992500144231248,
    0.2094533656289499,
    0.24792751344358555,
    0.28540221886224837,
    0.3219280948873623,
    0.3575520046180837,
    0.39231742277876036,
    0.4262647547020979,
    0.4594316186372973,
    0.4918530963296748,
    0.5235619560570128,
    0.5545888516776374,
    0.5849625007211563,
    0.6147098441152082,
    0.6438561897747247,
    0.6724253419714956,
    0.7004397181410922,
    0.7279204545631992,
    0.7548875021634686,
    0.7813597135246596,
    0.8073549220576042,
    0.8328900141647417,
    0.8579809951275721,
    0.8826430493618412,
    0.9068905956085185,
    0.9307373375628862,
    0.9541963103868752,
    0.9772799234999164,
    1,
};

/* log2, interpolated linearly between two corners in 2^20 steps. */
static double
log2_by_lines(uint32_t q)
{
    double whole = 0;
    double fraction;
    double step;
    int corner;

    for (uint32_t x = q; x > 1; x /= 2)
        whole++;
    /* In units of 1/32 above the power of two. Exact, since q has at most 27
       bits. */
    fraction = (double)q * 32;
    for (double d = whole; d > 0; d--)
        fraction /= 2;
    fraction -= 32;
    corner = (int)fraction;
    step = (double)(uint32_t)((fraction - corner) * 1048576) / 1048576;
    return whole + corners[corner] +
           (corners[corner + 1] - corners[corner]) * step;
}

static uint64_t
gap_exponential(enum model_era era, uint64_t *state, uint64_t rate)
{
    const uint64_t mean = rate > 117440512 ? 117440512 : rate;
    const uint32_t q = (uint32_t)(model_draw(era, state) % (1U << 26)) + 1;
    const double log = log2_by_lines(q) - 26;

    return 1 + (uint64_t)(log * (-0.6931471805599453 * (double)mean));
}

static uint64_t
gap_uniform(enum model_era era, uint64_t *state, uint64_t rate)
{
    const uint64_t mean = rate > 0x3fffffff ? 0x3fffffff : rate;

    return model_draw(era, state) % (2 * mean);
}

static uint64_t
draw_gap(struct model_heap_sampler *s, uint64_t rate)
{
    if (s->era == MODEL_EXACT)
        return gap_exact(&s->state, rate);
    if (s->era == MODEL_GO_1_5)
        return gap_uniform(s->era, &s->state, rate);
    return gap_exponential(s->era, &s->state, rate);
}

bool
model_heap_sampler_next(struct model_heap_sampler *s, uint64_t size_bytes,
                        int64_t rate_bytes)
{
    const uint64_t rate = (uint64_t)rate_bytes;
    const bool small = size_bytes < rate;
    const bool keeps_large = s->era == MODEL_GO_1_5 || s->era == MODEL_GO_1_10;
    uint64_t old_gap;

    MODEL_ASSERT(s->era < MODEL_ERA_COUNT);
    if (rate_bytes <= 0)
        return false;
    if (rate_bytes == 1)
        return true;
    if (!s->begun || (s->era == MODEL_EXACT && s->rate != rate))
        s->gap = draw_gap(s, rate);
    s->begun = true;
    s->rate = rate;
    old_gap = s->gap;
    if (size_bytes < old_gap && (small || !keeps_large)) {
        s->gap -= size_bytes;
        return false;
    }
    if (s->era != MODEL_GO_1_5) {
        s->gap = draw_gap(s, rate);
    } else if (small) {
        const uint64_t drawn = draw_gap(s, rate);
        const uint64_t over = size_bytes - old_gap;

        s->gap = drawn < over ? 0 : drawn - over;
    }
    return true;
}
