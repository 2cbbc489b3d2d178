/*
 * sched_world.c -- a traced world's memory, its clocks, and its dealings with
 * the tracer. What events do is in sched_apply.c.
 *
 * Invariants
 *   I1  the truth log gets a step before the tracer gets the call.
 *   I2  in the order of the clock there is one: each reading is later than all
 *       before it, wherever.
 *   I3  bytes lent by the tracer are copied as late as its contract allows: at
 *       the next call for more.
 */
#include "sched_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"

static const struct {
    const char *word;
    const char *arguments;
} kinds[] = {
#define X(id, word, arguments) {word, arguments},
#include "sched_event.def"
#undef X
};

const char *
sim_sched_word(enum sim_sched_kind kind)
{
    return kinds[kind].word;
}

const char *
sim_sched_arguments(enum sim_sched_kind kind)
{
    return kinds[kind].arguments;
}

/* --------------------------------------------------------------------- memory
 */

static struct prof_trace_config
tracer_config(const struct sim_sched_config *config)
{
    return (struct prof_trace_config){
        .procs_max = SIM_SCHED_PROCS_MAX,
        .buffers_max = config->buffers,
        .buffer_bytes = config->buffer_bytes,
        .stacks_max = config->stacks_room,
        .frames_max = UINT64_C(16) * config->stacks_room,
        .tick_divisor = config->tick_divisor,
        .order = config->is_by_clock ? PROF_TRACE_ORDER_CLOCK
                                     : PROF_TRACE_ORDER_STAMPS,
    };
}

struct sim_sched_world *
sim_sched_world_new(void)
{
    const struct sim_sched_config largest = {
        .buffers = SIM_SCHED_BUFFERS_MAX,
        .buffer_bytes = SIM_SCHED_BUFFER_BYTES_MAX,
        .stacks_room = SIM_SCHED_STACKS_MAX,
    };
    const struct prof_trace_config tracer = tracer_config(&largest);
    struct sim_sched_world *world = calloc(1, sizeof *world);

    if (world == NULL)
        return NULL;
    world->block_bytes = prof_trace_bytes_needed(&tracer);
    world->block = aligned_alloc(PROF_BLOCK_ALIGN, world->block_bytes);
    world->truth.max = SIM_SCHED_STEPS_MAX;
    world->truth.steps = calloc(world->truth.max, sizeof *world->truth.steps);
    if (world->block == NULL || world->truth.steps == NULL) {
        sim_sched_world_delete(world);
        return NULL;
    }
    return world;
}

void
sim_sched_world_delete(struct sim_sched_world *world)
{
    if (world == NULL)
        return;
    for (uint32_t i = 0; i < SIM_SCHED_SESSIONS_MAX; i++)
        free(world->sessions[i].bytes);
    free(world->truth.steps);
    free(world->block);
    free(world);
}

/* --------------------------------------------------------------------- clocks
 */

void
sim_sched_look(struct sim_sched_world *world, uint32_t proc)
{
    if (world->config.is_by_clock)
        return;
    world->clock_ticks =
        (uint64_t)sim_clock_read(&world->config.clocks[proc],
                                 sim_sched_clock_now(world, proc)) +
        world->procs[proc].moved_ticks;
}

/* The one clock is later at each step than in all readings before. */
static void
move_on(struct sim_sched_world *world)
{
    world->now_ticks += SIM_SCHED_READINGS_MAX;
    world->clock_ticks =
        (uint64_t)sim_clock_read(&world->config.clocks[0], world->now_ticks);
}

static uint64_t
read_ticks(void *context)
{
    struct sim_sched_world *world = context;

    return world->config.is_by_clock ? world->clock_ticks++
                                     : world->clock_ticks;
}

static uint64_t
read_ns(void *context)
{
    const struct sim_sched_world *world = context;

    return world->now_ticks * 1000 / world->config.ticks_per_us;
}

static const char *
reason_against(const struct sim_sched_config *config)
{
    if (config->procs == 0 || config->procs > SIM_SCHED_PROCS_MAX)
        return "the number of processors is out of range";
    if (config->buffers > SIM_SCHED_BUFFERS_MAX ||
        config->buffer_bytes > SIM_SCHED_BUFFER_BYTES_MAX ||
        config->stacks_room > SIM_SCHED_STACKS_MAX)
        return "the configuration is larger than the world's limits";
    if (config->ticks_per_us == 0)
        return "a microsecond has no ticks";
    for (uint32_t p = 0; p < SIM_SCHED_PROCS_MAX && config->is_by_clock; p++) {
        if (config->clocks[p].offset_ticks != config->clocks[0].offset_ticks ||
            config->clocks[p].drift_ppm != 0)
            return "in the order of the clock, all processors have one";
    }
    return NULL;
}

