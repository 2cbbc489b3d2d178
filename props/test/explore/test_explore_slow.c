/*
 * test_explore_slow.c -- larger programs: counts, and soundness of pruning.
 *
 * It is not a default test, because it takes half a minute.
 */
#include "textbook.h"

#include <stdlib.h>

#include "unit_test.h"

static void
expect(uint32_t writes, uint32_t readers, uint64_t graphs, uint64_t runs)
{
    const struct sim_exhaust_options options = {.run = {.lazy_start = true}};
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_seqlock(writes, readers), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, graphs);
    assert_int_equal(r.runs, runs);
}

TEST(one_write_and_four_readers)
{
    expect(1, 4, 14641, 1075033);
}

TEST(three_writes_and_three_readers)
{
    expect(3, 3, 970299, 17264763);
}

/* Three independent shards find as many graphs. */
TEST(shards_find_as_many)
{
    uint64_t graphs = 0;

    for (uint32_t i = 1; i <= 3; i++) {
        const struct sim_exhaust_options options = {.shard = i, .shards = 3};
        struct sim_exhaust_result r;

        sim_explore_exhaust(fixtures_seqlock(3, 3), &options, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        graphs += r.graphs;
    }
    assert_int_equal(graphs, 970299);
}

/* Without pruning there are the same graphs, in thousands of times as many
 * runs. */
TEST(the_plain_odometer_finds_no_other_graph)
{
    const struct sim_exhaust_options options = {.no_pruning = true,
                                                .run = {.lazy_start = true}};
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_seqlock(1, 1), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 2010);
    sim_explore_exhaust(fixtures_seqlock(2, 1), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 61070);
}

TEST(every_cut_prefix_of_a_large_program_ends_in_a_known_graph)
{
    /* Searched by schedules, as a search by graphs abandons no run. */
    const struct sim_exhaust_options options = {.recheck_of_100 = 100,
                                                .run = {.lazy_start = true}};
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_seqlock(1, 4), &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 14641);
    assert_true(r.rechecked > 500000);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
