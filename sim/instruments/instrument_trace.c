/*
 * instrument_trace.c -- the tracer as an instrument of a world: turns facts
 * into trace events, starts and stops the tracer as requested, and has one
 * reader for its output (world_tracer.c).
 *
 * Invariant
 *   I1  in a trace ordered by clock, each reading is later than all before.
 */
#include "sim/instruments/instrument_trace.h"

#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "sim/instruments/world_tracer.h"

static struct tracer *
tracer_of(const struct sim_world *world)
{
    return (struct tracer *)sim_world_instrument(world, SIM_TRACER);
}

/* ---- clocks ---- */

static uint64_t
read_ticks(void *context)
{
    struct tracer *tracer = context;

    return sim_world_config(tracer->world)->trace.by_clock
               ? tracer->clock_ticks++
               : tracer->clock_ticks;
}

static uint64_t
read_ns(void *context)
{
    const struct tracer *tracer = context;

    return sim_world_now_ns(tracer->world);
}

/* ---- memory ---- */

static struct prof_trace_config
config_of(const struct sim_trace_config *config)
{
    return (struct prof_trace_config){
        .procs_max = SIM_PROCS_MAX,
        .buffers_max = config->buffers,
        .buffer_bytes = config->buffer_bytes,
        .stacks_max = config->stacks_room,
        .frames_max = UINT64_C(16) * config->stacks_room,
        .tick_divisor = config->tick_divisor,
        .order =
            config->by_clock ? PROF_TRACE_ORDER_CLOCK : PROF_TRACE_ORDER_STAMPS,
    };
}

static void
destroy(struct sim_instrument *instrument)
{
    struct tracer *tracer = (struct tracer *)instrument;

    for (uint32_t i = 0; i < SIM_TRACE_SESSIONS_MAX; i++)
        free(tracer->sessions[i].bytes);
    free(tracer->block);
    free(tracer);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    const struct sim_trace_config largest = {
        .buffers = SIM_TRACE_BUFFERS_MAX,
        .buffer_bytes = SIM_TRACE_BUFFER_BYTES_MAX,
        .stacks_room = SIM_TRACE_STACKS_MAX,
    };
    const struct prof_trace_config config = config_of(&largest);
    struct tracer *tracer = calloc(1, sizeof *tracer);

    (void)limits;
    if (tracer == NULL)
        return NULL;
    tracer->base.kind = &sim_tracer;
    tracer->block_bytes = prof_trace_bytes_needed(&config);
    tracer->block = aligned_alloc(PROF_BLOCK_ALIGN, tracer->block_bytes);
    if (tracer->block != NULL)
        return &tracer->base;
    destroy(&tracer->base);
    return NULL;
}

static void
forget_sessions(struct tracer *tracer)
{
    for (uint32_t i = 0; i < SIM_TRACE_SESSIONS_MAX; i++) {
        struct sim_session *session = &tracer->sessions[i];

        session->bytes_count = 0;
        session->chunks = 0;
        session->chunks_on = 0;
        session->has_ended = false;
        session->drops = (struct prof_trace_drops){0};
    }
    tracer->sessions_count = 0;
    tracer->answers = (struct sim_trace_answers){0};
    tracer->borrowed = NULL;
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    const struct sim_config *config = sim_world_config(world);
    const struct sim_trace_config *own = &config->trace;
    struct tracer *tracer = (struct tracer *)instrument;
    struct prof_trace_config library = config_of(own);
    const size_t bytes = prof_trace_bytes_needed(&library);

    if (!config->scheduled)
        return "a trace needs processors that take tasks: 'scheduled'";
    if (own->buffers > SIM_TRACE_BUFFERS_MAX ||
        own->buffer_bytes > SIM_TRACE_BUFFER_BYTES_MAX ||
        own->stacks_room > SIM_TRACE_STACKS_MAX)
        return "the configuration is larger than the world's limits";
    if (own->ticks_per_us == 0)
        return "a microsecond has no ticks";
    if (bytes == 0 || bytes > tracer->block_bytes)
        return "the tracer refuses the configuration";
    forget_sessions(tracer);
    tracer->world = world;
    tracer->traces = false;
    tracer->clock_ticks = (uint64_t)sim_world_clock(world, 0);
    memset(tracer->owes_exit, 0, sizeof tracer->owes_exit);
    memset(tracer->block, 0, bytes);
    library.clock = (struct prof_trace_clock){read_ticks, read_ns, tracer};
    return prof_trace_init(&tracer->trace, &library, tracer->block, bytes) ==
                   PROF_OK
               ? NULL
               : "the tracer refused a block of the size it had asked for";
}

