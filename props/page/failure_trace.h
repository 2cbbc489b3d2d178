/* failure_trace.h -- the traces of a run as JSON of docs/pages.md: the decoded
 * events that the reader got, and those that it should have got. */
#ifndef PROPS_PAGE_FAILURE_TRACE_H
#define PROPS_PAGE_FAILURE_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "props/judge/run.h"
#include "sim/scenario/scenario.h"

/*
 * Print the list of sessions of a finished run, from its judge.
 *
 * in:      facts[i], how many facts the truth log had after event i;
 *          events_count, how many events happened
 */
void cli_failure_trace_print(FILE *file, const struct sim_scenario *scenario,
                             struct props_run *run, const uint32_t *facts,
                             uint32_t events_count);

#endif
