/*
 * fault.h -- named faults, in two stages: a run has a fault at all with some
 * probability, and then the fault strikes at each visit with some probability.
 * So most runs have only a few kinds of faults, but many of each.
 *
 * Stage one is a choice of kind SIM_SWARM, stage two one of kind SIM_FAULT. A
 * shrinker can set all SIM_FAULT choices to zero without moving any other
 * question; if the run still fails, the failure did not need the fault.
 */
#ifndef SIM_GENERATE_FAULT_H
#define SIM_GENERATE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"

enum sim_fault {
#define WORLD_FAULT(id, name, on, visits, worlds, goal, sentence) \
    SIM_FAULT_##id,
#define TEST_FAULT(id, name, test, sentence) SIM_FAULT_##id,
#include "sim/generate/fault.def"
#undef WORLD_FAULT
#undef TEST_FAULT
    SIM_FAULT_COUNT
};

/* Labels of their questions begin here; those of the worlds are below. */
enum { SIM_FAULT_LABEL = 64 };

struct sim_faults {
    struct sim_choices *choices;
    uint64_t on; /* a bit per fault: does this run have it? */
};

/*
 * Stage one: draw which faults this run has, among those of its kind of world.
 *
 * out:     *faults
 * in:      choices, begun; world, 'h', 't' or 'm'
 */
void sim_faults_draw(struct sim_faults *faults, struct sim_choices *choices,
                     char world);

/* returns: does this run have the fault? */
static inline bool
sim_fault_is_on(const struct sim_faults *faults, enum sim_fault fault)
{
    return (faults->on >> fault & 1) != 0;
}

/* Stage two, in a run that has the fault. returns: does it strike at this
 * visit? */
bool sim_fault_visit(const struct sim_faults *faults, enum sim_fault fault);

/* Stage two. returns: does it strike? */
static inline bool
sim_fault_strikes(const struct sim_faults *faults, enum sim_fault fault)
{
    return sim_fault_is_on(faults, fault) && sim_fault_visit(faults, fault);
}

/*
 * Draw how severe a fault that shapes the whole run is.
 *
 * in:      bound > 0
 * returns: 0 if the run does not have the fault, else a value below bound
 */
uint32_t sim_fault_amount(const struct sim_faults *faults, enum sim_fault fault,
                          uint32_t bound);

/* returns: what fault.def says; the test is NULL for faults of worlds */
const char *sim_fault_name(enum sim_fault fault);
const char *sim_fault_sentence(enum sim_fault fault);
const char *sim_fault_worlds(enum sim_fault fault);
const char *sim_fault_test(enum sim_fault fault);

#endif
