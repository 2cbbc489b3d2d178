/*
 * generate_subject.c -- worlds for a subject: threads that allocate, resize and
 * free, a collector if the subject supports one, and an observer that reads.
 * Features that the subject lacks are not among the answers. Every answer 0 is
 * dull.
 */
#include <string.h>

#include "sim/generate/choice_labels.h"
#include "sim/instruments/instrument_subject.h"

enum subject_work {
    DO_NOTHING,
    DO_ALLOC,
    DO_FREE,
    DO_READ,
    DO_DROP,
    DO_COLLECT,
    DO_REALLOC,
    DO_FAIL,
    DO_RATE,
    DO_EXIT,
    DO_FORK,
    DO_PART,
    DO_CONTEND,
    DO_READ_WAITS,
    DO_WAIT_RATE,
};

static void
add(struct sim_generator *g, enum subject_work work, uint32_t weight, bool has)
{
    for (uint32_t i = 0; has && i < weight; i++)
        g->works[g->works_count++] = (uint8_t)work;
}

static bool
draw_feature(struct sim_generator *g, uint32_t one_in)
{
    return ask(g, one_in, SIM_SWARM, LABEL_FEATURE) == 1;
}

static void
list_waits(struct sim_generator *g)
{
    const struct subject *subject = g->subject;

    if (subject->wait == NULL || !draw_feature(g, 2))
        return;
    add(g, DO_CONTEND, 3, true);
    add(g, DO_READ_WAITS, 1, true);
    add(g, DO_WAIT_RATE, 1,
        subject->set_wait_rate != NULL &&
            (subject->can & (SUBJECT_OFF | SUBJECT_WAITS_SAMPLED)) != 0 &&
            draw_feature(g, 3));
}

static void
list_works(struct sim_generator *g)
{
    const struct subject *subject = g->subject;
    const bool sweeps = (subject->can & SUBJECT_SWEPT) != 0;
    const bool frees = (subject->can & SUBJECT_FREED_EXPLICITLY) != 0;
    const bool samples = (subject->can & SUBJECT_SAMPLING) != 0;

    g->works_count = 0;
    add(g, DO_NOTHING, 1, true);
    add(g, DO_ALLOC, 5, true);
    add(g, DO_FREE, 3, frees);
    add(g, DO_READ, 2, true);
    add(g, DO_DROP, 2, sweeps);
    add(g, DO_COLLECT, 4, sweeps);
    add(g, DO_REALLOC, 3, subject->realloc != NULL && draw_feature(g, 2));
    add(g, DO_FAIL, 1, draw_feature(g, 4));
    add(g, DO_RATE, 1,
        subject->set_rate != NULL && (samples || subject->can & SUBJECT_OFF) &&
            draw_feature(g, 3));
    add(g, DO_EXIT, 1, draw_feature(g, 3));
    add(g, DO_FORK, 1,
        (subject->fork != NULL || (subject->can & SUBJECT_FORKS) != 0) &&
            draw_feature(g, 4));
    add(g, DO_PART, 4, subject->read_begin != NULL && draw_feature(g, 2));
    list_waits(g);
    g->features.sampling = samples && draw_feature(g, 3);
    g->features.odd_sizes = draw_feature(g, 3);
    g->features.huge_sizes = draw_feature(g, 8);
    g->features.alignments = draw_feature(g, 3);
    g->features.sizes =
        (enum sim_sizes)ask(g, SIM_SIZES_ONE + 1, SIM_SWARM, LABEL_SIZES);
    g->features.lifetimes =
        (enum sim_lifetimes)ask(g, SIM_DIE_ANY + 1, SIM_SWARM, LABEL_LIFETIMES);
}

