/*
 * go_gaps.c -- compare gaps: the bytes from one sample to the next.
 *
 * At a rate R, Go's runtime and our go1.17 rules draw the next gap; from the
 * same 26 random bits both must get the same number. (Of a 32-bit number Go's
 * fastrandn uses the upper 26 bits and our sampler the lower ones, so our
 * sampler gets a shifted number.)
 *
 * R is at least 2. At rate 1 the runtime leaves a gap of 0, so the first
 * allocation after the rate is raised is always sampled; our sampler continues
 * with its previous gap, or draws its first.
 *
 * The library does not report a gap, but an allocation of S bytes is sampled if
 * S is at least the gap. So bisection over S finds the gap; for each try it is
 * drawn again from the same random number.
 */
#include "props/peers/go_gaps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/peers/go_tape.h"
#include "props/sampling/stream.h"

enum { GAPS_PER_SCHEDULE = 16, GO_DRAW_BITS = 26 };

/* Draw the gap that a number gives, and offer an allocation. returns: is it
 * sampled? */
static bool
sampled(struct prof_proc *proc, uint64_t ours, uint64_t size_bytes)
{
    prof_proc_rng_resume(proc, ours);
    if (!prof_heap_sample(proc, UINT64_MAX))
        abort(); /* no gap is so long */
    return prof_heap_sample(proc, size_bytes);
}

static uint64_t
find_gap(struct prof_proc *proc, uint64_t number)
{
    uint64_t too_small = 0; /* a gap is at least 1 */
    uint64_t enough = UINT64_C(1) << 40;
    uint64_t ours = 0;

    if (!props_stream_before(PROF_RANDOM_XORSHIFT32, number, &ours))
        abort();
    while (enough - too_small > 1) {
        const uint64_t middle = (too_small + enough) / 2;

        if (sampled(proc, ours, middle))
            enough = middle;
        else
            too_small = middle;
    }
    return enough;
}

static int64_t
some_rate(struct sim_rng *rng)
{
    static const int64_t rates[] = {
        524288,    2,         3,         10,      4096,
        117440511, 117440512, 117440513, 1 << 30, INT64_MAX,
    };
    const uint32_t which = sim_rng_below(rng, 20);

    if (which < sizeof rates / sizeof *rates)
        return rates[which];
    return (int64_t)(2 + sim_rng_next(rng) % (UINT64_C(1) << (1 + which)));
}

static uint64_t
some_state(struct sim_rng *rng)
{
    static const uint64_t ends[] = {0x2de9c67, 0x1ae144a};
    const uint32_t which = sim_rng_below(rng, 32);

    return which < 2 ? ends[which] : sim_rng_next(rng);
}

static void
write_schedule(struct prof *prof, uint64_t seed)
{
    struct sim_rng rng = {.state = sim_mix64(~seed)};
    struct prof_proc *proc = prof_proc_at(prof, 0);

    fprintf(go_tape.schedule, "run %" PRIu64 " 0\n", seed);
    fprintf(go_tape.answers, "run %" PRIu64 "\n", seed);
    for (int i = 0; i < GAPS_PER_SCHEDULE; i++) {
        const int64_t rate = some_rate(&rng);
        const uint64_t state = some_state(&rng);
        const uint32_t number = go_tape_random(state) >> (32 - GO_DRAW_BITS);

        fprintf(go_tape.schedule, "gap %" PRId64 " %" PRIx64 "\n", rate, state);
        prof_heap_rate_set(prof, rate);
        fprintf(go_tape.answers, "gap %" PRIu64 "\n", find_gap(proc, number));
    }
}

uint64_t
go_gaps_run(uint64_t first, uint64_t count)
{
    const struct prof_config config = {.rules = &prof_rules_go1_17,
                                       .buckets_max = 1};
    const size_t bytes = prof_bytes_needed(&config);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct prof *prof;

    if (block == NULL)
        return 0;
    memset(block, 0, bytes);
    if (prof_init(&prof, &config, block, bytes) != PROF_OK)
        abort();
    for (uint64_t seed = first; seed - first < count; seed++)
        write_schedule(prof, seed);
    free(block);
    return count * GAPS_PER_SCHEDULE;
}
