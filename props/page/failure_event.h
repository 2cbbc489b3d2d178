/* failure_event.h -- an event of a scenario, and the state after it, as JSON of
 * docs/pages.md. */
#ifndef PROPS_PAGE_FAILURE_EVENT_H
#define PROPS_PAGE_FAILURE_EVENT_H

#include <stdint.h>
#include <stdio.h>

#include "props/page/buckets.h"
#include "props/judge/run.h"
#include "sim/scenario/scenario.h"

struct cli_event {
    const struct sim_scenario *scenario;
    uint32_t index;
    struct props_run *run;
    struct cli_buckets *buckets;  /* NULL: the run carries no profiles */
    struct props_coverage before; /* without the event */
    uint32_t column; /* processor it is on; TRUTH_NO_PROC: the collector's */
};

/* Record the world before the event. in: all but column; out: column */
void cli_event_begin(struct cli_event *at);

/* Print what has happened, as one line. */
void cli_event_print(FILE *file, const struct cli_event *at);

#endif