void
sim_generator_begin_subject(struct sim_generator *g)
{
    static const uint32_t lengths[] = {16, 64, 192};
    struct sim_config *c = &g->config;

    memset(&g->features, 0, sizeof g->features);
    memset(&g->faults, 0, sizeof g->faults);
    c->subject = g->subject;
    c->instruments = SIM_INSTRUMENT_BIT(SIM_SUBJECT);
    c->buckets_max = SIM_BUCKETS_MAX;
    c->depth_max = 32;
    c->procs = 1 + ask(g, 4, SIM_SWARM, LABEL_PROCS);
    c->seed = ask(g, 65536, SIM_SWARM, LABEL_SEED);
    c->stacks_count = 1 + ask(g, 4, SIM_SWARM, LABEL_STACKS);
    for (uint32_t i = 0; i < c->stacks_count; i++)
        sim_draw_stack(g, i);
    c->stacks = g->stacks;
    list_works(g);
    g->more_bound = lengths[ask(g, sizeof lengths / sizeof *lengths, SIM_SWARM,
                                LABEL_LENGTH)];
}

/* ---- One event ---- */

/* Draw one of a few alignments; the size may be a multiple of it or not. */
static void
draw_block(struct sim_generator *g, struct sim_event *event)
{
    static const int64_t alignments[] = {0, 64, 4096, 16, 1 << 20};

    if (!g->features.alignments)
        return;
    event->cycles = alignments[ask(g, sizeof alignments / sizeof *alignments,
                                   SIM_DATA, LABEL_ALIGN)];
    event->room = ask(g, 2, SIM_DATA, LABEL_ZEROED);
}

static bool
draw_realloc(struct sim_generator *g, const struct sim_world *world,
             struct sim_event *event)
{
    static const enum sim_event_kind kinds[] = {SIM_EV_REALLOC, SIM_EV_REALLOC,
                                                SIM_EV_REALLOC_IN_PLACE,
                                                SIM_EV_REALLOC_FAILS};

    if (!sim_draw_work(g, world, WORK_DROP, event))
        return false; /* no object lives */
    event->kind =
        kinds[ask(g, sizeof kinds / sizeof *kinds, SIM_OP, LABEL_SUBJECT_WORK)];
    event->stack = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    event->size_bytes = UINT64_C(1) << ask(g, g->features.huge_sizes ? 62 : 20,
                                           SIM_DATA, LABEL_SIZE);
    return true;
}

static bool
draw_rate(struct sim_generator *g, struct sim_event *event)
{
    static const int64_t rates[] = {1, 16, 512, 65536, 0};
    const bool samples = (g->subject->can & SUBJECT_SAMPLING) != 0;
    const bool stops = (g->subject->can & SUBJECT_OFF) != 0;

    event->kind = SIM_EV_HEAP_RATE;
    if (samples)
        event->cycles =
            rates[ask(g, 4 + (uint32_t)stops, SIM_DATA, LABEL_RATE)];
    else
        event->cycles = 1 - (int64_t)ask(g, 2, SIM_DATA, LABEL_RATE);
    return true;
}

/* Read the block waits or the mutex waits, whichever the subject has. */
static bool
draw_is_mutex(struct sim_generator *g)
{
    if ((g->subject->can & SUBJECT_BLOCK) == 0)
        return true;
    return (g->subject->can & SUBJECT_MUTEX) != 0 &&
           ask(g, 2, SIM_OP, LABEL_RATE_KIND) == 1;
}

static bool
draw_wait_rate(struct sim_generator *g, struct sim_event *event)
{
    static const int64_t rates[] = {1, 0, 2, 100};
    const bool samples = (g->subject->can & SUBJECT_WAITS_SAMPLED) != 0;
    const bool stops = (g->subject->can & SUBJECT_OFF) != 0;

    event->kind = draw_is_mutex(g) ? SIM_EV_MUTEX_FRACTION : SIM_EV_BLOCK_RATE;
    event->cycles = rates[ask(g, samples ? 4 : 2, SIM_DATA, LABEL_RATE)];
    return stops || event->cycles != 0;
}

static bool
draw_contended(struct sim_generator *g, struct sim_event *event)
{
    event->kind = SIM_EV_CONTENDED;
    event->object = ask(g, g->config.procs, SIM_DATA, LABEL_TASK);
    event->stack = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    event->lock = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    event->cycles = INT64_C(1) << ask(g, 20, SIM_DATA, LABEL_CYCLES);
    return true;
}

