/*
 * sample_heap.c -- S1: the heap sampler, in four steps.
 *
 *   1. Decisions. For each allocation, the library and the model must decide
 *      alike and draw the same random numbers. They share only the definition.
 *   2. Go's exponential sampler draws one of 2^26 numbers. Bisection counts how
 *      many of them give a gap of at most a given size (the gap falls as the
 *      number grows); the count is compared with the formula.
 *   3. The exact sampler must sample an allocation of S bytes at a rate of R
 *      with the chance 1 - e^(-S/R). That is measured; the thresholds come from
 *      the binomial distribution, with alpha = 1e-9 for all cells together.
 *   4. Unsampling is compared with a computation in 64-bit mantissas.
 */
#include "props/sampling/checker.h"

#include <inttypes.h>
#include <math.h>

#include "common/binomial.h"
#include "model/heap/heap_sampler.h"
#include "props/sampling/sampling_fixture.h"
#include "common/rng.h"
#include "model/heap/sampling.h"

enum { DECISIONS = 20000, TRIALS = 40000, DRAW_BITS = 26 };

#define HUGE_BYTES (UINT64_C(1) << 62) /* sampled whatever number was drawn */

/* ---- decisions ---- */

static uint64_t
size_for(struct sim_rng *rng, uint64_t rate)
{
    const uint64_t span = rate / 4 + 3;

    switch (sim_rng_below(rng, 16)) {
    case 0:
        return 0;
    case 1:
        return rate;
    case 2:
        return rate - 1;
    case 3:
        return rate + sim_rng_next(rng) % span;
    case 4:
        return 1;
    default:
        return sim_rng_next(rng) % span;
    }
}

static void
check_decisions(const struct props_question *question, int64_t rate,
                struct props_finding *finding)
{
    struct sim_rng sizes = {(uint64_t)rate};
    struct model_heap_sampler model = {0};
    struct props_fixture fixture;

    if (!props_fixture_begin(&fixture, question->rules)) {
        props_finding_fail(finding, "not enough memory");
        props_fixture_end(&fixture);
        return;
    }
    model.era = fixture.era;
    model.state = prof_proc_rng_state(fixture.proc);
    for (int i = 0; i < DECISIONS; i++) {
        /* In the third quarter the rate is another one. */
        const int64_t now = i / (DECISIONS / 4) == 2 ? rate / 2 : rate;
        const uint64_t size = size_for(&sizes, (uint64_t)rate);
        bool got;
        bool expected;

        prof_heap_rate_set(fixture.prof, now);
        got = prof_heap_sample(fixture.proc, size);
        expected = model_heap_sampler_next(&model, size, now);
        finding->cells++;
        if (got == expected && model.state == prof_proc_rng_state(fixture.proc))
            continue;
        props_finding_fail(finding,
                           "allocation %d, of %" PRIu64
                           " bytes at a rate of %" PRId64 ", is %ssampled%s",
                           i, size, now, got ? "" : "not ",
                           got == expected ? ", but took other random numbers"
                                           : ", expected the opposite");
        break;
    }
    props_fixture_end(&fixture);
}

/* ---- Go's exponential, by counting ---- */

/* Is `size` sampled, if the gap is made from this number? */
static bool
samples(struct props_fixture *fixture, uint64_t drawn, uint64_t size)
{
    (void)props_fixture_event(fixture, PROF_BLOCK, drawn,
                              INT64_MAX); /* sets only the state */
    (void)prof_heap_sample(fixture->proc, HUGE_BYTES);
    return prof_heap_sample(fixture->proc, size);
}

/* returns: how many of the 2^26 numbers make a gap of at most `size` */
static uint64_t
count_samples(struct props_fixture *fixture, uint64_t size)
{
    uint64_t low = 0; /* numbers below do not sample */
    uint64_t high = UINT64_C(1) << DRAW_BITS;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (samples(fixture, middle, size))
            high = middle;
        else
            low = middle + 1;
    }
    return (UINT64_C(1) << DRAW_BITS) - low;
}

static void
check_go_cell(const struct props_question *question,
              struct props_fixture *fixture, uint64_t size, uint64_t rate,
              struct props_finding *finding)
{
    const double all = (double)(1 << DRAW_BITS);
    const struct model_heap_sampling reported =
        model_heap_sampling(fixture->era, size, rate);
    const double chance = (double)count_samples(fixture, size) / all;
    const double factor = reported.factor * chance / reported.chance;
    /*
     * The sampler takes logarithms from a table of 32 straight lines. Their
     * error is at most (1/32)^2 / 8, as the second derivative of ln(1 + t) is
     * at most 1. That draws are integers adds 2^-26.
     */
    const double resolution = (1 - reported.chance) / 8192 + 2 / all;

    finding->cells++;
    if (fabs(chance - reported.chance) > resolution)
        props_finding_fail(finding,
                           "an allocation of %" PRIu64
                           " bytes at a rate of %" PRIu64
                           " is sampled with chance %.8f, expected %.8f",
                           size, rate, chance, reported.chance);
    if (question->unbiased && factor != 1)
        props_finding_deviates(finding, factor - 1,
                               "allocations of %" PRIu64
                               " bytes at a rate of %" PRIu64
                               " are estimated at %.4g times what they were",
                               size, rate, factor);
}

