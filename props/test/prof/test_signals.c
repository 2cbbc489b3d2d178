/*
 * test_signals.c -- a signal at any instruction: a handler that records on the
 * same processor interrupts each record call, and each control call during
 * which handlers may record, after each of its instructions (single_step.h).
 * Nothing may be lost, counted twice or negative, and no call may wait for
 * ever.
 *
 * Handlers must not call prof_trace_emit(), so here it is only interrupted.
 */
#include "interrupted.h"
#include "single_step.h"
#include "unit_test.h"

enum {
    STEPS_MAX = 20000,  /* instructions of one call */
    CONTROL_STRIDE = 5, /* instructions from one signal to the next in control
                         * calls */
};

static uint32_t
steps_of(void (*call)(void))
{
    assert_null(interrupted_begin());
    props_step_begin(NULL, 0);
    call();
    return props_step_end();
}

/* Interrupt a call. in: at, the instruction, from 1; 0: after each */
static uint32_t
strike(const struct interrupted_call *call, uint32_t at)
{
    uint32_t steps;
    const char *why;

    assert_null(interrupted_begin());
    props_step_begin(interrupted_live, at);
    call->call();
    steps = props_step_end();
    why = interrupted_check();
    if (why != NULL)
        fail_msg("%s, struck at instruction %u: %s", call->name, at, why);
    return steps;
}

TEST(a_handler_may_record_at_any_instruction)
{
    for (size_t i = 0; i < INTERRUPTED_CALLS; i++) {
        const struct interrupted_call *call = &interrupted_calls[i];
        const uint32_t steps = steps_of(call->call);

        assert_in_range(steps, 10 * PROPS_STEPS, STEPS_MAX);
        for (uint32_t at = 1; at <= steps;
             at += call->records ? 1 : CONTROL_STRIDE)
            strike(call, at);
    }
}

TEST(a_handler_may_record_after_each_instruction_of_one_call)
{
    for (size_t i = 0; i < INTERRUPTED_CALLS; i++)
        assert_in_range(strike(&interrupted_calls[i], 0), 10 * PROPS_STEPS,
                        STEPS_MAX);
}
