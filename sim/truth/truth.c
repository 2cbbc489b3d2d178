/* truth.c -- appending to the truth log, and its hash. */
#include "truth.h"

#include "rng.h"

void
truth_append(struct truth_log *log, const struct truth_entry *entry)
{
    if (log->entries_count == log->entries_max)
        log->lost++;
    else
        log->entries[log->entries_count++] = *entry;
}

uint64_t
truth_hash(const struct truth_log *log)
{
    uint64_t hash = log->lost;

    for (uint32_t i = 0; i < log->entries_count; i++) {
        const struct truth_entry *e = &log->entries[i];

        hash = sim_hash_step(hash, (uint64_t)e->kind | (uint64_t)e->proc << 8 |
                                       (uint64_t)e->object << 32);
        hash = sim_hash_step(hash, (uint64_t)e->at_ticks);
        hash = sim_hash_step(hash, e->stack | (uint64_t)e->room << 32);
        hash = sim_hash_step(hash, e->size_bytes + (uint64_t)e->cycles);
        hash = sim_hash_step(hash, e->flag | (uint64_t)e->lock << 8 |
                                       (uint64_t)e->task << 32);
    }
    return sim_mix64(hash);
}
