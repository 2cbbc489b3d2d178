/* pairs.c -- see pairs.h; pairs.def lists the pairs that no run has met. */
#include "props/pairs.h"

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

/* ---- pairs.def ---- */

const struct props_pairs_unmet props_pairs_unmet[] = {
#define CANNOT(goal, first, last, reason) \
    {COVER_##goal, COVER_##first, COVER_##last, false, reason},
#define NOT_YET(goal, first, last, reason) \
    {COVER_##goal, COVER_##first, COVER_##last, true, reason},
#include "props/pairs.def"
#undef CANNOT
#undef NOT_YET
};
const size_t props_pairs_unmet_count =
    sizeof props_pairs_unmet / sizeof *props_pairs_unmet;

static bool
is_of(const struct props_pairs_unmet *row, enum props_cover a,
      enum props_cover b)
{
    return row->goal == a && row->first <= b && b <= row->last;
}

const struct props_pairs_unmet *
props_pairs_find(enum props_cover a, enum props_cover b)
{
    for (size_t i = 0; i < props_pairs_unmet_count; i++) {
        const struct props_pairs_unmet *row = &props_pairs_unmet[i];

        if (is_of(row, a, b) || is_of(row, b, a))
            return row;
    }
    return NULL;
}

struct props_pairs_sums
props_pairs_known(void)
{
    struct props_pairs_sums sums = {0};

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
            const struct props_pairs_unmet *row =
                props_pairs_find((enum props_cover)i, (enum props_cover)j);

            sums.met += row == NULL;
            sums.impossible += row != NULL && !row->possible;
            sums.possible += row != NULL && row->possible;
        }
    }
    return sums;
}
