/*
 * world_clock_fault.c -- the faults of a running world: processors, clocks and
 * the reader stall, and clocks jump.
 *
 * A frozen clock resumes where it stopped, so from then on it lags by the
 * length of the freeze. Nothing happens on a stalled processor, but others may
 * still act on its tasks: wake a waiter, for example. World time goes on, and
 * so does everything that needs no processor. Where processors take tasks, the
 * world cannot be stopped during a stall, because a stop waits for all
 * processors.
 */
#include "sim/world/world_internal.h"

bool
sim_world_stalls(const struct sim_world *world, uint32_t proc)
{
    return world->clock_faults[proc].stalled_until_ticks > world->now_ticks;
}

bool
sim_world_stalls_anywhere(const struct sim_world *world)
{
    for (uint32_t i = 0; i < world->procs_count; i++) {
        if (sim_world_stalls(world, i))
            return true;
    }
    return false;
}

uint64_t
sim_world_stall_ticks(const struct sim_world *world)
{
    uint64_t left_ticks = 0;

    if (!world->holds_used)
        return 0;
    for (uint32_t i = 0; i < world->config.procs; i++) {
        const uint64_t until = world->clock_faults[i].stalled_until_ticks;

        if (until > world->now_ticks + left_ticks && until != UINT64_MAX)
            left_ticks = until - world->now_ticks;
    }
    return left_ticks;
}

/* Where processors take tasks: does the event need a processor only for its
 * clock? */
static bool
is_elsewhere(enum sim_event_kind kind)
{
    return kind == SIM_EV_LEFT || kind == SIM_EV_QUEUED ||
           kind == SIM_EV_WAKE_OUTSIDE || kind == SIM_EV_TIMERS ||
           kind == SIM_EV_READ || kind == SIM_EV_READER_STALL ||
           kind == SIM_EV_READER_BACK || kind == SIM_EV_CLOCK_JUMP ||
           kind == SIM_EV_CLOCK_FREEZE;
}

static bool
stops_world(const struct sim_world *world, enum sim_event_kind kind)
{
    return kind == SIM_EV_SET_PROCS || kind == SIM_EV_GOROUTINES ||
           (kind == SIM_EV_TRACE_START && !world->traces && !world->unread) ||
           (kind == SIM_EV_TRACE_STOP && world->traces);
}

const char *
sim_world_held(const struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    if (sim_world_stalls(world, proc) && event->kind != SIM_EV_GO_ON &&
        !(world->config.scheduled && is_elsewhere(event->kind)))
        return "the processor stands still";
    if (stops_world(world, event->kind) && sim_world_stalls_anywhere(world))
        return "a processor stands still, so the world cannot be stopped";
    if (event->kind == SIM_EV_READ && world->reader_stalls)
        return "the reader stands still";
    return NULL;
}

/* State a fault of a processor. */
static void
state_hold(struct sim_world *world, const struct sim_event *event,
           enum truth_kind kind)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = kind,
                        .proc = proc,
                        .cycles = event->cycles,
                        .task = world->config.scheduled
                                    ? world->procs[proc].task
                                    : event->task,
                    });
    world->holds_used = true;
}

static const char *
apply_jump(struct sim_world *world, const struct sim_event *event)
{
    const int64_t most = INT64_C(1) << 61; /* readings stay numbers */
    int64_t *jumped =
        &world->clock_faults[sim_world_proc_of(world, event)].jumped_ticks;

    if (!world->config.scheduled &&
        (event->cycles > most || event->cycles < -most ||
         *jumped + event->cycles > most || *jumped + event->cycles < -most))
        return "the clock would jump too far";
    state_hold(world, event, TRUTH_CLOCK_JUMP);
    *jumped = (int64_t)((uint64_t)*jumped + (uint64_t)event->cycles);
    return NULL;
}

static const char *
apply_freeze(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);
    struct sim_clock_fault *fault = &world->clock_faults[proc];

    state_hold(world, event, TRUTH_CLOCK_FREEZE);
    fault->lost_ticks += sim_world_frozen_ticks(world, proc);
    fault->frozen_ticks = world->now_ticks;
    fault->thaws_ticks = world->now_ticks + (uint64_t)event->cycles;
    return NULL;
}

static const char *
apply_stall(struct sim_world *world, const struct sim_event *event)
{
    struct sim_clock_fault *fault =
        &world->clock_faults[sim_world_proc_of(world, event)];

    state_hold(world, event, TRUTH_STALL);
    fault->stalled_until_ticks =
        event->cycles == SIM_UNTIL_GO_ON
            ? UINT64_MAX
            : world->now_ticks + (uint64_t)event->cycles;
    return NULL;
}

static const char *
apply_go_on(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    if (!sim_world_stalls(world, proc))
        return "the processor does not stand still";
    world->clock_faults[proc].stalled_until_ticks = world->now_ticks;
    state_hold(world, event, TRUTH_GO_ON);
    return NULL;
}

const char *
sim_world_apply_hold(struct sim_world *world, const struct sim_event *event)
{
    const int64_t most = INT64_C(1) << 42; /* world time stays below 2^43 */
    const bool for_ever =
        event->kind == SIM_EV_STALL && event->cycles == SIM_UNTIL_GO_ON;

    if (event->kind == SIM_EV_GO_ON)
        return apply_go_on(world, event);
    if (world->by_clock && event->kind != SIM_EV_STALL)
        return "the order is the clock's, so nothing may move it";
    if (event->kind == SIM_EV_CLOCK_JUMP)
        return apply_jump(world, event);
    if ((event->cycles < 0 || event->cycles > most) && !for_ever)
        return "nothing stands still for so long";
    return event->kind == SIM_EV_CLOCK_FREEZE ? apply_freeze(world, event)
                                              : apply_stall(world, event);
}
