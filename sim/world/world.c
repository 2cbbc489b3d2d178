/*
 * world.c -- the world of world.h: its memory, its facts, and the rule of each
 * event.
 *
 *      event --> rule of the world --> fact --> truth log
 *                                        \----> instruments --> library
 *
 * Invariants
 *   I1  a refused event changes nothing.
 *   I2  the truth log gets an entry before the library gets the call.
 *   I3  in worlds whose trace is ordered by clock, there is one clock, and each
 *       fact reads a later time than all facts before it, on any processor.
 */
#include "sim/world/world.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world/world_internal.h"

/* ---- memory ---- */

uint32_t
sim_limits_truths(const struct sim_limits *limits)
{
    const uint32_t at_the_end = 32;
    uint32_t truths = 4 * limits->events_max + limits->objects_max + at_the_end;

    if (limits->unlogged)
        return 0;
    if ((limits->instruments & SIM_OF_TASKS) != 0)
        truths += limits->events_max + SIM_SCHEDULED_TRUTHS;
    return truths;
}

static bool
create_instruments(struct sim_world *world)
{
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        if ((world->limits.instruments >> i & 1) == 0)
            continue;
        world->instruments[i] = sim_instrument_kind((enum sim_instrument_id)i)
                                    ->create(&world->limits);
        if (world->instruments[i] == NULL)
            return false;
    }
    return true;
}

struct sim_world *
sim_world_new(const struct sim_limits *limits)
{
    const struct prof_config largest = {
        .buckets_max = limits->buckets_max,
        .frames_max = limits->frames_max,
        .procs_max = SIM_PROCS_MAX,
    };
    struct sim_world *world = calloc(1, sizeof *world);

    if (world == NULL)
        return NULL;
    world->limits = *limits;
    if (world->limits.instruments == 0)
        world->limits.instruments = SIM_PROFILES;
    world->block_bytes = prof_bytes_needed(&largest);
    world->truth.entries_max = sim_limits_truths(&world->limits);
    world->block = world->block_bytes == 0
                       ? NULL
                       : aligned_alloc(PROF_BLOCK_ALIGN, world->block_bytes);
    world->objects = calloc(limits->objects_max, sizeof *world->objects);
    world->truth.entries = calloc((size_t)world->truth.entries_max + 1,
                                  sizeof *world->truth.entries);
    if (world->block == NULL || world->objects == NULL ||
        world->truth.entries == NULL || !create_instruments(world)) {
        sim_world_delete(world);
        return NULL;
    }
    return world;
}

void
sim_world_delete(struct sim_world *world)
{
    if (world == NULL)
        return;
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        if (world->instruments[i] != NULL)
            world->instruments[i]->kind->destroy(world->instruments[i]);
    }
    free(world->block);
    free(world->objects);
    free(world->truth.entries);
    free(world);
}

/* ---- beginning ---- */

/* List the instruments that receive facts of each kind. */
static void
list_hearers(struct sim_world *world)
{
    const uint32_t reported = world->config.instruments & ~world->stopped;

    if (world->hearers_of == reported)
        return;
    world->hearers_of = reported;
    for (int kind = 0; kind < TRUTH_KIND_COUNT; kind++) {
        struct sim_hearer *hearer = world->hearers[kind];

        for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
            struct sim_instrument *instrument = world->instruments[i];

            hearer->instrument = instrument;
            hearer->hear = (reported >> i & 1) != 0
                               ? instrument->kind->hears((enum truth_kind)kind)
                               : NULL;
            hearer += hearer->hear != NULL;
        }
        hearer->hear = NULL;
    }
}

static const char *
reason_against(const struct sim_world *world, const struct sim_config *config)
{
    if (config->procs == 0 || config->procs > SIM_PROCS_MAX)
        return "the number of processors is out of range";
    if (config->instruments == 0)
        return "the run carries no instrument";
    if ((config->instruments & ~world->limits.instruments) != 0)
        return "the world has no room for an instrument";
    for (uint32_t p = 0; p < SIM_PROCS_MAX && config->trace.by_clock; p++) {
        if (config->clocks[p].offset_ticks != config->clocks[0].offset_ticks ||
            config->clocks[p].drift_ppm != 0)
            return "in the order of the clock, all processors have one";
    }
    return NULL;
}

