/* faults.h -- which faults of fault.def a run has met, by their marks. */
#ifndef PROPS_FAULTS_H
#define PROPS_FAULTS_H

#include <stdint.h>
#include <stdio.h>

#include "fault.h"
#include "mark.h"

/* returns: the mark that a fault of worlds leaves; MARK_COUNT for others */
enum props_mark props_fault_mark(enum sim_fault fault);

/*
 * returns: the faults met between two readings of the marks of a run, one bit
 *          each
 */
uint64_t props_faults_met(const struct props_marks *before,
                          const struct props_marks *now);

/*
 * Name faults: "clock-back, stall".
 *
 * out:     text, "none" if there are none; cut if it does not fit
 */
void props_faults_name(char *text, size_t text_bytes, uint64_t faults);

#endif
