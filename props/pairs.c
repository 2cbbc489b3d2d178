/* pairs.c -- see pairs.h; pairs.def has those that no run can meet. */
#include "pairs.h"

#include <stddef.h>

void
props_pairs_note(struct props_pairs *pairs, const struct props_coverage *before,
                 const struct props_coverage *after)
{
    uint64_t met[PROPS_PAIR_WORDS] = {0};

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++)
        met[i / 64] |= (uint64_t)(after->hits[i] != before->hits[i]) << i % 64;
    for (uint32_t word = 0; word < PROPS_PAIR_WORDS; word++) {
        for (uint64_t left = met[word]; left != 0; left &= left - 1) {
            uint64_t *row =
                pairs->met[64 * word + (uint32_t)__builtin_ctzll(left)];

            for (uint32_t i = 0; i < PROPS_PAIR_WORDS; i++)
                row[i] |= met[i];
        }
    }
}

void
props_pairs_add(struct props_pairs *to, const struct props_pairs *from)
{
    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++)
        for (uint32_t word = 0; word < PROPS_PAIR_WORDS; word++)
            to->met[i][word] |= from->met[i][word];
}

bool
props_pairs_met(const struct props_pairs *pairs, enum props_cover a,
                enum props_cover b)
{
    return (pairs->met[a][b / 64] >> b % 64 & 1) != 0;
}

const char *
props_pairs_reason(enum props_cover a, enum props_cover b)
{
    (void)a;
    (void)b;
    return NULL;
}
