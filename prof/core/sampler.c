/*
 * sampler.c -- which allocations to record, and how to scale them up.
 *
 * Think of the bytes of all allocations of a processor as one line. Sampling at
 * a rate of R bytes marks some of these bytes, about one in R. An
 * allocation is sampled if one of its bytes is marked:
 *
 *      |..a..|....b....|.c.|......d......|..e..|
 *               ^                ^  ^              b and d are sampled
 *      - until -|
 *
 * `until_bytes` is the distance to the next mark: 1 + the unmarked bytes before
 * it. After a sample a new distance is drawn, counted from the next allocation.
 *
 * PROF_SAMPLER_EXACT. Each byte is unmarked with probability e^(-1/R), so S
 * bytes in a row are unmarked with probability e^(-S/R), whatever came before.
 * The number X of unmarked bytes before a mark has the geometric distribution
 * P(X >= s) = e^(-s/R). It is drawn with integers only, without a logarithm:
 *
 *      X = U + R V     U uniform below R, accepted with probability e^(-U/R)
 *                      V successes in a row, each of probability 1/e
 *
 * To succeed with probability e^(-a/b), 0 <= a <= b: start at k = 1, and
 * increase k while a trial of probability a/(b k) succeeds. If the final k is
 * odd, return true. (The probability of stopping at k is (a/b)^(k-1)/(k-1)! -
 * (a/b)^k/k!; over odd k this adds up to the series of e^(-a/b).) Every loop is
 * bounded; the probability of reaching a bound is below 2^-500.
 *
 * When the rate changes, a new mark is drawn. The distribution has no memory,
 * so the distance already covered does not matter.
 *
 * PROF_SAMPLER_UNIFORM and PROF_SAMPLER_EXPONENTIAL do what Go did, flaws
 * included: golang/go#12620, #26618, and a mean capped at 112 MiB.
 *
 * Scaling up: a sampled allocation of S bytes counts 1 / (1 - e^(-S/R)) times.
 */
#include "prof/core/sampler.h"

#include "prof/core/assertion.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

#define TRIES_MAX    2048       /* 0.633^2048 < 2^-1000 */
#define FACTORS_MAX  128        /* 1/128! < 2^-700 */
#define GO_MEAN_MAX  0x7000000  /* the cap of Go's exponential sampler */
#define GO_HALF_MAX  0x3fffffff /* the cap of Go's uniform sampler */
#define GO_DRAW_BITS 26

/* ---- exact ---- */

/* A number below `limit`. Bounded: see prof_rng_below(). */
static uint64_t
below(struct rng *rng, uint64_t limit)
{
    uint64_t value;

    /* If all tries are rejected, take the last value despite its bias. */
    (void)prof_rng_below(rng, limit, &value);
    return value;
}

/* True with probability e^(-a/b), a <= b. */
static bool
happens_exp(struct rng *rng, uint64_t a, uint64_t b)
{
    uint64_t k = 1;

    while (k < FACTORS_MAX && below(rng, b) < a &&
           (k == 1 || below(rng, k) == 0))
        k++;
    return k % 2 == 1;
}

/* X of the theory, at most UINT64_MAX - 1. */
static uint64_t
draw_geometric(struct rng *rng, uint64_t rate)
{
    uint64_t u = 0;
    uint64_t v = 0;
    uint64_t x;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        u = below(rng, rate);
        if (happens_exp(rng, u, rate))
            break;
    }
    while (v < TRIES_MAX && happens_exp(rng, 1, 1))
        v++;
    if (__builtin_mul_overflow(rate, v, &x) ||
        __builtin_add_overflow(x, u, &x) || x == UINT64_MAX)
        return UINT64_MAX - 1;
    return x;
}

/* ---- Go ---- */

