/* go_gaps.h -- gaps of the heap sampler, as schedules for the Go runtime. */
#ifndef PROPS_PEERS_GO_GAPS_H
#define PROPS_PEERS_GO_GAPS_H

#include <stdint.h>

/*
 * Write the schedule and our results to the tape's files.
 *
 * returns: how many gaps are compared; 0 if there was not enough memory
 */
uint64_t go_gaps_run(uint64_t first, uint64_t count);

#endif