static void
forget_sessions(struct sim_sched_world *world)
{
    for (uint32_t i = 0; i < SIM_SCHED_SESSIONS_MAX; i++) {
        struct sim_sched_session *session = &world->sessions[i];

        session->bytes_count = 0;
        session->chunks = 0;
        session->chunks_on = 0;
        session->has_ended = false;
        session->drops = (struct prof_trace_drops){0};
    }
    world->sessions_count = 0;
    world->answers = (struct sim_sched_answers){0};
    world->lent = NULL;
}

const char *
sim_sched_world_reset(struct sim_sched_world *world,
                      const struct sim_sched_config *config)
{
    struct prof_trace_config tracer = tracer_config(config);
    const char *why = reason_against(config);
    const size_t bytes = prof_trace_bytes_needed(&tracer);

    if (why != NULL)
        return why;
    if (bytes == 0 || bytes > world->block_bytes)
        return "the tracer refuses the configuration";
    forget_sessions(world);
    world->config = *config;
    world->truth.count = 0;
    world->truth.lost = 0;
    world->truth.stacks = config->stacks;
    world->truth.stacks_count = config->stacks_count;
    memset(world->tasks, 0, sizeof world->tasks);
    memset(world->procs, 0, sizeof world->procs);
    world->tasks_count = 0;
    world->procs_count = config->procs;
    for (uint32_t i = 0; i < config->procs; i++)
        world->procs[i].exists = true;
    world->threads = 0;
    world->now_ticks = 0;
    world->traces = false;
    world->is_unread = false;
    world->collects = false;
    world->reader_stalls = false;
    sim_sched_look(world, 0);
    if (config->is_by_clock)
        move_on(world);
    memset(world->block, 0, bytes);
    tracer.clock = (struct prof_trace_clock){read_ticks, read_ns, world};
    return prof_trace_init(&world->trace, &tracer, world->block, bytes) ==
                   PROF_OK
               ? NULL
               : "the tracer refused a block of the size it had asked for";
}

/* ----------------------------------------------------------------- accessors
 */

const struct sim_sched_config *
sim_sched_world_config(const struct sim_sched_world *world)
{
    return &world->config;
}

const struct truth_steps *
sim_sched_world_truth(const struct sim_sched_world *world)
{
    return &world->truth;
}

const struct sim_sched_answers *
sim_sched_world_answers(const struct sim_sched_world *world)
{
    return &world->answers;
}

bool
sim_sched_world_traces(const struct sim_sched_world *world)
{
    return world->traces;
}

bool
sim_sched_world_collects(const struct sim_sched_world *world)
{
    return world->collects;
}

bool
sim_sched_world_reader_stalls(const struct sim_sched_world *world)
{
    return world->reader_stalls;
}

bool
sim_sched_world_is_unread(const struct sim_sched_world *world)
{
    return world->is_unread;
}

uint32_t
sim_sched_world_sessions(const struct sim_sched_world *world)
{
    return world->sessions_count;
}

const struct sim_sched_session *
sim_sched_world_session(const struct sim_sched_world *world, uint32_t index)
{
    return &world->sessions[index];
}

uint32_t
sim_sched_world_procs(const struct sim_sched_world *world)
{
    return world->procs_count;
}

const struct sim_sched_proc *
sim_sched_world_proc(const struct sim_sched_world *world, uint32_t proc)
{
    return &world->procs[proc];
}

uint32_t
sim_sched_world_tasks(const struct sim_sched_world *world)
{
    return world->tasks_count;
}

const struct sim_sched_task *
sim_sched_world_task(const struct sim_sched_world *world, uint64_t task)
{
    return &world->tasks[task];
}

/* ------------------------------------------------------------------- telling
 */

void
sim_sched_tell(struct sim_sched_world *world, struct truth_step step)
{
    if (world->config.is_by_clock)
        move_on(world);
    else if (step.proc != TRUTH_NO_PROC)
        sim_sched_look(world, step.proc);
    step.ticks = world->clock_ticks;
    step.ns = read_ns(world);
    truth_step_append(&world->truth, &step);
}

void
sim_sched_emit(struct sim_sched_world *world, uint32_t proc,
               enum prof_trace_event event, uint64_t a, uint64_t b,
               uint32_t stack)
{
    const uint64_t args[] = {a, b};
    const bool has = stack != TRUTH_NO_STACK;

    prof_trace_emit(world->trace,
                    proc == TRUTH_NO_PROC ? PROF_TRACE_NO_PROC : proc, event,
                    args, has ? world->config.stacks[stack].frames : NULL,
                    has ? world->config.stacks[stack].depth : 0);
}
