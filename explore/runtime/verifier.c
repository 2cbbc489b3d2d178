/*
 * verifier.c -- what a program says of its environment, in the words of the
 * suites of verifiers: which runs matter, and which values come from outside.
 */
#include "explore/runtime/explored.h"
#include "explore/runtime/program.h"
#include "explore/search/frontier.h"
#include "explore/runtime/start.h"

/* A choice is among the small values, and the greatest or -1. */
enum { SMALL_VALUES = 8 };

static bool were_chosen; /* values that stand for others */

bool
sim_program_chose_values(void)
{
    return were_chosen;
}

/* Give the run up unless the condition holds. */
static void
assume(struct engine *e, bool holds)
{
    if (holds || !sim_program_runs(e))
        return;
    sim_engine_settle(e);
    sim_question_open(e, 0);
    sim_engine_stop(e, SIM_END_BLOCKED);
}

void
explored___VERIFIER_assume(int holds)
{
    assume(&sim_engine, holds != 0);
}

void
explored_profsim_assume(int holds)
{
    assume(&sim_engine, holds != 0);
}

/* returns: a value below `bound`, of which each is tried */
unsigned
explored_profsim_choose(unsigned bound)
{
    return bound > 1 ? sim_explore_choose(bound, SIM_DATA) : 0;
}

_Bool
explored___VERIFIER_nondet_bool(void)
{
    return sim_explore_choose(2, SIM_DATA) != 0;
}

static uint64_t
any_value(struct engine *e)
{
    const uint32_t chosen = sim_explore_choose(SMALL_VALUES + 1, SIM_DATA);

    if (sim_program_runs(e)) {
        were_chosen = true;
        e->run->bounded = true;
    }
    return chosen < SMALL_VALUES ? chosen : UINT64_MAX;
}

#define VALUE(name, type)                        \
    type explored___VERIFIER_nondet_##name(void) \
    {                                            \
        return (type)any_value(&sim_engine);     \
    }

VALUE(char, char)
VALUE(uchar, unsigned char)
VALUE(short, short)
VALUE(ushort, unsigned short)
VALUE(int, int)
VALUE(uint, unsigned)
VALUE(long, long)
VALUE(ulong, unsigned long)
