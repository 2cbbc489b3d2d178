/*
 * script.c -- reruns only the events that a failure seems to depend on.
 *
 * If that run fails in the same way, the other events do not matter; only then
 * does a report leave out what slice.c proposes. The run follows the trace: the
 * thread with the next event runs next, a read takes the same store as in the
 * trace, and a store goes to the same position.
 */
#include "engine.h"

#include <string.h>

bool sim_script_runs;

static struct {
    struct trace_event events[TRACE_MAX]; /* `from` and `before` by new index */
    uint32_t count;
    uint32_t last; /* the thread that fails, once all events are made */
} script;

/* Thread to run next; ends the run if it cannot. */
uint32_t
sim_script_pick(struct engine *e)
{
    const uint32_t at = e->state.trace_count;
    const uint32_t next =
        at < script.count ? script.events[at].thread : script.last;

    if ((e->ready >> next & 1) == 0)
        sim_engine_stop(e, SIM_END_BLOCKED);
    return next;
}

/* The store that must be read, or must directly follow the new store. */
uint32_t
sim_script_choose(struct engine *e, const struct location *l,
                  const uint32_t *found, uint32_t count, bool place)
{
    const uint32_t at = e->state.trace_count;
    uint32_t wanted = TRACE_MAX;

    if (at < script.count)
        wanted = place ? script.events[at].before : script.events[at].from;
    for (uint32_t i = 0; i < count; i++) {
        const bool last = place && found[i] == l->stores_count;

        if ((last ? TRACE_MAX : l->stores[found[i]].trace) == wanted)
            return found[i];
    }
    return found[0];
}

static void
write_script(const struct trace_event *trace, uint32_t count, const bool *runs)
{
    static uint32_t index[TRACE_MAX + 1];

    script.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        index[i] = runs[i] ? script.count : TRACE_MAX;
        if (runs[i])
            script.events[script.count++] = trace[i];
    }
    index[TRACE_MAX] = TRACE_MAX;
    for (uint32_t i = 0; i < script.count; i++) {
        script.events[i].from = index[script.events[i].from];
        script.events[i].before = index[script.events[i].before];
    }
}

void
sim_script_begin(const struct trace_event *trace, uint32_t count,
                 const bool *runs, uint32_t last)
{
    write_script(trace, count, runs);
    script.last = last;
    sim_script_runs = true;
}

void
sim_script_end(void)
{
    sim_script_runs = false;
}