/* log2(1 + i/32), with as many digits as in Go's table. */
static const double log2_table[33] = {
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

/*
 * log2(x) for integers x from 1 to 2^26. The first 5 bits of the mantissa
 * select a table entry; the next 20 interpolate linearly to the following one.
 */
static double
go_log2(uint32_t x)
{
    const int exponent = 31 - __builtin_clz(x);
    /* 5 + 20 bits after the leading one */
    const uint64_t mantissa =
        ((uint64_t)x << 25 >> exponent) & ((1U << 25) - 1);
    const uint32_t index = (uint32_t)(mantissa >> 20);
    const double low = log2_table[index];

    return (double)exponent + low +
           (log2_table[index + 1] - low) *
               (double)(mantissa & ((1U << 20) - 1)) * (1.0 / (1 << 20));
}

/* 1 + the whole part of an exponential number of mean `rate`, or of the cap. */
static uint64_t
draw_go_exponential(struct rng *rng, int64_t rate)
{
    const double minus_ln2 = -0.6931471805599453;
    const double mean = (double)(rate > GO_MEAN_MAX ? GO_MEAN_MAX : rate);
    const uint64_t mask = (1U << GO_DRAW_BITS) - 1;
    const uint32_t q = (uint32_t)(prof_rng_next(rng) & mask) + 1;
    const double log = go_log2(q) - GO_DRAW_BITS; /* 0 at most */

    return (uint64_t)(log * (minus_ln2 * mean)) + 1;
}

static uint64_t
draw_go_uniform(struct rng *rng, int64_t rate)
{
    const uint64_t half = (uint64_t)(rate > GO_HALF_MAX ? GO_HALF_MAX : rate);

    return prof_rng_next(rng) % (2 * half);
}

/* ---- sampling ---- */

/*
 * Find the index of a rate, or take the next free one.
 *
 * in, out: *rate; the last one that was stored if all are taken
 * returns: its index plus 1
 */
static uint32_t
rate_index(struct prof *prof, int64_t *rate)
{
    for (uint32_t i = 0; i < SAMPLER_RATES; i++) {
        /* Relaxed: the rate itself is all that is told. */
        uint64_t seen = load_relaxed(&prof->heap_rates[i]);

        if (seen == 0 &&
            cas_relaxed(&prof->heap_rates[i], &seen, (uint64_t)*rate))
            return i + 1;
        if (seen == (uint64_t)*rate)
            return i + 1;
    }
    *rate = (int64_t)load_relaxed(&prof->heap_rates[SAMPLER_RATES - 1]);
    return SAMPLER_RATES;
}

static void
draw(struct prof_proc *proc, int64_t rate)
{
    struct sampler *sampler = &proc->sampler;

    /* The rate that was set, whatever it is drawn from: no draw is repeated. */
    sampler->rate_bytes = rate;
    if (proc->prof->rules.sampler == PROF_SAMPLER_EXACT)
        sampler->rate = rate_index(proc->prof, &rate);
    switch (proc->prof->rules.sampler) {
    case PROF_SAMPLER_EXACT:
        sampler->until_bytes = draw_geometric(&proc->rng, (uint64_t)rate) + 1;
        break;
    case PROF_SAMPLER_UNIFORM:
        sampler->until_bytes = draw_go_uniform(&proc->rng, rate);
        break;
    case PROF_SAMPLER_EXPONENTIAL:
        sampler->until_bytes = draw_go_exponential(&proc->rng, rate);
        break;
    }
}

/* Set the distance to the next sample, after one of `size_bytes`. */
static void
draw_after(struct prof_proc *proc, uint64_t size_bytes, int64_t rate)
{
    struct sampler *sampler = &proc->sampler;
    const uint64_t overshot = size_bytes - sampler->until_bytes;

    if (proc->prof->rules.sampler != PROF_SAMPLER_UNIFORM) {
        draw(proc, rate);
        return;
    }
    if (size_bytes >= (uint64_t)rate)
        return; /* a large one does not change the distance to the next */
    draw(proc, rate);
    sampler->until_bytes =
        sampler->until_bytes > overshot ? sampler->until_bytes - overshot : 0;
}

/*
 * Is the mark that was drawn at the old rate in this allocation? The caller has
 * subtracted up to here without seeing the new rate, so the old mark still
 * decides.
 */
static bool
ends_old_way(const struct sampler *sampler, uint64_t size_bytes)
{
    return sampler->is_kept && sampler->rate_bytes > 1 &&
           size_bytes >= sampler->until_bytes;
}

bool
prof_heap_sample(struct prof_proc *proc, uint64_t size_bytes)
{
    const struct prof_rules *rules = &proc->prof->rules;
    struct sampler *sampler = &proc->sampler;
    /* Relaxed: any rate that was set will do. */
    const int64_t rate = (int64_t)load_relaxed(&proc->prof->heap_rate_bytes);

    if (rate <= 1) {
        if (sampler->is_kept) /* the caller counted on: draw anew later */
            sampler->rate_bytes = 0;
        return rate == 1;
    }
    if (sampler->rate_bytes != rate &&
        (sampler->rate_bytes == 0 || rules->sampler == PROF_SAMPLER_EXACT)) {
        if (ends_old_way(sampler, size_bytes)) {
            sampler->sampled = sampler->rate;
            draw(proc, rate);
            return true;
        }
        draw(proc, rate);
    }
    if (size_bytes < sampler->until_bytes &&
        !(rules->sampler_keeps_large && size_bytes >= (uint64_t)rate)) {
        sampler->until_bytes -= size_bytes;
        return false;
    }
    sampler->sampled = sampler->rate;
    draw_after(proc, size_bytes, rate);
    return true;
}

uint64_t
prof_heap_until_take(const struct prof_proc *proc)
{
    const int64_t rate = prof_heap_rate(proc->prof);

    if (rate <= 1 || proc->sampler.rate_bytes != rate ||
        proc->prof->rules.sampler_keeps_large)
        return 0;
    return proc->sampler.until_bytes;
}

void
prof_heap_until_give(struct prof_proc *proc, uint64_t until_bytes)
{
    proc->sampler.until_bytes = until_bytes;
    proc->sampler.is_kept = true;
}

void
prof_heap_rate_set(struct prof *prof, int64_t rate_bytes)
{
    /* Relaxed: an allocation meets the old rate or the new one. */
    store_relaxed(&prof->heap_rate_bytes, (uint64_t)rate_bytes);
}

int64_t
prof_heap_rate(const struct prof *prof)
{
    return (int64_t)load_relaxed(&prof->heap_rate_bytes);
}

/* ---- unsampling ---- */

/*
 * 1 - e^(-x) for x > 0, relative error below 2^-48.
 *
 * Let m(x) = 1 - e^(-x). Halve x until it is at most 1/16, where ten terms of
 * the series leave an error below 2^-58; then double back by
 * m(2x) = m(x) (2 - m(x)). No step subtracts nearly equal numbers. A doubling
 * does not enlarge the relative error and adds at most 1.5 units in the last
 * place; there are at most ten doublings.
 */
static double
one_minus_exp(double x)
{
    int doublings = 0;
    double m = 1;

    if (x > 64)
        return 1;
    for (; x > 0x1p-4; doublings++)
        x /= 2;
    for (int term = 11; term >= 2; term--)
        m = 1 - x / term * m;
    m *= x;
    for (; doublings > 0; doublings--)
        m *= 2 - m;
    return m;
}

static int64_t
whole(double value, bool nearest)
{
    if (nearest)
        value += value < 0 ? -0.5 : 0.5;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

struct prof_heap_sum
prof_heap_unsample(const struct prof_rules *rules,
                   struct prof_heap_sum recorded, int64_t rate_bytes)
{
    const bool nearest = rules->sampler == PROF_SAMPLER_EXACT;
    double mean_size;
    double kept;

    if (recorded.objects == 0 || recorded.bytes == 0)
        return (struct prof_heap_sum){0};
    mean_size = (double)recorded.bytes / (double)recorded.objects;
    if (rate_bytes <= 1 || mean_size < 0)
        return recorded;
    kept = one_minus_exp(mean_size / (double)rate_bytes);
    return (struct prof_heap_sum){
        .objects = whole((double)recorded.objects * (1 / kept), nearest),
        .bytes = whole((double)recorded.bytes * (1 / kept), nearest),
    };
}
