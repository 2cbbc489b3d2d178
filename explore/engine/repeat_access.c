/* repeat_access.c -- logs the accesses of the first of two runs, and compares
 * those of the second with them (repeat.c). */
#include "explore/engine/engine.h"
#include "explore/engine/repeat.h"

void
sim_repeat_access(struct engine *e, uintptr_t site, uint64_t what)
{
    const struct logged_access found = {site, what};

    if (!e->repeat->comparing) {
        if (e->repeat->count < SIM_REPEAT_LOG_MAX)
            e->repeat->list[e->repeat->count++] = found;
        return;
    }
    if (e->repeat->at == e->repeat->count && e->repeat->cut)
        sim_engine_stop(e, SIM_END_PRUNED);
    if (e->repeat->at < e->repeat->count &&
        e->repeat->list[e->repeat->at].site == site &&
        e->repeat->list[e->repeat->at].what == what) {
        e->repeat->at++;
        return;
    }
    e->repeat->differs = true;
    e->repeat->found = found;
    sim_engine_stop(e, SIM_END_PRUNED);
}
