/*
 * test_scenario_answer.c -- comparing results with `expect` lines, and the
 * message for the first difference.
 */
#include <stdlib.h>
#include <string.h>

#include "scenario_case.h"
#include "unit_test.h"

static void
assert_differs(const struct sim_scenario *s, const struct sim_answer *answer,
               const char *text)
{
    struct sim_error error = {{0}};

    assert_false(sim_scenario_check_answer(s, 0, answer, &error));
    assert_string_equal(error.text, text);
}

TEST(the_first_difference_of_a_heap_answer_is_described)
{
    struct sim_scenario *s =
        read_good(FIRST "depth 2\nstack a = x>g>f\nsnapshot\nexpect count 1\n"
                        "expect order a:8\nexpect a 8 2/1\n");
    const uintptr_t gf[] = {sim_frame_address("f"), sim_frame_address("g")};
    struct prof_heap_record record = {
        .allocs = 2, .frees = 1, .size_bytes = 8, .stack = gf, .depth = 2};
    struct sim_answer answer = {.kind = SIM_EV_SNAPSHOT,
                                .status = PROF_OK,
                                .count = 1,
                                .heap = &record};
    struct sim_error error = {{0}};

    assert_true(sim_scenario_check_answer(s, 0, &answer, &error));
    record.frees = 2;
    assert_differs(s, &answer, "x.sim:7: expected a 8 2/1, found 2/2");
    record.size_bytes = 9;
    assert_differs(s, &answer,
                   "x.sim:6: expected a in place 1, found another bucket");
    answer.count = 0;
    assert_differs(s, &answer, "x.sim:5: expected count 1, found 0");
    answer.kind = SIM_EV_COUNT;
    assert_differs(s, &answer,
                   "x.sim:5: expected an answer to 'snapshot', found none");
    sim_scenario_free(s);
}

TEST(a_short_answer_lists_nothing)
{
    struct sim_scenario *s =
        read_good(FIRST "stack a = f\nsnapshot room=0\nexpect count 1\n"
                        "expect short\nexpect a 8 1/0\n");
    struct sim_answer answer = {
        .kind = SIM_EV_SNAPSHOT, .status = PROF_ERR_SHORT, .count = 1};

    assert_differs(s, &answer,
                   "x.sim:6: expected a listing, found 'the buffer is too "
                   "short'");
    answer.status = PROF_OK;
    assert_differs(s, &answer,
                   "x.sim:5: expected a buffer too short, found 'ok'");
    sim_scenario_free(s);
}

TEST(the_first_difference_of_a_contention_answer_is_described)
{
    struct sim_scenario *s =
        read_good(FIRST "stack a = f\nstack b = -\nmutex-snapshot\n"
                        "expect b 2 events 7 cycles\nexpect a 1 events 1 "
                        "cycles\n");
    struct prof_contention_record record = {.count = 2, .cycles = 7};
    struct sim_answer answer = {.kind = SIM_EV_MUTEX_SNAPSHOT,
                                .status = PROF_OK,
                                .count = 1,
                                .contention = &record};

    assert_differs(s, &answer,
                   "x.sim:6: expected a listed once, found it 0 "
                   "times");
    record.cycles = 6;
    assert_differs(s, &answer,
                   "x.sim:5: expected b 2 events 7 cycles, found 2 events 6 "
                   "cycles");
    sim_scenario_free(s);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