/* ---- exact, measured ---- */

static void
check_exact_cell(struct props_fixture *fixture, uint64_t size, uint64_t rate,
                 uint32_t cells, struct props_finding *finding)
{
    const double chance = model_heap_sampling(fixture->era, size, rate).chance;
    uint64_t hits = 0;
    struct props_interval accept = {TRIALS, TRIALS};

    for (int i = 0; i < TRIALS; i++) {
        (void)prof_heap_sample(fixture->proc, HUGE_BYTES);
        hits += prof_heap_sample(fixture->proc, size);
    }
    if (chance < 1)
        accept = props_binomial_accept(TRIALS, (long double)chance,
                                       PROPS_ALPHA / cells);
    finding->cells++;
    if (hits < accept.least || hits > accept.most)
        props_finding_fail(finding,
                           "%" PRIu64 " of %d allocations of %" PRIu64
                           " bytes are sampled at a rate of %" PRIu64
                           ", expected %" PRIu64 " to %" PRIu64,
                           hits, TRIALS, size, rate, accept.least, accept.most);
}

/* ---- cells ---- */

/* Compare the probabilities of sizes from 1 byte to 64 times the rate. */
static void
check_chances(const struct props_question *question,
              struct props_fixture *fixture, uint64_t rate, uint32_t rates,
              struct props_finding *finding)
{
    const uint64_t sizes[] = {1,    rate / 100, rate / 8, rate - 1,
                              rate, 2 * rate,   8 * rate, 64 * rate};
    const uint32_t cells = rates * (uint32_t)(sizeof sizes / sizeof *sizes);

    prof_heap_rate_set(fixture->prof, (int64_t)rate);
    (void)prof_heap_sample(fixture->proc,
                           HUGE_BYTES); /* the first call draws twice */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] == 0)
            continue;
        if (fixture->era == MODEL_EXACT)
            check_exact_cell(fixture, sizes[i], rate, cells, finding);
        else if (question->rules->sampler_keeps_large && sizes[i] >= rate &&
                 !samples(fixture, 0, sizes[i]))
            props_finding_fail(finding, "an allocation of the rate is missed");
        else if (fixture->era != MODEL_GO_1_5)
            check_go_cell(question, fixture, sizes[i], rate, finding);
    }
}

/* Sizes that are sampled for certain, and yet are scaled as if by chance. */
static void
deviation_of_large(const struct props_question *question,
                   struct props_finding *finding)
{
    const struct prof_heap_sum one = {1000000, 1000000 * INT64_C(524288)};
    const struct prof_heap_sum reported =
        prof_heap_unsample(question->rules, one, 524288);
    const double factor = (double)reported.objects / (double)one.objects;

    if (question->unbiased && question->rules->sampler_keeps_large)
        props_finding_deviates(finding, factor - 1,
                               "allocations of the rate, 524288 bytes, are all "
                               "sampled and estimated at %.4g times that",
                               factor);
}

static void
check_unsampling(const struct props_question *question, int64_t objects,
                 uint64_t size, uint64_t rate, struct props_finding *finding)
{
    const struct prof_heap_sum recorded = {objects, objects * (int64_t)size};
    const struct prof_heap_sum got =
        prof_heap_unsample(question->rules, recorded, (int64_t)rate);
    const double chance = model_heap_sampling(MODEL_EXACT, size, rate).chance;
    const double count = (double)objects / chance;
    const double bytes = (double)recorded.bytes / chance;
    const bool nearest = question->rules->sampler == PROF_SAMPLER_EXACT;
    /* Half a unit if rounded, a unit if cut off, and 2^-46 for the doubles on
     * both sides. */
    const double off = nearest ? 0.5 : 1;
    const double slack = 0x1p-46;

    finding->cells++;
    if (fabs((double)got.objects - count) > off + slack * fabs(count) ||
        fabs((double)got.bytes - bytes) > off + slack * fabs(bytes))
        props_finding_fail(finding,
                           "%" PRId64 " objects of %" PRIu64
                           " bytes at a rate of %" PRIu64
                           " are estimated at %" PRId64 ", expected %.3f",
                           objects, size, rate, got.objects, count);
}

void
props_check_heap_sampler(const struct props_question *question,
                         struct props_finding *finding)
{
    static const int64_t rates[] = {
        2, 3, 64, 4096, 524288, 117440513, 1000000000, INT64_C(1) << 40};
    enum { RATES = sizeof rates / sizeof *rates };
    struct props_fixture fixture;

    for (int i = 0; i < RATES; i++)
        check_decisions(question, rates[i], finding);
    if (!props_fixture_begin(&fixture, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        for (int i = 0; i < RATES; i++)
            check_chances(question, &fixture, (uint64_t)rates[i], RATES,
                          finding);
    }
    props_fixture_end(&fixture);
    for (int i = 0; i < RATES; i++) {
        const uint64_t rate = (uint64_t)rates[i];

        for (uint64_t size = 1; size <= 64 * rate; size = size * 3 + 1) {
            check_unsampling(question, 1, size, rate, finding);
            check_unsampling(question, -7, size, rate, finding);
            check_unsampling(question, 1000, size, rate, finding);
        }
    }
    deviation_of_large(question, finding);
}
