/*
 * test_queue.c -- the event queue against a linear search: which actor is
 * first, and which wins a tie, for every number of actors up to a few cache
 * lines.
 *
 * build: cflags=-O2
 */
#include "sim/world/queue.h"
#include "common/rng.h"
#include "common/test/unit_test.h"

enum { ACTORS_MAX = 70, STEPS = 400 };

/* Find the first actor due at `first`, from actor `who` on, cyclically. */
static uint32_t
due_from(const uint64_t *at, uint32_t actors, uint32_t who, uint64_t first)
{
    while (at[who] != first)
        who = (who + 1) % actors;
    return who;
}

TEST(the_first_is_the_first_of_a_list)
{
    struct sim_rng rng = {1};
    struct sim_choice list[1];
    struct sim_choices choices;

    sim_choices_init(&choices, list, 1);
    for (uint32_t actors = 1; actors <= ACTORS_MAX; actors++) {
        uint64_t words[SIM_QUEUE_WORDS(ACTORS_MAX)];
        uint64_t at[ACTORS_MAX];
        struct sim_queue queue;

        sim_queue_init(&queue, words, actors);
        assert_true(sim_queue_first_ticks(&queue) == SIM_NEVER);
        for (uint32_t i = 0; i < actors; i++)
            at[i] = SIM_NEVER;
        for (uint32_t step = 0; step < STEPS; step++) {
            const uint32_t who = sim_rng_below(&rng, actors);
            const uint32_t answer = sim_rng_below(&rng, actors);
            uint64_t first = SIM_NEVER;
            uint32_t got;

            at[who] = sim_rng_below(&rng, 9) == 0 ? SIM_NEVER
                                                  : sim_rng_below(&rng, 6);
            sim_queue_set(&queue, who, at[who]);
            for (uint32_t i = 0; i < actors; i++)
                first = at[i] < first ? at[i] : first;
            assert_true(sim_queue_first_ticks(&queue) == first);
            if (first == SIM_NEVER)
                continue;
            sim_choices_replay(&choices, &answer, 1);
            got = sim_queue_first(&queue, &choices, 7);
            assert_int_equal(
                got,
                due_from(at, actors, choices.count == 0 ? 0 : answer, first));
        }
    }
}

/* A choice is made if several actors are due, and only then. */
TEST(a_tie_is_a_question_among_all)
{
    uint64_t words[SIM_QUEUE_WORDS(5)];
    struct sim_choice list[1];
    struct sim_choices choices;
    struct sim_queue queue;

    sim_choices_init(&choices, list, 1);
    sim_choices_random(&choices, 1);
    sim_queue_init(&queue, words, 5);
    sim_queue_set(&queue, 4, 3);
    sim_queue_set(&queue, 1, 2);
    assert_int_equal(sim_queue_first(&queue, &choices, 7), 1);
    assert_int_equal(choices.count, 0);
    sim_queue_set(&queue, 1, 3);
    (void)sim_queue_first(&queue, &choices, 7);
    assert_int_equal(choices.count, 1);
    assert_int_equal(list[0].bound, 5);
    assert_int_equal(list[0].kind, SIM_SCHED);
    assert_int_equal(list[0].label, 7);
    assert_true(list[0].value == 1 || list[0].value == 4);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
