/*
 * test_sampling_power.c -- statistical tests of sampling, which notice small
 * errors.
 */
#include <math.h>

#include "common/binomial.h"
#include "props/sampling/sampling_fixture.h"
#include "model/heap/sampling.h"
#include "common/test/unit_test.h"

enum { POWER_EVENTS = 20000000, POWER_RATE = 1000 };

/* How many of POWER_EVENTS waits of `cycles` ticks are kept, at POWER_RATE. */
static uint64_t
kept_events(int64_t cycles)
{
    const uintptr_t stack[] = {1};
    struct props_fixture fixture;
    uint64_t kept;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    prof_block_rate_set(fixture.prof, POWER_RATE);
    for (int i = 0; i < POWER_EVENTS; i++)
        prof_contention_event(fixture.proc, PROF_BLOCK, stack, 1, cycles);
    kept = props_fixture_read(&fixture, PROF_BLOCK).cycles / POWER_RATE;
    props_fixture_end(&fixture);
    return kept;
}

TEST(a_bias_of_one_percent_is_noticed)
{
    const struct props_interval accept =
        props_binomial_accept(POWER_EVENTS, 0.1L, PROPS_ALPHA);
    uint64_t kept;

    /* The power, computed: a sampler that is 1 % off passes once in a
     * million. */
    assert_true(props_binomial_inside(POWER_EVENTS, 0.101L, accept) < 1e-6L);
    assert_true(props_binomial_inside(POWER_EVENTS, 0.099L, accept) < 1e-6L);
    /* And shown: the same random numbers pass at 100 ticks and fail at 101. */
    kept = kept_events(100);
    assert_true(kept >= accept.least && kept <= accept.most);
    kept = kept_events(101);
    assert_true(kept > accept.most);
}

enum { HEAP_TRIALS = 1000000 };

/* How many allocations of 524288 bytes are sampled at a rate, of
 * HEAP_TRIALS. */
static uint64_t
sampled_allocations(int64_t rate)
{
    struct props_fixture fixture;
    uint64_t hits = 0;

    assert_true(props_fixture_begin(&fixture, &prof_rules_exact));
    prof_heap_rate_set(fixture.prof, rate);
    for (int i = 0; i < HEAP_TRIALS; i++)
        hits += prof_heap_sample(fixture.proc, 524288);
    props_fixture_end(&fixture);
    return hits;
}

TEST(a_heap_rate_one_percent_off_is_noticed)
{
    const long double chance =
        (long double)model_heap_sampling(MODEL_EXACT, 524288, 524288).chance;
    const long double off =
        (long double)model_heap_sampling(MODEL_EXACT, 524288, 529531).chance;
    const struct props_interval accept =
        props_binomial_accept(HEAP_TRIALS, chance, PROPS_ALPHA);
    uint64_t hits;

    /* The power: the chance that a sampler at the other rate passes. */
    assert_true(props_binomial_inside(HEAP_TRIALS, off, accept) < 0.2L);
    assert_true(props_binomial_inside(HEAP_TRIALS, 0.99L * chance, accept) <
                1e-6L);
    assert_true(props_binomial_inside(HEAP_TRIALS, 1.01L * chance, accept) <
                1e-6L);
    hits = sampled_allocations(524288);
    assert_true(hits >= accept.least && hits <= accept.most);
    hits = sampled_allocations(540017); /* 3 % off */
    assert_true(hits < accept.least);
}
