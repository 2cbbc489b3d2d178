/* truth.c -- what kinds of facts mean, and the hash of a truth log. */
#include "sim/truth/truth.h"

#include "common/rng.h"

char
truth_calls(enum truth_kind kind)
{
    static const char calls_of[] = {
#define X(id, calls, text) calls,
#include "sim/truth/truth.def"
#undef X
    };

    return calls_of[kind];
}

uint64_t
truth_hash(const struct truth_log *log)
{
    uint64_t hash = log->lost;

    for (uint32_t i = 0; i < log->entries_count; i++) {
        const struct truth_entry *e = &log->entries[i];

        /* The words of an entry at once, one step of the hash for all. */
        uint64_t sum = (uint64_t)e->kind | (uint64_t)e->proc << 8 |
                       (uint64_t)e->object << 32;

        sum += (uint64_t)e->at_ticks * 0xd6e8feb86659fd93U;
        sum += (e->stack | (uint64_t)e->room << 32) * 0xff51afd7ed558ccdU;
        sum += (e->size_bytes + (uint64_t)e->cycles) * 0xc4ceb9fe1a85ec53U;
        sum += (e->flag | (uint64_t)e->lock << 8 | (uint64_t)e->task << 32) *
               0x94d049bb133111ebU;
        hash = sim_hash_step(hash, sum);
    }
    return sim_mix64(hash);
}
