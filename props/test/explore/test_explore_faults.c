/*
 * test_explore_faults.c -- known mistakes of Go's profiler and tracer are found
 * and shrunk; when they are corrected, the same programs pass.
 */
#include <stdlib.h>
#include <string.h>

#include "known_faults.h"
#include "unit_test.h"

/* Explore a program that fails. out: text, the report */
static void
find(enum fixtures_fault fault, enum sim_failure_kind kind, char *text,
     size_t text_bytes)
{
    const struct sim_kernel *kernel = fixtures_fault(fault, true);
    const struct sim_exhaust_options options = {.runs_max = 10000,
                                                .by_schedules = true};
    struct sim_exhaust_result result;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(sim_explore_exhaust(kernel, &options, &result),
                     SIM_VERDICT_FAIL);
    assert_int_equal(result.first_failure.failure.kind, kind);
    sim_explore_report(file, NULL, kernel, &result);
    assert_true(result.fewest_known);
    rewind(file);
    text[fread(text, 1, text_bytes - 1, file)] = '\0';
    fclose(file);
    free(result.choices);
}

static void
passes(enum fixtures_fault fault)
{
    const struct sim_exhaust_options options = {.runs_max = 10000};
    struct sim_exhaust_result result;

    assert_int_equal(
        sim_explore_exhaust(fixtures_fault(fault, false), &options, &result),
        SIM_VERDICT_PASS);
    assert_true(result.graphs > 1);
    free(result.choices);
}

TEST(a_cycle_read_before_the_lock_is_found)
{
    char text[8192];

    find(FIXTURES_CYCLE_BEFORE_LOCK, SIM_FAIL_CHECK, text, sizeof text);
    assert_non_null(
        strstr(text, "an allocation shows in the cycle it was made in"));
    assert_non_null(strstr(text, "preemptions: 1"));
    passes(FIXTURES_CYCLE_BEFORE_LOCK);
}

TEST(an_owner_who_is_parked_is_found)
{
    char text[8192];

    find(FIXTURES_OWNER_WHILE_PARKED, SIM_FAIL_RACE, text, sizeof text);
    assert_non_null(strstr(text, "data race"));
    passes(FIXTURES_OWNER_WHILE_PARKED);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
