/*
 * repeat.c -- checks that a run is a function of its choices.
 *
 * The first list, and one in a hundred, is run twice, and the accesses of both
 * runs are compared. They differ if the kernel depends on the time, a random
 * number or an address, or if its setup does not reset everything. Such a
 * kernel is refused, with the first access that differs, and none of its
 * results count.
 */
#include "explore/engine/engine.h"
#include "explore/engine/repeat.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

/* Decide whether this run is run twice. */
void
sim_repeat_begin(struct engine *e, uint64_t run)
{
    if (e->repeat == NULL)
        e->repeat = sim_need(calloc(1, sizeof *e->repeat));
    e->logged = run == 0 || sim_mix64(run) % 100 == 0;
    e->repeat->count = 0;
    e->repeat->comparing = false;
    e->repeat->differs = false;
}

static enum sim_end
run_again(struct engine *e, const struct sim_choices *choices)
{
    struct sim_visited *visited = e->visited;
    struct sim_choices again;
    struct sim_run run;

    for (uint32_t i = 0; i < choices->count; i++)
        e->repeat->values[i] = choices->list[i].value;
    sim_choices_init(&again, e->repeat->choice_list, SIM_REPEAT_CHOICES_MAX);
    sim_choices_replay(&again, e->repeat->values, choices->count);
    e->repeat->comparing = true;
    e->repeat->at = 0;
    e->visited = NULL;
    sim_engine_run(e, &again, &run);
    e->visited = visited;
    return run.end;
}

/* Check that neither run has more accesses than the other. */
static void
explain_end(const struct sim_run *first, char *difference, size_t bytes)
{
    snprintf(difference, bytes, "the run %s, and %s when it is repeated",
             first->end == SIM_END_FAILED ? "fails" : "passes",
             first->end == SIM_END_FAILED ? "passes" : "fails");
}

static void
explain(struct engine *e, char *difference, size_t bytes)
{
    const bool more = e->repeat->at == e->repeat->count;
    const struct logged_access *access =
        more ? &e->repeat->found : &e->repeat->list[e->repeat->at];
    const char *how = more                  ? "comes in addition"
                      : !e->repeat->differs ? "is missing"
                      : access->site == e->repeat->found.site
                          ? "has another value or place"
                          : "is another one";

    snprintf(difference, bytes,
             "access %u, at %s, %s when the same run is repeated",
             (unsigned)e->repeat->at + 1, sim_site_text(access->site), how);
}

/*
 * After a run, make it a second time if that was decided at its beginning.
 *
 * out:     difference, a text, if there is one
 * returns: false if the second run differs
 */
bool
sim_repeat_check(struct engine *e, const struct sim_choices *choices,
                 const struct sim_run *first, char *difference, size_t bytes)
{
    enum sim_end end;

    if (!e->logged || e->state.detour ||
        e->repeat->count == SIM_REPEAT_LOG_MAX || choices->overflowed)
        return true;
    e->repeat->cut = e->state.cut;
    end = run_again(e, choices);
    e->logged = false;
    if (e->late)
        return true; /* the time was over in the middle of it */
    if (e->late)
        return true;
    if (e->repeat->differs || e->repeat->at != e->repeat->count) {
        explain(e, difference, bytes);
        return false;
    }
    if (e->repeat->cut ||
        (end == SIM_END_FAILED) == (first->end == SIM_END_FAILED))
        return true;
    explain_end(first, difference, bytes);
    return false;
}
