/*
 * buckets.h -- the profile while a scenario runs, by bucket, as JSON of
 * docs/pages.md: what the library has published, what waits in each slot of its
 * ring, and what the oracle says must be published.
 */
#ifndef PROPS_PAGE_BUCKETS_H
#define PROPS_PAGE_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "props/judge/judge.h"
#include "sim/scenario/scenario.h"

enum { CLI_BUCKETS_MAX = 4096 }; /* shown; beyond that they are left out */

struct cli_buckets; /* opaque */

/* returns: the state before the first event; NULL if there is no memory */
struct cli_buckets *cli_buckets_open(const struct sim_scenario *scenario);
void cli_buckets_close(struct cli_buckets *buckets);

/* Print the members `buckets` (those that are new) and `rows` (those that have
 * changed) of a JSON object, each with a comma before it. */
void cli_buckets_changes(FILE *file, struct cli_buckets *buckets,
                         const struct props_judge *judge);

/* Print the member `snapshot`, with a comma before it, if the last event was a
 * heap snapshot. */
void cli_buckets_snapshot(FILE *file, struct cli_buckets *buckets,
                          const struct props_judge *judge);

/* returns: the name of a stack; "?" if the scenario has no stack that begins
 * with these frames */
const char *cli_stack_name(const struct sim_scenario *scenario,
                           const uintptr_t *frames, uint32_t depth);

#endif
