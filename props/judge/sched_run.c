/* sched_run.c -- one judged run of a traced world. */
#include "sched_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t
trail_bytes(uint32_t events_max)
{
    return sizeof(struct sched_trail) +
           events_max * sizeof(struct sim_sched_event);
}

struct sched_run *
sched_run_new(uint32_t events_max)
{
    struct sched_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->events_max = events_max;
    run->world = sim_sched_world_new();
    run->trail = mmap(NULL, trail_bytes(events_max), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run->trail == MAP_FAILED)
        run->trail = NULL;
    run->judge.world = run->world;
    run->judge.marks = &run->marks;
    if (run->world == NULL || run->trail == NULL ||
        !trace_judge_init(&run->judge)) {
        run->judge.life = NULL;
        sched_run_delete(run);
        return NULL;
    }
    return run;
}

void
sched_run_delete(struct sched_run *run)
{
    if (run == NULL)
        return;
    if (run->judge.life != NULL)
        trace_judge_release(&run->judge);
    sim_sched_world_delete(run->world);
    if (run->trail != NULL)
        munmap(run->trail, trail_bytes(run->events_max));
    free(run);
}

static const char *
begin(struct sched_run *run, const struct sim_sched_config *config,
      props_set asked)
{
    run->trail->count = 0;
    run->trail->attempting = 0;
    run->judge.asked = asked;
    run->judge.breach = (struct props_breach){.property = PROPS_NONE};
    run->hash = 0;
    return sim_sched_world_reset(run->world, config);
}

static const char *
apply(struct sched_run *run, const struct sim_sched_event *event)
{
    const char *why;

    if (run->trail->count == run->events_max)
        return "too many events";
    run->trail->events[run->trail->count] = *event;
    run->trail->attempting = 1;
    why = sim_sched_world_apply(run->world, event);
    run->trail->attempting = 0;
    run->trail->count += why == NULL;
    return why;
}

static bool
end(struct sched_run *run)
{
    bool holds;

    trace_judge_quiet(run->world, run->judge.pending,
                      sizeof run->judge.pending);
    holds = trace_judge_run(&run->judge);
    run->hash = run->judge.hash;
    return holds;
}

bool
sched_run_choices(struct sched_run *run, struct sim_choices *choices,
                  props_set asked)
{
    struct sim_sched_event event;

    sim_sched_generator_begin(&run->generator, choices);
    if (begin(run, &run->generator.config, asked) != NULL)
        abort(); /* the generator draws only worlds that can be */
    /* A run ends by itself, unless a trace cannot be read to its end. */
    while (run->trail->count < run->events_max &&
           sim_sched_generator_next(&run->generator, run->world, &event)) {
        if (apply(run, &event) != NULL)
            abort(); /* and only events that can happen */
    }
    return end(run);
}

bool
sched_run_events(struct sched_run *run, const struct sim_sched_config *config,
                 const struct sim_sched_event *events, uint32_t count,
                 props_set asked, const char **refused)
{
    *refused = begin(run, config, asked);
    for (uint32_t i = 0; i < count && *refused == NULL; i++)
        *refused = apply(run, &events[i]);
    return *refused != NULL || end(run);
}
