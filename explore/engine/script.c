/*
 * script.c -- reruns only the events that a failure seems to depend on.
 *
 * If that run fails in the same way, the other events do not matter; only then
 * does a report leave out what slice.c proposes. The run follows the trace: the
 * thread with the next event runs next, a read takes the same store as in the
 * trace, and a store goes to the same position.
 */
#include "explore/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"
#include "explore/search/strategy.h"

struct script {
    struct trace_event events[TRACE_MAX]; /* `from` and `before` by new index */
    uint32_t count;
    uint32_t last; /* the thread that fails, once all events are made */
};

void
sim_script_open(struct engine *e)
{
    e->script = sim_need(calloc(1, sizeof *e->script));
}

/* Thread to run next; ends the run if it cannot. */
static uint32_t
must_run(struct engine *e, bool can_go_on)
{
    const uint32_t at = e->state.trace_count;
    const uint32_t next =
        at < e->script->count ? e->script->events[at].thread : e->script->last;

    (void)can_go_on;
    if ((e->ready >> next & 1) == 0)
        sim_engine_stop(e, SIM_END_BLOCKED);
    return next;
}

const struct sim_strategy_part sim_strategy_script = {
    .name = "script",
    .must_run = must_run,
    .answer = sim_strategy_choose,
};

/* The store that must be read, or must directly follow the new store. */
uint32_t
sim_script_choose(struct engine *e, const struct location *l,
                  const uint32_t *found, uint32_t count, bool place)
{
    const uint32_t at = e->state.trace_count;
    uint32_t wanted = TRACE_MAX;

    if (at < e->script->count)
        wanted =
            place ? e->script->events[at].before : e->script->events[at].from;
    for (uint32_t i = 0; i < count; i++) {
        const bool last = place && found[i] == l->stores_count;

        if ((last ? TRACE_MAX : l->stores[found[i]].trace) == wanted)
            return found[i];
    }
    return found[0];
}

static void
write_script(struct engine *e, const struct trace_event *trace, uint32_t count,
             const bool *runs)
{
    static uint32_t index[TRACE_MAX + 1];

    e->script->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        index[i] = runs[i] ? e->script->count : TRACE_MAX;
        if (runs[i])
            e->script->events[e->script->count++] = trace[i];
    }
    index[TRACE_MAX] = TRACE_MAX;
    for (uint32_t i = 0; i < e->script->count; i++) {
        e->script->events[i].from = index[e->script->events[i].from];
        e->script->events[i].before = index[e->script->events[i].before];
    }
}

void
sim_script_begin(struct engine *e, const struct trace_event *trace,
                 uint32_t count, const bool *runs, uint32_t last)
{
    write_script(e, trace, count, runs);
    e->script->last = last;
    e->script_runs = true;
}

void
sim_script_end(struct engine *e)
{
    e->script_runs = false;
}
