/* faults.h -- which faults of fault.def a run has met, by their goals. */
#ifndef PROPS_FAULTS_H
#define PROPS_FAULTS_H

#include <stdint.h>
#include <stdio.h>

#include "fault.h"
#include "cover.h"

/* returns: the goal that a fault of worlds leaves; COVER_COUNT for others */
enum props_cover props_fault_cover(enum sim_fault fault);

/*
 * returns: the faults met between two readings of the goals of a run, one bit
 *          each
 */
uint64_t props_faults_met(const struct props_coverage *before,
                          const struct props_coverage *now);

/*
 * Name faults: "clock-back, stall".
 *
 * out:     text, "none" if there are none; cut if it does not fit
 */
void props_faults_name(char *text, size_t text_bytes, uint64_t faults);

#endif