/* ---- the facts ---- */

/* Facts that become an event of one kind, with at most two arguments. */
static const struct {
    enum prof_trace_event event; /* 0: none */
    enum { HAS_NOTHING, HAS_VALUE, HAS_OTHER, HAS_BOTH, HAS_TASK } arguments;
} tellings[TRUTH_KIND_COUNT] = {
    [TRUTH_PROC_START] = {PROF_EV_PROC_START, HAS_VALUE},
    [TRUTH_PROC_STOP] = {PROF_EV_PROC_STOP, HAS_NOTHING},
    [TRUTH_PROCS] = {PROF_EV_GOMAXPROCS, HAS_VALUE},
    [TRUTH_CREATE] = {PROF_EV_GO_CREATE, HAS_BOTH},
    [TRUTH_RUN] = {PROF_EV_GO_START, HAS_TASK},
    [TRUTH_END] = {PROF_EV_GO_END, HAS_NOTHING},
    [TRUTH_STOP] = {PROF_EV_GO_STOP, HAS_NOTHING},
    [TRUTH_YIELD] = {PROF_EV_GO_SCHED, HAS_NOTHING},
    [TRUTH_PREEMPT] = {PROF_EV_GO_PREEMPT, HAS_NOTHING},
    [TRUTH_SLEEP] = {PROF_EV_GO_SLEEP, HAS_NOTHING},
    [TRUTH_PARK] = {PROF_EV_GO_BLOCK, HAS_NOTHING},
    [TRUTH_PARK_SEND] = {PROF_EV_GO_BLOCK_SEND, HAS_NOTHING},
    [TRUTH_PARK_RECEIVE] = {PROF_EV_GO_BLOCK_RECV, HAS_NOTHING},
    [TRUTH_PARK_SELECT] = {PROF_EV_GO_BLOCK_SELECT, HAS_NOTHING},
    [TRUTH_PARK_LOCK] = {PROF_EV_GO_BLOCK_SYNC, HAS_NOTHING},
    [TRUTH_PARK_CONDITION] = {PROF_EV_GO_BLOCK_COND, HAS_NOTHING},
    [TRUTH_PARK_NETWORK] = {PROF_EV_GO_BLOCK_NET, HAS_NOTHING},
    [TRUTH_FUTILE] = {PROF_EV_FUTILE_WAKEUP, HAS_NOTHING},
    [TRUTH_WAKE] = {PROF_EV_GO_UNBLOCK, HAS_OTHER},
    [TRUTH_SYSCALL] = {PROF_EV_GO_SYSCALL, HAS_NOTHING},
    [TRUTH_SYSBLOCK] = {PROF_EV_GO_SYSBLOCK, HAS_NOTHING},
    [TRUTH_MARK] = {PROF_EV_GC_START, HAS_NOTHING},
    [TRUTH_TERMINATE] = {PROF_EV_GC_DONE, HAS_NOTHING},
    [TRUTH_SCAN_START] = {PROF_EV_GC_SCAN_START, HAS_NOTHING},
    [TRUTH_SCAN_DONE] = {PROF_EV_GC_SCAN_DONE, HAS_NOTHING},
    [TRUTH_SWEEP_START] = {PROF_EV_GC_SWEEP_START, HAS_NOTHING},
    [TRUTH_SWEEP_DONE] = {PROF_EV_GC_SWEEP_DONE, HAS_NOTHING},
    [TRUTH_HEAP] = {PROF_EV_HEAP_ALLOC, HAS_VALUE},
    [TRUTH_GOAL] = {PROF_EV_NEXT_GC, HAS_VALUE},
};

