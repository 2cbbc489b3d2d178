/*
 * test_pairs.c -- pairs of coverage goals: those that a run has reached; and
 * pairs.def names each pair at most once.
 */
#include "unit_test.h"

#include <string.h>

#include "pairs.h"

TEST(what_a_run_meets_is_met_together)
{
    struct props_coverage before = {{0}};
    struct props_coverage after;
    struct props_pairs pairs = {{{0}}};
    struct props_pairs sum = {{{0}}};

    before.hits[COVER_SIZE_ZERO] = 7;
    after = before;
    after.hits[COVER_STACK_CUT]++;
    after.hits[COVER_CROSS_STOPPED] += 2;
    props_pairs_note(&pairs, &before, &after);
    assert_true(props_pairs_met(&pairs, COVER_STACK_CUT, COVER_CROSS_STOPPED));
    assert_true(props_pairs_met(&pairs, COVER_CROSS_STOPPED, COVER_STACK_CUT));
    /* That goal was met in an earlier run. */
    assert_false(props_pairs_met(&pairs, COVER_SIZE_ZERO, COVER_STACK_CUT));
    before = after;
    after.hits[COVER_SIZE_ZERO]++;
    after.hits[COVER_STACK_EMPTY]++;
    props_pairs_note(&sum, &before, &after);
    props_pairs_add(&sum, &pairs);
    assert_true(props_pairs_met(&sum, COVER_SIZE_ZERO, COVER_STACK_EMPTY));
    assert_true(props_pairs_met(&sum, COVER_STACK_CUT, COVER_CROSS_STOPPED));
    assert_false(props_pairs_met(&sum, COVER_SIZE_ZERO, COVER_STACK_CUT));
}

static bool
names(const struct props_pairs_unmet *row, enum props_cover a,
      enum props_cover b)
{
    return (row->goal == a && row->first <= b && b <= row->last) ||
           (row->goal == b && row->first <= a && a <= row->last);
}

TEST(each_pair_is_named_at_most_once)
{
    const struct props_pairs_sums sums = props_pairs_known();

    assert_int_equal(sums.met + sums.impossible + sums.possible,
                     COVER_OF_LIBRARY * (COVER_OF_LIBRARY - 1) / 2);
    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i; j < COVER_OF_LIBRARY; j++) {
            uint32_t count = 0;

            for (size_t k = 0; k < props_pairs_unmet_count; k++)
                count += names(&props_pairs_unmet[k], (enum props_cover)i,
                               (enum props_cover)j);
            assert_true(count <= (i != j));
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
