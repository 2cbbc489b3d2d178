/*
 * subject_judge.c -- see subject_judge.h. At the end of a run, and in the child
 * of a real fork, the judge reads the subject while nothing else happens, frees
 * everything, and reads it again.
 */
#include "props/judge/subject_judge.h"

#include "sim/instruments/instrument_subject.h"
#include "props/judge/subject_parts.h"

bool
subject_judge_init(struct subject_judge *judge, uint32_t objects_max)
{
    return subject_model_init(&judge->model, objects_max) &&
           subject_model_init(&judge->reading.then, objects_max);
}

void
subject_judge_release(struct subject_judge *judge)
{
    subject_model_release(&judge->model);
    subject_model_release(&judge->reading.then);
}

void
subject_judge_begin(struct subject_judge *judge)
{
    judge->model.world = judge->judge->world;
    subject_model_begin(&judge->model);
    judge->reading.is_open = false;
    judge->truths_seen = 0;
    judge->at_rest = judge->model.subject->cycle == NULL;
    judge->when = "";
    judge->hash = 0;
    judge->judge->events = 0;
}

/* ---- Events ---- */

static void judge_child(struct subject_judge *judge);

void
subject_judge_event(struct subject_judge *judge)
{
    const struct truth_log *truth = sim_world_truth(judge->judge->world);

    for (; judge->truths_seen < truth->entries_count; judge->truths_seen++) {
        const struct truth_entry *fact = &truth->entries[judge->truths_seen];

        if (fact->kind == TRUTH_HEAP_RATE && judge->model.was_reported &&
            !sim_subject_is_read(judge->judge->world))
            subject_judge_same(judge, PROPS_G1, "before a change of rate");
        if (fact->kind == TRUTH_FORK &&
            (judge->model.subject->can & SUBJECT_FORKS) != 0) {
            subject_fork(judge, fact, judge_child);
            continue;
        }
        subject_model_learn(&judge->model, fact);
        if (fact->kind == TRUTH_SNAPSHOT)
            subject_judge_snapshot(judge);
        subject_reading_fact(judge, judge->truths_seen);
        if (fact->kind == TRUTH_BLOCK_SNAPSHOT ||
            fact->kind == TRUTH_MUTEX_SNAPSHOT)
            subject_waits_judge(judge, fact->kind == TRUTH_MUTEX_SNAPSHOT);
    }
    if (judge->when[0] == '\0')
        judge->judge->events++;
}

/* ---- The end ---- */

static void
step(struct subject_judge *judge, enum sim_event_kind kind, uint32_t object)
{
    const struct sim_event event = {
        .kind = kind, .object = object, .room = SIM_ROOM_ENOUGH};
    const char *why = sim_world_apply(judge->judge->world, &event);

    if (why != NULL)
        subject_breach(judge, PROPS_D1, "the end is stuck at %s: %s",
                       sim_event_word(kind), why);
    subject_judge_event(judge);
}

static void
collect(struct subject_judge *judge)
{
    struct sim_world *world = judge->judge->world;
    const struct sim_gc *gc = sim_world_gc(world);

    if (gc->marking)
        step(judge, SIM_EV_GC_TERMINATE, 0);
    if (gc->unflushed)
        step(judge, SIM_EV_GC_FLUSH, 0);
    while (gc->dead > 0)
        step(judge, SIM_EV_GC_SWEEP, sim_world_find(world, SIM_DEAD, 0));
}

/* Make three collections; what is read after them is all that is live. */
static void
come_to_rest(struct subject_judge *judge)
{
    if ((judge->model.subject->can & SUBJECT_SWEPT) == 0)
        return;
    for (int i = 0; i < 3; i++) {
        collect(judge);
        step(judge, SIM_EV_GC_MARK, 0);
    }
    collect(judge);
}

static void
read_at_rest(struct subject_judge *judge)
{
    come_to_rest(judge);
    judge->at_rest = true;
    step(judge, SIM_EV_SNAPSHOT, 0);
    if (judge->model.subject->read_begin != NULL &&
        judge->judge->breach.property == PROPS_NONE) {
        step(judge, SIM_EV_PART_FIRST, 0);
        step(judge, SIM_EV_PART_LAST, 0);
    }
    judge->at_rest = judge->model.subject->cycle == NULL;
    if (judge->model.subject->wait == NULL)
        return;
    if ((judge->model.subject->can & SUBJECT_BLOCK) != 0)
        step(judge, SIM_EV_BLOCK_SNAPSHOT, 0);
    if ((judge->model.subject->can & SUBJECT_MUTEX) != 0)
        step(judge, SIM_EV_MUTEX_SNAPSHOT, 0);
}

/* Read the subject, free everything, and read it again. */
static void
judge_rest(struct subject_judge *judge, const char *first, const char *second)
{
    struct sim_world *world = judge->judge->world;
    const bool frees =
        (judge->model.subject->can & SUBJECT_FREED_EXPLICITLY) != 0;
    const bool sweeps = (judge->model.subject->can & SUBJECT_SWEPT) != 0;
    const struct truth_log *truth = sim_world_truth(world);
    const uint32_t facts = truth->entries_count;

    judge->judge->events -= judge->judge->events > 0; /* in the last event */
    judge->when = first;
    if (judge->model.subject->read_begin != NULL && sim_subject_is_read(world))
        step(judge, SIM_EV_PART_LAST, 0);
    read_at_rest(judge);
    judge->when = second;
    /* Free in the order of allocation, as object numbers change when a failure
     * is saved. */
    for (uint32_t i = 0; i < facts; i++) {
        const struct truth_entry *fact = &truth->entries[i];

        if (judge->judge->breach.property == PROPS_NONE && (frees || sweeps) &&
            fact->kind == TRUTH_ALLOC &&
            sim_world_object(world, fact->object)->state == SIM_LIVE)
            step(judge, sweeps ? SIM_EV_DROP : SIM_EV_FREE, fact->object);
    }
    if (judge->judge->breach.property == PROPS_NONE && (frees || sweeps))
        read_at_rest(judge);
}

static void
judge_child(struct subject_judge *judge)
{
    judge_rest(judge, "in the child: ", "in the child, when all is freed: ");
}

void
subject_judge_end(struct subject_judge *judge)
{
    judge_rest(judge, "at the end: ", "at the end, when all is freed: ");
    sim_subject_end(judge->judge->world);
}
