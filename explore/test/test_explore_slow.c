/*
 * test_explore_slow.c -- larger programs: counts, and soundness of pruning.
 *
 * It is not a default test, because it takes half a minute.
 *
 * build: when=long
 */
#include "explore/textbook/textbook.h"

#include <stdlib.h>

#include "common/test/unit_test.h"

static struct sim_exhaust_result
expect(uint32_t writes, uint32_t readers, uint64_t graphs,
       const struct sim_exhaust_options options)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_seqlock(writes, readers), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, graphs);
    return r;
}

TEST(large_seqlocks_have_as_many_graphs_as_counted)
{
    expect(1, 4, 14641, (struct sim_exhaust_options){0});
    expect(3, 3, 970299, (struct sim_exhaust_options){0});
}

TEST(every_cut_prefix_of_a_large_program_ends_in_a_known_graph)
{
    /* Searched by schedules, as a search by graphs abandons no run. */
    const struct sim_exhaust_result r =
        expect(1, 4, 14641,
               (struct sim_exhaust_options){.recheck_of_100 = 100,
                                            .by_schedules = true});

    assert_true(r.rechecked > 500000);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
