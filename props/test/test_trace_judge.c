/*
 * test_trace_judge.c -- tests the judge of traced worlds: if one byte of a
 * trace is changed after the run, the right property notices it.
 */
#include <stdlib.h>

#include "sim/instruments/instrument_trace.h"
#include "props/judge/run.h"
#include "model/trace/trace_oracle.h"
#include "common/test/unit_test.h"

enum { WORLDS = 60, BYTES_A_SESSION = 40 };

static struct sim_choice list[8192];

struct noticed {
    uint64_t by[PROPS_COUNT];
    uint64_t changed;
    uint64_t unnoticed;
};

/* Change a byte, judge again, and restore the byte. */
static void
lie_once(struct props_run *run, uint8_t *byte, uint8_t change,
         struct noticed *noticed)
{
    *byte ^= change;
    noticed->changed++;
    if (trace_judge_run(&run->trace))
        noticed->unnoticed++;
    else
        noticed->by[run->trace.breach.property]++;
    *byte ^= change;
}

static void
lie_about(struct props_run *run, uint64_t seed, struct noticed *noticed)
{
    const uint32_t sessions = sim_sessions(run->judge.world);

    for (uint32_t i = 0; i < sessions; i++) {
        const struct sim_session *session = sim_session(run->judge.world, i);
        const size_t step = session->bytes_count / BYTES_A_SESSION + 1;

        if (!session->has_ended)
            continue;
        for (size_t at = seed % step; at < session->bytes_count; at += step)
            lie_once(run, &session->bytes[at], (uint8_t)(1U << seed % 7),
                     noticed);
    }
}

TEST(nearly_every_changed_byte_is_noticed)
{
    /* Properties that a change of the file can break; T10, if the event is of a
     * processor that was removed. T8 and T11 are about when and how it was
     * read. */
    static const enum props_property shown[] = {
        PROPS_T1, PROPS_T2, PROPS_T3, PROPS_T4,  PROPS_T5,
        PROPS_T6, PROPS_T7, PROPS_T9, PROPS_T10, PROPS_T12};
    struct props_run *run = props_run_new(&sim_generator_limits_all);
    struct noticed noticed = {.changed = 0};
    struct sim_choices choices;

    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        sim_choices_random(&choices, seed);
        assert_true(props_run_choices(run, &choices, &prof_rules_exact,
                                      SIM_WORLDS_TRACED, PROPS_OF_TRACES));
        lie_about(run, seed, &noticed);
        assert_true(trace_judge_run(&run->trace)); /* every byte is restored */
    }
    assert_true(noticed.changed > 1000);
    /* Fewer than one change in ten may go unnoticed: those in bits of a number
     * beyond its 64th, in numbers that have no meaning, and in stacks that no
     * event refers to. */
    assert_true(noticed.unnoticed * 10 < noticed.changed);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (noticed.by[shown[i]] == 0)
            fail_msg("%s noticed nothing", props_property_id(shown[i]));
    }
    props_run_delete(run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
