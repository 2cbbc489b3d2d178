/* failure_trace.h -- the traces of a run: what the reader got, decoded, and
 * what it must have got, as JSON of docs/pages.md. */
#ifndef CLI_FAILURE_TRACE_H
#define CLI_FAILURE_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "run.h"
#include "scenario.h"

/*
 * Print a list of the sessions of a run that has ended; its judge is used.
 *
 * in:      facts, how many the truth log had after each event; events_count, of
 *          those that happened
 */
void cli_failure_trace_print(FILE *file, const struct sim_scenario *scenario,
                             struct props_run *run, const uint32_t *facts,
                             uint32_t events_count);

#endif
