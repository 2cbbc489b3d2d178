/*
 * world_wait.c -- waiting in a world: events whose length is given, locks whose
 * waits take as long as they take, and rates.
 *
 * When a release lets a task go, the library is told twice, as a runtime would:
 * on the releaser's processor of a mutex event with the releaser's stack (for
 * mutexes alone), on the waiter's of a block event with the waiter's stack.
 * Both lengths are differences of clock readings; those of a mutex event may be
 * of two clocks. Whether a profile is on is asked when the wait begins, how
 * much to record when it ends.
 */
#include "world_inside.h"

/* State a fact about a task's processor, in the event's world time. */
static void
log_wait(struct sim_world *world, enum truth_kind kind, uint32_t proc,
         const struct sim_waiter *waiter, uint32_t stack, bool flag)
{
    *truth_next(&world->truth) = (struct truth_entry){
        .kind = kind,
        .proc = proc,
        .at_ticks = sim_world_clock(world, proc),
        .stack = stack,
        .task = waiter->task,
        .lock = (uint32_t)waiter->kind << 8 | waiter->lock,
        .flag = flag,
    };
}

const char *
sim_world_apply_contention(struct sim_world *world,
                           const struct sim_event *event)
{
    const bool block = event->kind == SIM_EV_BLOCK;
    const uint32_t proc = sim_world_proc_of(world, event->task);
    const struct truth_stack *stack;

    if (event->stack >= world->config.stacks_count)
        return "there is no such stack";
    stack = &world->config.stacks[event->stack];
    *truth_next(&world->truth) = (struct truth_entry){
        .kind = block ? TRUTH_BLOCK : TRUTH_MUTEX,
        .proc = proc,
        .at_ticks = sim_world_clock(world, proc),
        .stack = event->stack,
        .cycles = event->cycles,
        .task = event->task,
    };
    prof_contention_event(sim_world_prof_proc(world, event->task),
                          block ? PROF_BLOCK : PROF_MUTEX, stack->frames,
                          stack->depth, event->cycles);
    return NULL;
}

const char *
sim_world_apply_rate(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event->task);
    struct truth_entry entry = {
        .kind = TRUTH_BLOCK_RATE,
        .proc = proc,
        .at_ticks = sim_world_clock(world, proc),
        .cycles = event->cycles,
        .task = event->task,
    };

    if (event->kind == SIM_EV_MUTEX_FRACTION)
        entry.kind = TRUTH_MUTEX_FRACTION;
    else if (event->kind == SIM_EV_HEAP_RATE)
        entry.kind = TRUTH_HEAP_RATE;
    *truth_next(&world->truth) = entry;
    if (event->kind == SIM_EV_BLOCK_RATE)
        prof_block_rate_set(world->prof, event->cycles);
    else if (event->kind == SIM_EV_MUTEX_FRACTION)
        (void)prof_mutex_fraction_set(world->prof, event->cycles);
    else
        prof_heap_rate_set(world->prof, event->cycles);
    return NULL;
}

/* ---------------------------------------------------------------------- locks
 */

/* The releaser's side of a wake. */
static void
tell_release(struct sim_world *world, const struct sim_event *event,
             const struct sim_wake *wake)
{
    const uint32_t proc = sim_world_proc_of(world, event->task);
    const struct truth_stack *stack = &world->config.stacks[event->stack];
    const int64_t now = sim_world_clock(world, proc);
    int64_t cycles;

    log_wait(world, TRUTH_RELEASED, proc, &wake->waiter, event->stack,
             wake->others > 0);
    if (!wake->waiter.mutex_told)
        return;
    cycles = prof_mutex_cycles(
        world->prof, sim_clock_since(now, wake->waiter.since_ticks),
        wake->others > 0 ? sim_clock_since(now, wake->last_since_ticks) : 0,
        wake->others);
    prof_contention_event(sim_world_prof_proc(world, event->task), PROF_MUTEX,
                          stack->frames, stack->depth, cycles);
}

/* The waiter's side. */
static void
tell_woken(struct sim_world *world, const struct sim_waiter *waiter)
{
    const uint32_t proc = sim_world_proc_of(world, waiter->task);
    const struct truth_stack *stack = &world->config.stacks[waiter->stack];

    log_wait(world, TRUTH_WOKEN, proc, waiter, waiter->stack, false);
    if (waiter->block_told)
        prof_contention_event(
            sim_world_prof_proc(world, waiter->task), PROF_BLOCK, stack->frames,
            stack->depth,
            sim_clock_since(sim_world_clock(world, proc), waiter->began_ticks));
}

/* Who only wakes others, without having held anything, needs none. */
static bool
has_stack(enum sim_event_kind kind)
{
    return kind != SIM_EV_SIGNAL && kind != SIM_EV_BROADCAST &&
           kind != SIM_EV_RELEASE;
}

const char *
sim_world_apply_lock(struct sim_world *world, const struct sim_event *event)
{
    const uint32_t proc = sim_world_proc_of(world, event->task);
    const struct sim_lock_moment moment = {
        .now_ticks = sim_world_clock(world, proc),
        .block_told = prof_block_rate_ticks(world->prof) > 0,
        .mutex_told = prof_mutex_fraction_set(world->prof, -1) > 0,
    };
    struct sim_locks *locks = &world->locks;
    const char *why;

    if (has_stack(event->kind) && event->stack >= world->config.stacks_count)
        return "there is no such stack";
    world->locks_used = true;
    why = sim_locks_apply(locks, event, &moment);
    if (why != NULL)
        return why;
    if (locks->waits)
        log_wait(world, TRUTH_WAIT, proc,
                 &locks->waiters[locks->waiters_count - 1], event->stack,
                 false);
    for (uint32_t i = 0; i < locks->wakes_count; i++) {
        if (locks->wakes[i].waiter.kind == SIM_LOCK_MUTEX)
            tell_release(world, event, &locks->wakes[i]);
        tell_woken(world, &locks->wakes[i].waiter);
    }
    return NULL;
}
