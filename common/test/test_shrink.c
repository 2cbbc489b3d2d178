/*
 * test_shrink.c -- the shrinker reaches minima that are known beforehand.
 *
 * The system under test draws a list of operations. Its choices are: "one more
 * operation?", which of 8, an argument. A list fails if it has an operation 3,
 * later a 5 with an argument above 1000, and later still a 1. So the smallest
 * failing list is (3,0) (5,1001) (1,0).
 */
#include "common/shrink.h"

#include <string.h>

#include "common/test/unit_test.h"

enum { LIST_MAX = 512, OPS_MAX = 64 };

struct world {
    struct sim_choices choices;
    struct sim_choice list[LIST_MAX];
    uint64_t runs;
};

static bool
ops_run(struct sim_choices *choices)
{
    uint32_t stage = 0;

    for (uint32_t i = 0; i < OPS_MAX; i++) {
        uint32_t op;
        uint32_t argument;

        if (sim_choose(choices, 16, SIM_FLOW, 0) == 0)
            break;
        op = sim_choose(choices, 8, SIM_OP, 1);
        argument = sim_choose(choices, 65536, SIM_DATA, 2);
        if (stage == 0 && op == 3)
            stage = 1;
        else if (stage == 1 && op == 5 && argument > 1000)
            stage = 2;
        else if (stage == 2 && op == 1)
            stage = 3;
    }
    return stage == 3;
}

static bool
ops_still_fails(void *context, const uint32_t *values, uint32_t count)
{
    struct world *w = context;

    w->runs++;
    sim_choices_replay(&w->choices, values, count);
    return ops_run(&w->choices);
}

static uint32_t
first_failing_seed(struct world *w, uint64_t from)
{
    for (uint64_t seed = from; seed < from + 100000; seed++) {
        sim_choices_random(&w->choices, seed);
        if (ops_run(&w->choices))
            return w->choices.count;
    }
    fail_msg("no failing list in 100 000 seeds");
    return 0;
}

TEST(the_minimum_of_a_list_of_operations_is_reached_from_any_start)
{
    static const uint32_t minimum[] = {1, 3, 0, 1, 5, 1001, 1, 1};
    static struct world w;

    for (uint64_t start = 1; start <= 6; start++) {
        struct sim_choice list[LIST_MAX];
        struct sim_shrink shrink = {
            .still_fails = ops_still_fails, .context = &w, .ran = &w.choices};
        uint32_t count;

        sim_choices_init(&w.choices, w.list, LIST_MAX);
        count = first_failing_seed(&w, start * 1000003);
        memcpy(list, w.list, count * sizeof *list);
        w.runs = 0;
        count = sim_shrink(&shrink, list, count);
        assert_false(shrink.unstable);
        assert_false(shrink.cut);
        assert_int_equal(shrink.calls, w.runs);
        assert_int_equal(count, sizeof minimum / sizeof minimum[0]);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(list[i].value, minimum[i]);
    }
}

/* Fails if the values of the DATA choices sum to 1000 or more; no fault is
 * needed. */
static bool
sum_still_fails(void *context, const uint32_t *values, uint32_t count)
{
    uint64_t sum = 0;

    (void)context;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum >= 1000;
}

TEST(weight_spread_over_neighbours_moves_into_one)
{
    struct sim_choice list[] = {
        {.bound = 2000, .value = 500, .kind = SIM_DATA},
        {.bound = 2000, .value = 300, .kind = SIM_DATA},
        {.bound = 2000, .value = 400, .kind = SIM_DATA},
    };
    struct sim_shrink shrink = {.still_fails = sum_still_fails};

    assert_int_equal(sim_shrink(&shrink, list, 3), 1);
    assert_int_equal(list[0].value, 1000);
}

