/* lab.c -- the bench of lab.h. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

#include "sampling.h"
#include "stream.h"

enum model_era
props_era_of(const struct prof_rules *rules)
{
    if (rules->mutex == PROF_MUTEX_ABSENT)
        return MODEL_GO_1_5;
    if (rules->block == PROF_BLOCK_EXACT)
        return MODEL_EXACT;
    return rules->block == PROF_BLOCK_PLAIN ? MODEL_GO_1_10 : MODEL_GO_1_17;
}

bool
props_lab_begin(struct props_lab *lab, const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = 4};
    const size_t bytes = prof_bytes_needed(&config);

    memset(lab, 0, sizeof *lab);
    lab->random = rules->random;
    lab->era = props_era_of(rules);
    lab->block = bytes == 0 ? NULL : aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    if (lab->block == NULL)
        return false;
    memset(lab->block, 0, bytes);
    if (prof_init(&lab->prof, &config, lab->block, bytes) != PROF_OK)
        return false;
    lab->proc = prof_proc_at(lab->prof, 0);
    return true;
}

void
props_lab_end(struct props_lab *lab)
{
    free(lab->block);
    lab->block = NULL;
}

const char *
props_lab_kind(enum prof_contention kind)
{
    return kind == PROF_BLOCK ? "block" : "mutex";
}

void
props_lab_set_rate(struct props_lab *lab, enum prof_contention kind,
                   int64_t rate)
{
    if (kind == PROF_BLOCK)
        prof_block_rate_set(lab->prof, rate);
    else
        (void)prof_mutex_fraction_set(lab->prof, rate);
}

uint64_t
props_lab_first(const struct props_lab *lab)
{
    return lab->random == PROF_RANDOM_LFSR31;
}

uint64_t
props_lab_number(const struct props_lab *lab, uint64_t u, uint64_t rate)
{
    const model_u128 all = (model_u128)1 << 64;
    model_u128 number;

    if (lab->era != MODEL_EXACT)
        return props_lab_first(lab) + u;
    number = (all * u + rate - 1) / rate; /* the first that leads to u */
    if ((uint64_t)(number * rate) < all % rate)
        number++; /* that one is of no use */
    return (uint64_t)number;
}

uint32_t
props_lab_event(struct props_lab *lab, enum prof_contention kind,
                uint64_t wanted, int64_t cycles)
{
    const uintptr_t stack[] = {0x401000};
    uint64_t state = 0;
    uint64_t after;

    (void)props_stream_before(lab->random, wanted, &state);
    prof_proc_rng_resume(lab->proc, state);
    prof_contention_event(lab->proc, kind, stack, 1, cycles);
    after = prof_proc_rng_state(lab->proc);
    for (uint32_t draws = 0; draws < 3; draws++) {
        if (state == after)
            return draws;
        (void)model_draw(lab->era, &state);
    }
    return 3;
}

struct prof_contention_record
props_lab_read(const struct props_lab *lab, enum prof_contention kind)
{
    struct prof_contention_record record = {0};
    size_t count;

    if (prof_contention_snapshot(lab->prof, kind, &record, 1, &count) !=
            PROF_OK ||
        count == 0)
        memset(&record, 0, sizeof record);
    return record;
}