/* Start the library's profiles, if an instrument calls them. */
static const char *
begin_library(struct sim_world *world)
{
    const struct sim_config *config = &world->config;
    const struct prof_config library = {
        .rules = &world->rules,
        .hash = config->hash,
        .buckets_max = config->buckets_max,
        .depth_max = config->depth_max,
        .frames_max = config->frames_max,
        .procs_max =
            config->scheduled ? (uint32_t)SIM_PROCS_MAX : config->procs,
        .cycle_first = config->cycle_first,
        .seed = config->seed,
    };
    const size_t bytes = prof_bytes_needed(&library);

    world->prof = NULL;
    if ((config->instruments & SIM_PROFILES) == 0)
        return NULL;
    if (bytes == 0)
        return prof_status_text(PROF_ERR_CONFIG);
    if (bytes > world->block_bytes ||
        config->buckets_max > world->limits.buckets_max)
        return "the configuration is larger than the world's limits";
    memset(world->block, 0, bytes);
    if (prof_init(&world->prof, &library, world->block, bytes) != PROF_OK)
        return "the library refused a block of the size it had asked for";
    prof_heap_rate_set(world->prof, 1);
    return NULL;
}

static void
begin_tasks(struct sim_world *world)
{
    memset(world->tasks, 0, sizeof world->tasks);
    memset(world->procs, 0, sizeof world->procs);
    world->tasks_count = 0;
    world->procs_count = world->config.procs;
    for (uint32_t i = 0; i < world->procs_count; i++)
        world->procs[i].exists = true;
    world->threads = 0;
    world->traces = false;
    world->unread = false;
    world->reader_stalls = false;
}

const char *
sim_world_reset(struct sim_world *world, const struct sim_config *config)
{
    const char *why = reason_against(world, config);

    if (why != NULL)
        return why;
    world->rules = config->rules != NULL ? *config->rules : prof_rules_exact;
    if (config->waiters_all)
        world->rules.waiters = PROF_WAITERS_ALL;
    memset(world->objects, 0, world->objects_count * sizeof *world->objects);
    world->config = *config;
    world->objects_count = 0;
    world->objects_gone = 0;
    world->heap_bytes = 0;
    world->truth.entries_count = 0;
    world->truth.lost = 0;
    world->truth.stacks = config->stacks;
    world->truth.stacks_count = config->stacks_count;
    world->gc = (struct sim_gc){0};
    if (world->locks_used || world->locks.units[1] == 0)
        sim_locks_reset(&world->locks);
    world->locks_used = false;
    world->answer.kind = SIM_EV_COUNT;
    world->now_ticks = 0;
    if (world->holds_used)
        memset(world->clock_faults, 0, sizeof world->clock_faults);
    world->holds_used = false;
    world->by_clock = config->scheduled && config->trace.by_clock;
    if (world->by_clock)
        world->now_ticks = SIM_READINGS_MAX;
    if (config->scheduled)
        begin_tasks(world);
    world->stopped = 0;
    list_hearers(world);
    why = begin_library(world);
    for (int i = 0; i < SIM_INSTRUMENT_COUNT && why == NULL; i++) {
        if (sim_world_carries(world, (enum sim_instrument_id)i))
            why = world->instruments[i]->kind->begin(world->instruments[i],
                                                     world);
    }
    return why;
}

/* ---- facts ---- */

/* ---- the events ---- */

/* Readings: the profile's instrument keeps what the library returned. */

const char *
sim_world_apply_snapshot(struct sim_world *world, const struct sim_event *event)
{
    sim_world_log(world, TRUTH_SNAPSHOT, event, 0,
                  event->kind == SIM_EV_SNAPSHOT_ALL);
    return NULL;
}

const char *
sim_world_apply_iterate(struct sim_world *world, const struct sim_event *event)
{
    if (world->limits.unlogged)
        return NULL; /* it changes nothing, and its result is not needed */
    sim_world_log(world, TRUTH_ITERATE, event, 0, false);
    return NULL;
}