TEST(every_answer_left_is_shown_necessary)
{
    struct sim_choice list[] = {
        {.bound = 2000, .value = 600, .kind = SIM_DATA},
        {.bound = 2000, .value = 0, .kind = SIM_DATA},
        {.bound = 2000, .value = 390, .kind = SIM_DATA},
        {.bound = 2000, .value = 10, .kind = SIM_DATA},
        {.bound = 2000, .value = 1, .kind = SIM_DATA},
    };
    struct sim_shrink shrink = {.still_fails = sum_still_fails};
    bool necessary[5];

    assert_int_equal(sim_shrink_necessary(&shrink, list, 5, necessary), 3);
    assert_true(necessary[0]);
    assert_false(necessary[1]); /* was 0 before */
    assert_true(necessary[2]);
    assert_true(necessary[3]);
    assert_false(necessary[4]); /* the others sum to 1000 */
    assert_int_equal(shrink.calls, 4);
}

TEST(a_list_that_passes_is_left_alone_and_reported)
{
    struct sim_choice list[] = {
        {.bound = 2000, .value = 999, .kind = SIM_DATA},
        {.bound = 2000, .value = 0, .kind = SIM_DATA},
    };
    struct sim_shrink shrink = {.still_fails = sum_still_fails};

    assert_int_equal(sim_shrink(&shrink, list, 2), 2);
    assert_true(shrink.unstable);
    assert_int_equal(list[0].value, 999);
    assert_int_equal(shrink.calls, 1);
}

TEST(the_budget_of_runs_is_kept)
{
    static struct world w;
    struct sim_choice list[LIST_MAX];
    struct sim_shrink shrink = {.still_fails = ops_still_fails,
                                .context = &w,
                                .ran = &w.choices,
                                .calls_max = 10};
    uint32_t count;

    sim_choices_init(&w.choices, w.list, LIST_MAX);
    count = first_failing_seed(&w, 77);
    memcpy(list, w.list, count * sizeof *list);
    sim_shrink(&shrink, list, count);
    assert_true(shrink.cut);
    assert_true(shrink.calls <= 10 + 2); /* the final check is not counted */
    assert_false(shrink.unstable);
}

/*
 * Fails if the choices 0 to 2 are all 1, or if choice 9 is 1. No single step of
 * the shrinker leads from the first list to the second.
 */
static bool
far_still_fails(void *context, const uint32_t *values, uint32_t count)
{
    struct world *w = context;
    uint32_t v[12];

    sim_choices_replay(&w->choices, values, count);
    for (uint32_t i = 0; i < 12; i++)
        v[i] = sim_choose(&w->choices, 3, SIM_SCHED, 0);
    return (v[0] == 1 && v[1] == 1 && v[2] == 1) || v[9] == 1;
}

TEST(the_fewest_surprises_are_found_where_no_step_leads)
{
    static struct world w;
    struct sim_choice list[24] = {
        {.bound = 3, .value = 1, .kind = SIM_SCHED},
        {.bound = 3, .value = 1, .kind = SIM_SCHED},
        {.bound = 3, .value = 1, .kind = SIM_SCHED},
    };
    struct sim_shrink shrink = {.still_fails = far_still_fails,
                                .context = &w,
                                .ran = &w.choices,
                                .fewest_first = true};
    uint32_t count;

    sim_choices_init(&w.choices, w.list, LIST_MAX);
    count = sim_shrink(&shrink, list, 3);
    assert_int_equal(count, 3); /* no step makes it smaller */
    count = sim_shrink_fewest(&shrink, list, count, 24, 5);
    assert_int_equal(count, 3);
    assert_false(shrink.fewest_known); /* the budget was too small */
    count = sim_shrink_fewest(&shrink, list, count, 24, 1000);
    assert_int_equal(count, 10);
    assert_int_equal(list[9].value, 1);
    assert_true(shrink.fewest_known);
    /* Fewer than one is not possible. */
    count = sim_shrink_fewest(&shrink, list, count, 24, 1000);
    assert_int_equal(count, 10);
    assert_true(shrink.fewest_known);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