/* Begin a reading in parts, or continue it by one record, or to its end. */
static bool
draw_part(struct sim_generator *g, const struct sim_world *world,
          struct sim_event *event)
{
    event->kind = !sim_subject_is_read(world) ? SIM_EV_PART_FIRST
                  : ask(g, 4, SIM_OP, LABEL_SUBJECT_WORK) == 1
                      ? SIM_EV_PART_LAST
                      : SIM_EV_PART_NEXT;
    return true;
}

static bool
draw_snapshot(const struct sim_generator *g, const struct sim_world *world,
              struct sim_event *event)
{
    event->kind = SIM_EV_SNAPSHOT;
    event->room = SIM_ROOM_ENOUGH;
    return g->subject->read_begin == NULL || !sim_subject_is_read(world);
}

static bool
draw_fork(struct sim_generator *g, struct sim_event *event)
{
    event->kind = SIM_EV_FORK_PARENT;
    if ((g->subject->can & SUBJECT_FORKS) == 0 &&
        ask(g, 2, SIM_OP, LABEL_SUBJECT_WORK) == 0)
        event->kind = SIM_EV_FORK;
    return true;
}

static bool
draw_work(struct sim_generator *g, const struct sim_world *world,
          enum subject_work work, struct sim_event *event)
{
    switch (work) {
    case DO_ALLOC:
    case DO_FAIL:
        if (!sim_draw_work(g, world, WORK_ALLOC, event))
            return false;
        if (g->features.huge_sizes && ask(g, 4, SIM_DATA, LABEL_SIZE) == 1)
            event->size_bytes = UINT64_C(1) << 60;
        if (work == DO_FAIL)
            event->kind = SIM_EV_ALLOC_FAILS;
        draw_block(g, event);
        return true;
    case DO_FREE:
        if (!sim_draw_work(g, world, WORK_DROP, event))
            return false;
        event->kind = SIM_EV_FREE;
        return true;
    case DO_DROP:
        return sim_draw_work(g, world, WORK_DROP, event);
    case DO_COLLECT:
        return sim_draw_collection(g, world, event);
    case DO_REALLOC:
        return draw_realloc(g, world, event);
    case DO_RATE:
        return draw_rate(g, event);
    case DO_EXIT:
        event->kind = SIM_EV_THREAD_EXIT;
        return true;
    case DO_FORK:
        return draw_fork(g, event);
    case DO_READ:
        return draw_snapshot(g, world, event);
    case DO_PART:
        return draw_part(g, world, event);
    case DO_CONTEND:
        return draw_contended(g, event);
    case DO_READ_WAITS:
        event->kind =
            draw_is_mutex(g) ? SIM_EV_MUTEX_SNAPSHOT : SIM_EV_BLOCK_SNAPSHOT;
        event->room = SIM_ROOM_ENOUGH;
        return true;
    case DO_WAIT_RATE:
        return draw_wait_rate(g, event);
    case DO_NOTHING:
        break;
    }
    return false;
}

bool
sim_generator_next_for_subject(struct sim_generator *g,
                               const struct sim_world *world,
                               struct sim_event *event)
{
    if (g->events == 0 && g->features.sampling) {
        memset(event, 0, sizeof *event);
        g->events++;
        event->kind = SIM_EV_HEAP_RATE;
        event->cycles = INT64_C(16) << ask(g, 12, SIM_SWARM, LABEL_RATE);
        return true;
    }
    while (g->events < SIM_EVENTS_MAX &&
           ask(g, g->more_bound, SIM_FLOW, LABEL_MORE) != 0) {
        enum subject_work work;

        sim_choices_refresh(g->choices);
        memset(event, 0, sizeof *event);
        work = (enum subject_work)
                   g->works[ask(g, g->works_count, SIM_OP, LABEL_WORK)];
        event->task = ask(g, g->config.procs, SIM_DATA, LABEL_TASK);
        if (draw_work(g, world, work, event)) {
            g->events++;
            return true;
        }
    }
    return false;
}
