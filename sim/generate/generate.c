/*
 * generate.c -- the swarm generator of generate.h.
 *
 * The actors in the event queue are the processors (each acts for its tasks),
 * the collector and the observer. At each step one actor does one thing or
 * nothing, then waits for a random delay. Answer 0 is always dull: no time
 * passes, and the first actor does nothing. fault.h says what can go wrong.
 */
#include "sim/generate/generate.h"

#include <string.h>

#include "sim/generate/choice_labels.h"

enum { TASKS_PER_PROC = 2 };

const struct sim_limits sim_generator_limits = {
    .events_max = SIM_EVENTS_MAX,
    .objects_max = SIM_EVENTS_MAX,
    .buckets_max = SIM_BUCKETS_MAX,
    .frames_max = 16 * SIM_BUCKETS_MAX,
};

const struct sim_limits sim_generator_limits_all = {
    .events_max = SIM_EVENTS_MAX,
    .objects_max = SIM_EVENTS_MAX,
    .buckets_max = SIM_BUCKETS_MAX,
    .frames_max = 16 * SIM_BUCKETS_MAX,
    .instruments = SIM_ALL_INSTRUMENTS,
};

const struct sim_limits sim_generator_limits_subject = {
    .events_max = SIM_EVENTS_MAX,
    .objects_max = SIM_EVENTS_MAX,
    .buckets_max = SIM_BUCKETS_MAX,
    .frames_max = 16 * SIM_BUCKETS_MAX,
    .instruments = SIM_INSTRUMENT_BIT(SIM_SUBJECT),
};

/* ---- the swarm ---- */

static void
draw_heaps(struct sim_generator *g)
{
    struct sim_config *c = &g->config;

    sim_faults_draw(&g->faults, g->choices, 'h');
    sim_draw_library(g);
    c->procs = 1 + ask(g, 4, SIM_SWARM, LABEL_PROCS);
    sim_draw_limits(g);
    sim_draw_clocks(g);
    c->stacks_count = 1 + ask(g, SIM_STACKS_MAX, SIM_SWARM, LABEL_STACKS);
    for (uint32_t i = 0; i < c->stacks_count; i++)
        sim_draw_stack(g, i);
    c->stacks = g->stacks;
}

/* Draw the kind of world, among those requested. */
static uint32_t
draw_world(struct sim_generator *g, uint32_t worlds)
{
    uint32_t kinds[3];
    uint32_t count = 0;

    for (uint32_t kind = SIM_WORLDS_HEAPS; kind <= SIM_WORLDS_BOTH; kind *= 2) {
        if ((worlds & kind) != 0)
            kinds[count++] = kind;
    }
    return kinds[ask(g, count, SIM_SWARM, LABEL_WORLD)];
}

void
sim_generator_begin(struct sim_generator *g, struct sim_choices *choices,
                    const struct prof_rules *rules, uint32_t worlds)
{
    /* Chosen so that most runs of known-bad rules fail in a second of
     * search. */
    static const uint32_t lengths[] = {32, 128, 256};
    uint32_t actors;
    uint32_t world;

    g->choices = choices;
    g->now_ticks = 0;
    g->applied_ticks = 0;
    memset(g->stalled_ticks, 0, sizeof g->stalled_ticks);
    g->stalls_end_ticks = 0;
    g->events = 0;
    memset(&g->config, 0, sizeof g->config);
    g->config.rules = rules;
    if (worlds == SIM_WORLDS_SUBJECT) {
        sim_generator_begin_subject(g);
        return;
    }
    world = draw_world(g, worlds);
    if (world != SIM_WORLDS_HEAPS) {
        sim_generator_begin_tasks(g, world == SIM_WORLDS_BOTH);
        return;
    }
    draw_heaps(g);
    actors = g->config.procs + 2;
    sim_draw_features(g);
    g->more_bound = lengths[ask(g, sizeof lengths / sizeof *lengths, SIM_SWARM,
                                LABEL_LENGTH)];
    sim_list_works(g);
    sim_queue_init(&g->queue, g->queue_words, actors);
    for (uint32_t i = 0; i < actors; i++)
        sim_queue_set(&g->queue, i, 0);
}

/* ---- the actors ---- */

/* Draw one step of a task. returns: false if it does nothing */
static bool
draw_step(struct sim_generator *g, const struct sim_world *world, uint32_t proc,
          struct sim_event *event)
{
    const uint32_t task = ask(g, TASKS_PER_PROC, SIM_DATA, LABEL_TASK);
    enum sim_work work;

    event->task = proc + g->config.procs * task;
    if (sim_draw_hold(g, world, event))
        return true;
    work = (enum sim_work)g->works[ask(g, g->works_count, SIM_OP, LABEL_WORK)];
    if (g->features.locks && sim_world_task_waits(world, event->task)) {
        /* Then the processor's other task acts, if it can. */
        event->task = proc + g->config.procs * (TASKS_PER_PROC - 1 - task);
        if (sim_world_task_waits(world, event->task))
            return false;
    }
    return sim_draw_work(g, world, work, event);
}

/* One step of the actor that is due; false if it does nothing. */
static bool
take_step(struct sim_generator *g, const struct sim_world *world,
          struct sim_event *event)
{
    static const uint64_t delays[] = {0, 1, 7, 100};
    const uint32_t procs = g->config.procs;
    uint64_t delay_ticks;
    uint32_t who;
    bool acts;

    sim_choices_refresh(g->choices);
    who = sim_queue_first(&g->queue, g->choices, LABEL_TIE);
    g->now_ticks = sim_queue_first_ticks(&g->queue);
    memset(event, 0, sizeof *event);
    if (who < procs)
        acts = draw_step(g, world, who, event);
    else if (who == procs)
        acts = sim_draw_collection(g, world, event);
    else
        acts = sim_draw_reading(g, event);
    delay_ticks =
        delays[ask(g, sizeof delays / sizeof *delays, SIM_CLOCK, LABEL_DELAY)];
    if (acts && event->kind == SIM_EV_STALL)
        delay_ticks += (uint64_t)event->cycles;
    sim_queue_set(&g->queue, who, g->now_ticks + delay_ticks);
    return acts && (g->stalls_end_ticks <= g->now_ticks ||
                    event->kind == SIM_EV_STALL || sim_find_awake(g, event));
}

bool
sim_generator_next(struct sim_generator *g, const struct sim_world *world,
                   struct sim_event *event)
{
    if (g->config.scheduled)
        return sim_generator_next_task(g, world, event);
    if (g->config.subject != NULL)
        return sim_generator_next_for_subject(g, world, event);
    while (g->events < SIM_EVENTS_MAX &&
           ask(g, g->more_bound, SIM_FLOW, LABEL_MORE) != 0) {
        if (take_step(g, world, event)) {
            event->delay_ticks = g->now_ticks - g->applied_ticks;
            g->applied_ticks = g->now_ticks;
            g->events++;
            return true;
        }
    }
    return false;
}
