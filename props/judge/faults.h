/* faults.h -- which faults of fault.def happened in a run. Each fault has a
 * coverage goal, which shows that it happened. */
#ifndef PROPS_JUDGE_FAULTS_H
#define PROPS_JUDGE_FAULTS_H

#include <stdint.h>
#include <stdio.h>

#include "sim/generate/fault.h"
#include "props/cover.h"

/* returns: the goal that a fault of a world reaches; COVER_COUNT for any other
 * fault */
enum props_cover props_fault_cover(enum sim_fault fault);

/*
 * in:      before, now: the run's coverage at two moments
 * returns: the faults that happened between them, one bit each
 */
uint64_t props_faults_met(const struct props_coverage *before,
                          const struct props_coverage *now);

/*
 * Write the names of a set of faults: "clock-back, stall".
 *
 * out:     text, "none" for the empty set; cut if it does not fit
 */
void props_faults_name(char *text, size_t text_bytes, uint64_t faults);

#endif
