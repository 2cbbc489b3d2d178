/*
 * test_traced_worlds.c -- random traced worlds, with and without a heap, judged
 * by all properties.
 */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "unit_test.h"

static struct sim_choice list[8192];

static void
tell_run(const struct props_run *run)
{
    for (uint32_t i = 0; i < run->events_count; i++) {
        const struct sim_event *event = &run->events[i];

        print_message("p%u t%u: %s %u %llu\n", event->proc, event->task,
                      sim_event_word(event->kind), event->object,
                      (unsigned long long)event->size_bytes);
    }
}

static void
run_worlds(uint32_t worlds, props_set asked, uint64_t last,
           struct props_coverage *coverage)
{
    struct props_run *run = props_run_new(&sim_generator_limits_all);
    struct sim_choices choices;

    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= last; seed++) {
        sim_choices_random(&choices, seed);
        if (!props_run_choices(run, &choices, &prof_rules_exact, worlds,
                               asked)) {
            tell_run(run);
            fail_msg("seed %llu: %s: %s", (unsigned long long)seed,
                     props_property_id(run->judge.breach.property),
                     run->judge.breach.text);
        }
        assert_false(choices.overflowed);
    }
    *coverage = run->cover;
    props_run_delete(run);
}

static uint64_t
worlds_count(void)
{
    const char *bound = getenv("PROFSIM_WORLDS");

    return bound == NULL ? 2000 : strtoull(bound, NULL, 10);
}

TEST(two_thousand_worlds_are_traced_as_they_were)
{
    struct props_coverage coverage;

    run_worlds(SIM_WORLDS_TRACED, PROPS_OF_TRACES, worlds_count(), &coverage);
    for (int i = COVER_TRACE_SESSION; i < COVER_CROSS_BLOCK; i++) {
        if (coverage.hits[i] == 0)
            fail_msg("never reached: %s", props_cover_id((enum props_cover)i));
    }
}

/* The profiles and the trace show the same collections and waits. */
TEST(two_thousand_worlds_have_a_heap_and_a_trace)
{
    static const enum props_cover wanted[] = {
        COVER_TRACE_SESSION, COVER_SNAPSHOT_JUDGED_BY_HEAP,
        COVER_LOCK_WAITED,   COVER_LOCK_RELEASED,
        COVER_STW_SWEEP,     COVER_DRAINED,
        COVER_TRACE_BY_CLOCK};
    struct props_coverage coverage;

    run_worlds(SIM_WORLDS_BOTH, PROPS_ALL, worlds_count(), &coverage);
    for (int i = COVER_CROSS_BLOCK; i < COVER_OF_LIBRARY; i++) {
        if (coverage.hits[i] == 0)
            fail_msg("never reached: %s", props_cover_id((enum props_cover)i));
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (coverage.hits[wanted[i]] == 0)
            fail_msg("never reached: %s", props_cover_id(wanted[i]));
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