static void
emit(struct tracer *tracer, const struct truth_entry *fact)
{
    const struct truth_stack *stacks = sim_world_config(tracer->world)->stacks;
    const bool has = fact->stack != TRUTH_NO_STACK;
    uint64_t arguments[2] = {0, 0};

    switch (tellings[fact->kind].arguments) {
    case HAS_NOTHING:
        break;
    case HAS_VALUE:
        arguments[0] = fact->size_bytes;
        break;
    case HAS_BOTH:
        arguments[1] = fact->size_bytes;
        arguments[0] = fact->object;
        break;
    case HAS_OTHER:
        arguments[0] = fact->object;
        break;
    case HAS_TASK:
        arguments[0] = fact->task;
        break;
    }
    prof_trace_emit(tracer->trace,
                    fact->proc == TRUTH_NO_PROC ? PROF_TRACE_NO_PROC
                                                : fact->proc,
                    tellings[fact->kind].event, arguments,
                    has ? stacks[fact->stack].frames : NULL,
                    has ? stacks[fact->stack].depth : 0);
}

static void
hear(struct sim_instrument *instrument, struct sim_world *world,
     const struct truth_entry *fact)
{
    struct tracer *tracer = (struct tracer *)instrument;

    (void)world;
    tracer->clock_ticks = (uint64_t)fact->at_ticks;
    if (tellings[fact->kind].event != 0)
        emit(tracer, fact);
    switch ((int)fact->kind) {
    case TRUTH_TRACE_START:
        tracer->controlled = true;
        sim_tracer_start(tracer, fact->proc);
        break;
    case TRUTH_TRACE_STOP:
        tracer->controlled = true;
        sim_tracer_stop(tracer, fact->proc, fact->stack);
        break;
    case TRUTH_SYSBLOCK:
        tracer->owes_exit[fact->task] = tracer->traces;
        break;
    case TRUTH_LEFT:
        tracer->left[fact->task] = prof_trace_stamp(tracer->trace);
        break;
    case TRUTH_BACK:
        if (tracer->owes_exit[fact->task])
            prof_trace_sysexit(tracer->trace, fact->proc, fact->task,
                               tracer->left[fact->task]);
        tracer->owes_exit[fact->task] = false;
        break;
    case TRUTH_PROC_GONE:
        prof_trace_proc_free(tracer->trace, fact->proc);
        break;
    case TRUTH_TIMERS:
        prof_trace_timer_task(tracer->trace, fact->object);
        break;
    default:
        break;
    }
}

/* Hear facts of all kinds: each sets the current clock. */
static sim_hear *
hears(enum truth_kind kind)
{
    (void)kind;
    return hear;
}

static const char *
refuses(const struct sim_instrument *instrument, const struct sim_world *world,
        const struct sim_event *event)
{
    const struct tracer *tracer = (const struct tracer *)instrument;

    return event->kind == SIM_EV_TRACE_START && !sim_world_traces(world) &&
                   !sim_world_is_unread(world) &&
                   tracer->sessions_count == SIM_TRACE_SESSIONS_MAX
               ? "too many sessions"
               : NULL;
}

/* Handle events without facts: starts and stops that the tracer must refuse,
 * and reads. */
static void
after(struct sim_instrument *instrument, struct sim_world *world,
      const struct sim_event *event)
{
    struct tracer *tracer = (struct tracer *)instrument;

    if (event->kind == SIM_EV_TRACE_START && !tracer->controlled)
        sim_tracer_start_in_vain(tracer, event->proc);
    if (event->kind == SIM_EV_TRACE_STOP && !tracer->controlled)
        sim_tracer_stop_in_vain(tracer, event->proc, event->stack);
    tracer->controlled = false;
    if (event->kind == SIM_EV_READ)
        sim_tracer_take(tracer, world, event->size_bytes, event->proc);
    else if (sim_world_config(world)->trace.eager &&
             !sim_world_reader_stalls(world))
        sim_tracer_take(tracer, world, 0, event->proc);
}

const struct sim_instrument_kind sim_tracer = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
    .refuses = refuses,
    .after = after,
};

/* ---- observers ---- */

const struct sim_trace_answers *
sim_trace_answers(const struct sim_world *world)
{
    return &tracer_of(world)->answers;
}

uint32_t
sim_sessions(const struct sim_world *world)
{
    return tracer_of(world)->sessions_count;
}

struct sim_session *
sim_session(const struct sim_world *world, uint32_t index)
{
    return &tracer_of(world)->sessions[index];
}
