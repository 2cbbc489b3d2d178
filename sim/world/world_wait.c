/*
 * world_wait.c -- waiting in a world: contention events of a given length,
 * locks whose waits follow from the schedule, and sampling rates.
 *
 * When a release wakes a task, the world states two facts, because a runtime
 * reports to two profiles: RELEASED on the releaser's processor, with the
 * releaser's stack (mutexes only), and WOKEN on the waiter's processor, with
 * the waiter's stack. A duration is the difference of two readings, possibly of
 * different clocks.
 *
 * Where processors take tasks, a task that must wait leaves its processor, and
 * the task that wakes it makes it ready to run. The waiter has no processor
 * then, so its wait ends at the reading of the releaser's clock.
 */
#include "sim/world/world_internal.h"

/* State a fact about a task's processor, in the event's world time. */
static void
log_wait(struct sim_world *world, enum truth_kind kind, uint32_t proc,
         const struct sim_waiter *waiter, uint32_t stack, bool flag)
{
    sim_world_state(world, proc,
                    (struct truth_entry){
                        .kind = kind,
                        .proc = proc,
                        .stack = stack,
                        .task = waiter->task,
                        .lock = (uint32_t)waiter->kind << 8 | waiter->lock,
                        .flag = flag,
                    });
}

const char *
sim_world_apply_contention(struct sim_world *world,
                           const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);

    if (event->stack >= world->config.stacks_count)
        return "there is no such stack";
    sim_world_state(
        world, proc,
        (struct truth_entry){
            .kind = event->kind == SIM_EV_BLOCK ? TRUTH_BLOCK : TRUTH_MUTEX,
            .proc = proc,
            .stack = event->stack,
            .cycles = event->cycles,
            .task = event->task,
        });
    return NULL;
}

const char *
sim_world_apply_rate(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);
    struct truth_entry entry = {
        .kind = TRUTH_BLOCK_RATE,
        .proc = proc,
        .cycles = event->cycles,
        .task = event->task,
    };

    if (event->kind == SIM_EV_MUTEX_FRACTION)
        entry.kind = TRUTH_MUTEX_FRACTION;
    else if (event->kind == SIM_EV_HEAP_RATE)
        entry.kind = TRUTH_HEAP_RATE;
    sim_world_state(world, proc, entry);
    return NULL;
}

/* ---- locks ---- */

/* Does the event need a stack? One that only wakes tasks does not. */
static bool
has_stack(enum sim_event_kind kind)
{
    return kind != SIM_EV_SIGNAL && kind != SIM_EV_BROADCAST &&
           kind != SIM_EV_RELEASE;
}

/* The event by which a task that begins to wait leaves its processor. */
static enum sim_event_kind
parking(const struct sim_waiter *waiter)
{
    if (waiter->kind == SIM_LOCK_CONDITION)
        return SIM_EV_PARK_CONDITION;
    if (waiter->kind == SIM_LOCK_CHANNEL)
        return waiter->shares ? SIM_EV_PARK_RECEIVE : SIM_EV_PARK_SEND;
    return SIM_EV_PARK_LOCK;
}

static void
begin_wait(struct sim_world *world, const struct sim_event *event,
           uint32_t proc)
{
    const struct sim_waiter *waiter =
        &world->locks.waiters[world->locks.waiters_count - 1];

    log_wait(world, TRUTH_WAIT, proc, waiter, event->stack, false);
    if (!world->config.scheduled)
        return;
    world->tasks[event->task].waits_for_lock = true;
    (void)sim_leave(world, proc, parking(waiter), event->stack);
}

/* State the end of a wait, for the releaser and for the waiter. */
static void
end_wait(struct sim_world *world, const struct sim_event *event, uint32_t proc,
         const struct sim_wake *wake)
{
    const struct sim_waiter *waiter = &wake->waiter;
    const uint32_t of_waiter =
        world->config.scheduled ? proc : waiter->task % world->config.procs;

    world->wake = wake;
    if (waiter->kind == SIM_LOCK_MUTEX)
        log_wait(world, TRUTH_RELEASED, proc, waiter, event->stack,
                 wake->others > 0);
    log_wait(world, TRUTH_WOKEN, of_waiter, waiter, waiter->stack, false);
    world->wake = NULL;
}

/* Where processors take tasks: the waiter becomes ready to run. */
static void
make_ready(struct sim_world *world, const struct sim_event *event,
           uint32_t proc, uint32_t task)
{
    sim_world_fact(world, TRUTH_WAKE, proc, task, 0,
                   has_stack(event->kind) ? event->stack : TRUTH_NO_STACK);
    world->tasks[task].state = SIM_TASK_RUNNABLE;
    world->tasks[task].waits_for_lock = false;
}

const char *
sim_world_apply_lock(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event);
    struct sim_locks *locks = &world->locks;
    const char *why;

    if (has_stack(event->kind) && event->stack >= world->config.stacks_count)
        return "there is no such stack";
    world->locks_used = true;
    why = sim_locks_apply(locks, event, sim_world_clock(world, proc));
    if (why != NULL)
        return why;
    if (locks->waits)
        begin_wait(world, event, proc);
    for (uint32_t i = 0; i < locks->wakes_count; i++)
        end_wait(world, event, proc, &locks->wakes[i]);
    for (uint32_t i = 0; i < locks->wakes_count && world->config.scheduled; i++)
        make_ready(world, event, proc, locks->wakes[i].waiter.task);
    return NULL;
}