const char *
sim_world_apply_waits(struct sim_world *world, const struct sim_event *event)
{
    if (world->limits.unlogged)
        return NULL; /* as above */
    sim_world_log(world,
                  event->kind == SIM_EV_BLOCK_SNAPSHOT ? TRUTH_BLOCK_SNAPSHOT
                                                       : TRUTH_MUTEX_SNAPSHOT,
                  event, 0, false);
    return NULL;
}

/* Does this world have such events? returns: as sim_world_apply() */
static const char *
against_kind(const struct sim_world *world, enum sim_event_kind kind)
{
    if (kind >= SIM_EV_COUNT)
        return "there is no such event";
    return kind >= SIM_EV_BLOCKS_FIRST || world->config.scheduled
               ? NULL
               : "no processor takes tasks here";
}

/* Apply the event's rule. */
static const char *
apply(struct sim_world *world, const struct sim_event *event)
{
    static sim_rule *const rules[SIM_EV_COUNT] = {
#define X(id, word, arguments, by, rule) [id] = sim_world_apply_##rule,
#include "sim/world/event.def"
#undef X
    };
    const char *why = NULL;

    if (event->kind >= SIM_EV_TASKS_FIRST)
        why = against_kind(world, event->kind);
    return why == NULL ? rules[event->kind](world, event) : why;
}

static bool
is_of_collector(enum sim_event_kind kind)
{
    return kind >= SIM_EV_GC_MARK && kind <= SIM_EV_GC_POST_SWEEP;
}

/* Where processors take tasks: the event's processor or task must exist. */
static const char *
somebody_missing(const struct sim_world *world, const struct sim_event *event)
{
    const uint64_t limit = UINT64_C(1) << 42;

    if (event->kind >= SIM_EV_COUNT)
        return "there is no such event";
    if (world->now_ticks >= limit ||
        event->delay_ticks >= limit - world->now_ticks)
        return "the world ends before that";
    if (event->stack != TRUTH_NO_STACK &&
        event->stack >= world->config.stacks_count)
        return "there is no such stack";
    if (sim_event_by(event->kind) != 't' && event->proc >= world->procs_count)
        return "there is no such processor";
    if (is_of_collector(event->kind) && !sim_world_runs(world, event->proc) &&
        !sim_world_is_free(world, event->proc))
        return "neither a task nor the scheduler runs on the processor";
    if (sim_event_by(event->kind) != 't')
        return NULL;
    if (event->task == 0 || event->task > world->tasks_count)
        return "there is no such task";
    return world->tasks[event->task].state == SIM_TASK_RUNNING
               ? NULL
               : "the task does not run";
}

static const char *
refused(const struct sim_world *world, const struct sim_event *event)
{
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        const struct sim_instrument *instrument = world->instruments[i];
        const char *why = NULL;

        if ((world->hearers_of >> i & 1) != 0 &&
            instrument->kind->refuses != NULL)
            why = instrument->kind->refuses(instrument, world, event);
        if (why != NULL)
            return why;
    }
    return NULL;
}

static void
end_event(struct sim_world *world, const struct sim_event *event)
{
    if (sim_event_by(event->kind) == 't')
        world->tasks[event->task].was_woken = false; /* it has acted since */
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        if ((world->hearers_of >> i & 1) != 0 &&
            world->instruments[i]->kind->after != NULL)
            world->instruments[i]->kind->after(world->instruments[i], world,
                                               event);
    }
}

static __attribute__((noinline)) const char *
apply_scheduled(struct sim_world *world, const struct sim_event *event)
{
    const uint64_t before_ticks = world->now_ticks;
    const char *why = somebody_missing(world, event);

    if (why != NULL)
        return why;
    world->now_ticks += event->delay_ticks;
    if (world->holds_used || world->reader_stalls)
        why = sim_world_held(world, event);
    if (why == NULL)
        why = refused(world, event);
    if (why == NULL)
        why = apply(world, event);
    if (why != NULL)
        world->now_ticks = before_ticks;
    else
        end_event(world, event);
    return why;
}

/* Does a stall, or the subject, prevent the event? */
static const char *
against(const struct sim_world *world, const struct sim_event *event)
{
    const char *why = world->holds_used ? sim_world_held(world, event) : NULL;

    if (why == NULL && world->config.subject != NULL)
        why = sim_world_against_subject(world, event);
    return why == NULL && world->config.subject != NULL ? refused(world, event)
                                                        : why;
}

