/* sampling_fixture.c -- see sampling_fixture.h. */
#include "props/sampling/sampling_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "model/heap/sampling.h"
#include "props/sampling/stream.h"

bool
props_fixture_begin(struct props_fixture *fixture,
                    const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = 4};
    const size_t bytes = prof_bytes_needed(&config);

    memset(fixture, 0, sizeof *fixture);
    fixture->random = rules->random;
    fixture->era = props_era_of(rules);
    fixture->block = bytes == 0 ? NULL : aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    if (fixture->block == NULL)
        return false;
    memset(fixture->block, 0, bytes);
    if (prof_init(&fixture->prof, &config, fixture->block, bytes) != PROF_OK)
        return false;
    fixture->proc = prof_proc_at(fixture->prof, 0);
    return true;
}

void
props_fixture_end(struct props_fixture *fixture)
{
    free(fixture->block);
    fixture->block = NULL;
}

const char *
props_fixture_kind(enum prof_contention kind)
{
    return kind == PROF_BLOCK ? "block" : "mutex";
}

void
props_fixture_set_rate(struct props_fixture *fixture, enum prof_contention kind,
                       int64_t rate)
{
    if (kind == PROF_BLOCK)
        prof_block_rate_set(fixture->prof, rate);
    else
        (void)prof_mutex_fraction_set(fixture->prof, rate);
}

uint64_t
props_fixture_first(const struct props_fixture *fixture)
{
    return fixture->random == PROF_RANDOM_LFSR31;
}

uint64_t
props_fixture_number(const struct props_fixture *fixture, uint64_t u,
                     uint64_t rate)
{
    const model_u128 all = (model_u128)1 << 64;
    model_u128 number;

    if (fixture->era != MODEL_EXACT)
        return props_fixture_first(fixture) + u;
    number = (all * u + rate - 1) / rate; /* the first number that leads to u */
    if ((uint64_t)(number * rate) < all % rate)
        number++; /* that one is rejected */
    return (uint64_t)number;
}

uint32_t
props_fixture_event(struct props_fixture *fixture, enum prof_contention kind,
                    uint64_t wanted, int64_t cycles)
{
    const uintptr_t stack[] = {0x401000};
    uint64_t state = 0;
    uint64_t after;

    (void)props_stream_before(fixture->random, wanted, &state);
    prof_proc_rng_resume(fixture->proc, state);
    prof_contention_event(fixture->proc, kind, stack, 1, cycles);
    after = prof_proc_rng_state(fixture->proc);
    for (uint32_t draws = 0; draws < 3; draws++) {
        if (state == after)
            return draws;
        (void)model_draw(fixture->era, &state);
    }
    return 3;
}

struct prof_contention_record
props_fixture_read(const struct props_fixture *fixture,
                   enum prof_contention kind)
{
    struct prof_contention_record record = {0};
    size_t count;

    if (prof_contention_snapshot(fixture->prof, kind, &record, 1, &count) !=
            PROF_OK ||
        count == 0)
        memset(&record, 0, sizeof record);
    return record;
}
