/*
 * blocks.c -- the events that only a subject (subjects/subject.h) watches:
 * blocks resized in place or moved, threads, forks.
 */
#include "subjects/subject.h"
#include "sim/world/world_internal.h"

/* returns: NULL, or why such an event cannot be passed to the subject */
static const char *
lacks(const struct subject *subject, enum sim_event_kind kind)
{
    switch ((int)kind) {
    case SIM_EV_REALLOC:
    case SIM_EV_REALLOC_IN_PLACE:
    case SIM_EV_REALLOC_FAILS:
        return subject->realloc != NULL ? NULL : "the subject lacks realloc()";
    case SIM_EV_FREE:
        return (subject->can & SUBJECT_FREED_EXPLICITLY) != 0
                   ? NULL
                   : "the subject lacks explicit frees";
    case SIM_EV_GC_MARK:
        return (subject->can & SUBJECT_SWEPT) != 0
                   ? NULL
                   : "the subject knows of no collector";
    case SIM_EV_FORK:
    case SIM_EV_FORK_PARENT:
        if ((subject->can & SUBJECT_FORKS) != 0)
            return kind == SIM_EV_FORK_PARENT
                       ? NULL
                       : "the child of a real fork is judged at fork-parent";
        return subject->fork != NULL ? NULL : "the subject lacks fork()";
    case SIM_EV_CONTENDED:
    case SIM_EV_BLOCK_SNAPSHOT:
    case SIM_EV_MUTEX_SNAPSHOT:
        return subject->wait != NULL ? NULL : "the subject lacks wait()";
    case SIM_EV_PART_FIRST:
        return subject->read_begin != NULL ? NULL
                                           : "the subject is not read in parts";
    default:
        return NULL;
    }
}

static const char *
apply_realloc(struct sim_world *world, const struct sim_event *event)
{
    struct sim_object *object = world->objects;

    if (event->object >= world->objects_count ||
        object[event->object].state != SIM_LIVE)
        return "the object is not live";
    object += event->object;
    if (event->stack >= world->config.stacks_count)
        return "there is no such stack";
    if (event->kind == SIM_EV_REALLOC_FAILS) {
        sim_world_log(world, TRUTH_REALLOC_FAILED, event, event->object, false);
        return NULL;
    }
    world->heap_bytes += event->size_bytes - object->size_bytes;
    object->size_bytes = event->size_bytes;
    sim_world_log(world, TRUTH_REALLOC, event, event->object,
                  event->kind == SIM_EV_REALLOC_IN_PLACE);
    return NULL;
}

/* May the rate be set now? As the first event it sets the initial rate. */
static const char *
against_rate(const struct sim_world *world, int64_t rate_bytes)
{
    const struct subject *subject = world->config.subject;
    const struct truth_log *truth = &world->truth;

    if (rate_bytes < 0)
        return "a subject's rate is 0 or more";
    if (rate_bytes == 0 && (subject->can & SUBJECT_OFF) == 0)
        return "the subject cannot be switched off";
    if (rate_bytes > 1 && (subject->can & SUBJECT_SAMPLING) == 0)
        return "the subject does not sample";
    for (uint32_t i = 0; i < truth->entries_count; i++) {
        if (truth->entries[i].kind != TRUTH_HEAP_RATE)
            return subject->set_rate != NULL
                       ? NULL
                       : "the subject's rate cannot change";
    }
    return NULL;
}

static const char *
against_wait_rate(const struct subject *subject, int64_t rate)
{
    if (subject->set_wait_rate == NULL)
        return "the subject's rates of waits cannot change";
    if (rate < 0)
        return "a subject's rate is 0 or more";
    if (rate == 0 && (subject->can & SUBJECT_OFF) == 0)
        return "the subject cannot be switched off";
    if (rate > 1 && (subject->can & SUBJECT_WAITS_SAMPLED) == 0)
        return "the subject does not sample waits";
    return NULL;
}

const char *
sim_world_against_subject(const struct sim_world *world,
                          const struct sim_event *event)
{
    const struct subject *subject = world->config.subject;

    if (subject == NULL)
        return "there is no subject to be told of it";
    if (event->kind == SIM_EV_HEAP_RATE)
        return against_rate(world, event->cycles);
    if (event->kind == SIM_EV_BLOCK_RATE ||
        event->kind == SIM_EV_MUTEX_FRACTION)
        return against_wait_rate(subject, event->cycles);
    return lacks(subject, event->kind);
}

static const char *
apply_contended(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    if (event->stack >= world->config.stacks_count ||
        event->lock >= world->config.stacks_count)
        return "there is no such stack";
    if (event->cycles < 1)
        return "a wait takes 1 tick or more";
    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = TRUTH_CONTENDED,
                        .proc = proc,
                        .object = event->object % world->config.procs,
                        .stack = event->stack,
                        .lock = event->lock,
                        .cycles = event->cycles,
                        .task = event->task,
                    });
    return NULL;
}

const char *
sim_world_apply_block(struct sim_world *world, const struct sim_event *event)
{
    const char *why = sim_world_against_subject(world, event);

    if (why != NULL)
        return why;
    switch ((int)event->kind) {
    case SIM_EV_ALLOC_FAILS:
        if (event->stack >= world->config.stacks_count)
            return "there is no such stack";
        sim_world_log(world, TRUTH_ALLOC_FAILED, event, 0, false);
        return NULL;
    case SIM_EV_THREAD_EXIT:
        sim_world_log(world, TRUTH_THREAD_EXIT, event, 0, false);
        return NULL;
    case SIM_EV_CONTENDED:
        return apply_contended(world, event);
    case SIM_EV_PART_FIRST:
        sim_world_log(world, TRUTH_PART_FIRST, event, 0, false);
        return NULL;
    case SIM_EV_PART_NEXT:
        sim_world_log(world, TRUTH_PART_NEXT, event, 0, false);
        return NULL;
    case SIM_EV_PART_LAST:
        sim_world_log(world, TRUTH_PART_LAST, event, 0, false);
        return NULL;
    case SIM_EV_FORK:
    case SIM_EV_FORK_PARENT:
        sim_world_log(world, TRUTH_FORK, event, 0, event->kind == SIM_EV_FORK);
        return NULL;
    default:
        return apply_realloc(world, event);
    }
}
