/*
 * test_sched_world.c -- random traced worlds, judged by all properties.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched_run.h"

static struct sim_choice list[8192];

static void
tell_run(const struct sched_run *run)
{
    for (uint32_t i = 0; i < run->trail->count; i++) {
        const struct sim_sched_event *event = &run->trail->events[i];

        print_message(
            "p%u: %s t%llu %llu\n", event->proc, sim_sched_word(event->kind),
            (unsigned long long)event->task, (unsigned long long)event->number);
    }
}

static void
two_thousand_worlds_are_traced_as_they_were(void **state)
{
    struct sched_run *run = sched_run_new(SIM_SCHED_EVENTS_MAX);
    const char *bound = getenv("PROFSIM_WORLDS");
    const uint64_t last = bound == NULL ? 2000 : strtoull(bound, NULL, 10);
    struct sim_choices choices;

    (void)state;
    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= last; seed++) {
        sim_choices_random(&choices, seed);
        if (!sched_run_choices(run, &choices, PROPS_OF_TRACES)) {
            tell_run(run);
            fail_msg("seed %llu: %s: %s", (unsigned long long)seed,
                     props_property_id(run->judge.breach.property),
                     run->judge.breach.text);
        }
        assert_false(choices.overflowed);
    }
    for (int i = MARK_TRACE_SESSION; i < MARK_COUNT; i++) {
        if (run->marks.hits[i] == 0)
            fail_msg("never reached: %s", props_mark_id((enum props_mark)i));
    }
    sched_run_delete(run);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_thousand_worlds_are_traced_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