const char *
sim_world_apply(struct sim_world *world, const struct sim_event *event)
{
    const uint64_t before_ticks = world->now_ticks;
    const char *why;

    world->answer.kind = SIM_EV_COUNT;
    if (world->config.scheduled)
        return apply_scheduled(world, event);
    world->now_ticks += event->delay_ticks;
    why = world->holds_used || world->config.subject != NULL
              ? against(world, event)
              : NULL;
    if (why == NULL)
        why = apply(world, event);
    if (why != NULL)
        world->now_ticks = before_ticks;
    return why;
}

/* ---- observers ---- */

struct sim_instrument *
sim_world_instrument(const struct sim_world *world, enum sim_instrument_id id)
{
    return world->instruments[id];
}

bool
sim_world_carries(const struct sim_world *world, enum sim_instrument_id id)
{
    return (world->config.instruments >> id & 1) != 0;
}

void
sim_world_stop(struct sim_world *world, enum sim_instrument_id id, bool stops)
{
    struct sim_instrument *instrument = world->instruments[id];

    if (instrument->kind->stop != NULL) {
        instrument->kind->stop(instrument, world, stops);
        return;
    }
    world->stopped &= ~SIM_INSTRUMENT_BIT(id);
    if (stops)
        world->stopped |= SIM_INSTRUMENT_BIT(id);
    list_hearers(world);
}

const struct sim_wake *
sim_world_wake(const struct sim_world *world)
{
    return world->wake;
}

struct sim_answer *
sim_world_answer_room(struct sim_world *world)
{
    return &world->answer;
}

struct prof *
sim_world_prof(const struct sim_world *world)
{
    return world->prof;
}

const struct truth_log *
sim_world_truth(const struct sim_world *world)
{
    return &world->truth;
}

const struct sim_config *
sim_world_config(const struct sim_world *world)
{
    return &world->config;
}

const struct sim_gc *
sim_world_gc(const struct sim_world *world)
{
    return &world->gc;
}

const struct sim_answer *
sim_world_answer(const struct sim_world *world)
{
    return &world->answer;
}

uint64_t
sim_world_now_ticks(const struct sim_world *world)
{
    return world->now_ticks;
}

uint32_t
sim_world_objects_count(const struct sim_world *world)
{
    return world->objects_count;
}

const struct sim_object *
sim_world_object(const struct sim_world *world, uint32_t object)
{
    return &world->objects[object];
}

const struct sim_locks *
sim_world_locks(const struct sim_world *world)
{
    return &world->locks;
}

uint32_t
sim_world_procs(const struct sim_world *world)
{
    return world->procs_count;
}

const struct sim_proc *
sim_world_proc(const struct sim_world *world, uint32_t proc)
{
    return &world->procs[proc];
}

uint32_t
sim_world_tasks(const struct sim_world *world)
{
    return world->tasks_count;
}

const struct sim_task *
sim_world_task(const struct sim_world *world, uint32_t task)
{
    return &world->tasks[task];
}

uint32_t
sim_world_threads(const struct sim_world *world)
{
    return world->threads;
}

bool
sim_world_traces(const struct sim_world *world)
{
    return world->traces;
}

bool
sim_world_is_unread(const struct sim_world *world)
{
    return world->unread;
}

bool
sim_world_reader_stalls(const struct sim_world *world)
{
    return world->reader_stalls;
}

bool
sim_world_task_waits(const struct sim_world *world, uint32_t task)
{
    return sim_locks_waiting(&world->locks, task);
}

bool
sim_world_task_holds(const struct sim_world *world, uint32_t task,
                     uint32_t lock, bool shares)
{
    return sim_locks_holding(&world->locks, task, lock, shares);
}

uint32_t
sim_world_find(const struct sim_world *world, enum sim_object_state state,
               uint32_t from)
{
    if (state != SIM_GONE && from < world->objects_gone)
        from = world->objects_gone;
    while (from < world->objects_count && world->objects[from].state != state)
        from++;
    return from;
}
