/*
 * simplify.h -- make a failing list of events plain: fewer events, no delays,
 * one task, a default world.
 */
#ifndef PROPS_CAMPAIGN_SIMPLIFY_H
#define PROPS_CAMPAIGN_SIMPLIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/world.h"

struct props_event_list {
    struct sim_config config;
    struct sim_event *events;
    uint32_t events_count;
};

/*
 * Replace a failing list by the plainest one found that still fails. The result
 * is 1-minimal: without any single one of its events it does not fail.
 *
 * in/out:  *list; events_count can only fall
 * in:      still_fails: does a list fail in the same way? false if its events
 *          cannot happen
 * returns: false if there is not enough memory; the list is then as it was
 */
bool props_simplify(struct props_event_list *list,
                    bool (*still_fails)(void *context,
                                        const struct props_event_list *list),
                    void *context);

#endif
