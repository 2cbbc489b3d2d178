/* needed.h -- finds out which events of a scenario its failure needs. */
#ifndef PROPS_PAGE_NEEDED_H
#define PROPS_PAGE_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

#include "props/judge/run.h"
#include "sim/scenario/scenario.h"

enum { CLI_NEEDED_EVENTS_MAX = 400 }; /* quadratic beyond that */

#define CLI_NEEDED_ALL UINT32_MAX /* no event is left out */

/*
 * Run all events except `left_out`.
 *
 * returns: what the run breaks; PROPS_NONE also if a later event cannot happen
 *          without `left_out`
 */
struct props_breach cli_needed_try(struct props_run *run,
                                   const struct sim_scenario *scenario,
                                   props_set requested, uint32_t left_out);

/*
 * Find out which events a failure needs, by leaving out each in turn.
 *
 * out:     needed[0 .. events_count): false if the same property breaks without
 *          the event
 * returns: false, with needed untouched, if there are too many events
 */
bool cli_needed_find(struct props_run *run, const struct sim_scenario *scenario,
                     props_set requested, enum props_property property,
                     bool *needed);

#endif
