/* fault.c -- the table of faults, and its two stages. */
#include "sim/generate/fault.h"

#include <assert.h>
#include <stddef.h>

static const struct {
    const char *name;
    const char *sentence;
    const char worlds[3]; /* letters; "": injected by a test */
    const char *test;
    uint32_t on;
    uint32_t visits;
} sites[] = {
#define WORLD_FAULT(id, name, on, visits, worlds, goal, sentence) \
    {name, sentence, worlds, NULL, on, visits},
#define TEST_FAULT(id, name, test, sentence) {name, sentence, "", test, 1, 1},
#include "sim/generate/fault.def"
#undef WORLD_FAULT
#undef TEST_FAULT
};

_Static_assert(SIM_FAULT_COUNT <= 64, "a site is a bit");

static uint16_t
label_of(enum sim_fault fault)
{
    return (uint16_t)(SIM_FAULT_LABEL + fault);
}

void
sim_faults_draw(struct sim_faults *faults, struct sim_choices *choices,
                char world)
{
    faults->choices = choices;
    faults->on = 0;
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const enum sim_fault fault = (enum sim_fault)i;

        if ((sites[i].worlds[0] == world || sites[i].worlds[1] == world) &&
            sim_choose(choices, sites[i].on, SIM_SWARM, label_of(fault)) == 1)
            faults->on |= UINT64_C(1) << i;
    }
}

bool
sim_fault_visit(const struct sim_faults *faults, enum sim_fault fault)
{
    assert(sites[fault].visits > 1);
    return sim_choose(faults->choices, sites[fault].visits, SIM_FAULT,
                      label_of(fault)) == 1;
}

uint32_t
sim_fault_amount(const struct sim_faults *faults, enum sim_fault fault,
                 uint32_t bound)
{
    return sim_fault_is_on(faults, fault)
               ? sim_choose(faults->choices, bound, SIM_FAULT, label_of(fault))
               : 0;
}

const char *
sim_fault_name(enum sim_fault fault)
{
    return sites[fault].name;
}

const char *
sim_fault_sentence(enum sim_fault fault)
{
    return sites[fault].sentence;
}

const char *
sim_fault_worlds(enum sim_fault fault)
{
    return sites[fault].worlds;
}

const char *
sim_fault_test(enum sim_fault fault)
{
    return sites[fault].test;
}
