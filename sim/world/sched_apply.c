/*
 * sched_apply.c -- what the events of a traced world do.
 *
 *      RUNNABLE <--> RUNNING --wait--> WAITING --wake--> RUNNABLE
 *                       |
 *                    syscall --> SYSCALL --blocks--> AWAY --left--> LEFT
 *                       ^           |                                |
 *                       +--returns--+              QUEUED <--queued--+
 *                       +-------------------run------+------run------+
 *
 * What a runtime owes the tracer is kept here: whoever takes a processor from a
 * task in a system call says so before the thread's return is noted; a task
 * that the trace believes to be in a system call comes back with a SysExit
 * before it runs; the world is stopped, sweeps included, when tracing starts or
 * stops; a wake-up is called futile only if the trace has seen all of it.
 */
#include "sched_inside.h"

/* --------------------------------------------------------------- the collector
 */

static const char *
apply_gc(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    const bool begins = event->kind == SIM_SCHED_GC_START;

    if (!sim_sched_runs(world, event->proc) &&
        !sim_sched_is_free(world, event->proc))
        return "neither a task nor the scheduler runs on the processor";
    if (world->collects == begins)
        return begins ? "a collection is under way" : "no collection is";
    world->collects = begins;
    sim_sched_happen(world, begins ? STEP_GC_START : STEP_GC_DONE, event->proc,
                     begins ? PROF_EV_GC_START : PROF_EV_GC_DONE,
                     begins ? event->stack : TRUTH_NO_STACK);
    return NULL;
}

/* Scanning and sweeping: alike but for the events. */
static const char *
apply_gc_work(struct sim_sched_world *world,
              const struct sim_sched_event *event)
{
    const bool scan = event->kind == SIM_SCHED_SCAN_START ||
                      event->kind == SIM_SCHED_SCAN_DONE;
    const bool begins = event->kind == SIM_SCHED_SCAN_START ||
                        event->kind == SIM_SCHED_SWEEP_START;
    struct sim_sched_proc *proc = &world->procs[event->proc];
    bool *works = scan ? &proc->scans : &proc->sweeps;

    if (!proc->has_thread)
        return "the processor has no thread";
    if (*works == begins)
        return begins ? "the processor does that already"
                      : "the processor does not do that";
    *works = begins;
    if (scan)
        sim_sched_happen(world, begins ? STEP_SCAN_START : STEP_SCAN_DONE,
                         event->proc,
                         begins ? PROF_EV_GC_SCAN_START : PROF_EV_GC_SCAN_DONE,
                         TRUTH_NO_STACK);
    else
        sim_sched_happen(
            world, begins ? STEP_SWEEP_START : STEP_SWEEP_DONE, event->proc,
            begins ? PROF_EV_GC_SWEEP_START : PROF_EV_GC_SWEEP_DONE,
            begins ? event->stack : TRUTH_NO_STACK);
    return NULL;
}

static const char *
apply_number(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    const bool heap = event->kind == SIM_SCHED_HEAP;

    if (!world->procs[event->proc].has_thread)
        return "the processor has no thread";
    sim_sched_fact(world, heap ? STEP_HEAP : STEP_GOAL, event->proc, 0,
                   event->number, TRUTH_NO_STACK);
    sim_sched_emit(world, event->proc,
                   heap ? PROF_EV_HEAP_ALLOC : PROF_EV_NEXT_GC, event->number,
                   0, TRUTH_NO_STACK);
    return NULL;
}

/* -------------------------------------------------------------------- tracing
 */

static const char *
apply_timers(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    if (event->task > world->tasks_count)
        return "there is no such task";
    sim_sched_tell(world, (struct truth_step){.kind = STEP_TIMERS,
                                              .proc = TRUTH_NO_PROC,
                                              .other = event->task,
                                              .stack = TRUTH_NO_STACK});
    prof_trace_timer_task(world->trace, event->task);
    return NULL;
}

static const char *
apply_start(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    if (!sim_sched_runs(world, event->proc))
        return sim_sched_not_running;
    if (world->traces || world->is_unread) { /* it must be refused */
        sim_sched_start_trace(world, event->proc);
        return NULL;
    }
    if (world->sessions_count == SIM_SCHED_SESSIONS_MAX)
        return "too many sessions";
    sim_sched_stop_world(world, event->proc);
    sim_sched_fact(world, STEP_TRACE_START, event->proc, 0, world->threads,
                   TRUTH_NO_STACK);
    sim_sched_start_trace(world, event->proc);
    /* The world goes on with as many processors as before. */
    sim_sched_fact(world, STEP_PROCS, event->proc, 0, world->procs_count,
                   event->stack);
    sim_sched_emit(world, event->proc, PROF_EV_GOMAXPROCS, world->procs_count,
                   0, event->stack);
    return NULL;
}

static const char *
apply_stop(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    if (!sim_sched_runs(world, event->proc))
        return sim_sched_not_running;
    if (world->traces) {
        sim_sched_stop_world(world, event->proc);
        sim_sched_fact(world, STEP_TRACE_STOP, event->proc, 0, 0, event->stack);
    }
    sim_sched_stop_trace(world, event->proc, event->stack);
    return NULL;
}

static const char *
apply(struct sim_sched_world *world, const struct sim_sched_event *event)
{
    switch (event->kind) {
    case SIM_SCHED_PROC_START:
    case SIM_SCHED_PROC_STOP:
        return sim_sched_apply_proc(world, event);
    case SIM_SCHED_PROCS:
        return sim_sched_apply_procs(world, event);
    case SIM_SCHED_CREATE:
        return sim_sched_apply_create(world, event);
    case SIM_SCHED_RUN:
        return sim_sched_apply_run(world, event);
    case SIM_SCHED_END:
    case SIM_SCHED_STOP:
    case SIM_SCHED_YIELD:
    case SIM_SCHED_PREEMPT:
    case SIM_SCHED_SLEEP:
    case SIM_SCHED_BLOCK:
    case SIM_SCHED_BLOCK_SEND:
    case SIM_SCHED_BLOCK_RECV:
    case SIM_SCHED_BLOCK_SELECT:
    case SIM_SCHED_BLOCK_SYNC:
    case SIM_SCHED_BLOCK_COND:
    case SIM_SCHED_BLOCK_NET:
        return sim_sched_apply_leave(world, event->proc, event->kind,
                                     event->stack);
    case SIM_SCHED_AGAIN:
        return sim_sched_apply_again(world, event);
    case SIM_SCHED_WAKE:
    case SIM_SCHED_WAKE_OUTSIDE:
        return sim_sched_apply_wake(world, event);
    case SIM_SCHED_SYSCALL:
    case SIM_SCHED_SYSRETURN:
    case SIM_SCHED_SYSBLOCK:
        return sim_sched_apply_in_syscall(world, event);
    case SIM_SCHED_LEFT:
    case SIM_SCHED_QUEUED:
        return sim_sched_apply_away(world, event);
    case SIM_SCHED_GC_START:
    case SIM_SCHED_GC_DONE:
        return apply_gc(world, event);
    case SIM_SCHED_SCAN_START:
    case SIM_SCHED_SCAN_DONE:
    case SIM_SCHED_SWEEP_START:
    case SIM_SCHED_SWEEP_DONE:
        return apply_gc_work(world, event);
    case SIM_SCHED_HEAP:
    case SIM_SCHED_GOAL:
        return apply_number(world, event);
    case SIM_SCHED_TIMERS:
        return apply_timers(world, event);
    case SIM_SCHED_TRACE_START:
        return apply_start(world, event);
    case SIM_SCHED_TRACE_STOP:
        return apply_stop(world, event);
    case SIM_SCHED_READ:
        sim_sched_read(world, event->number);
        return NULL;
    case SIM_SCHED_READER_STALL:
    case SIM_SCHED_READER_BACK:
    case SIM_SCHED_STALL:
    case SIM_SCHED_GO_ON:
    case SIM_SCHED_CLOCK_AHEAD:
    case SIM_SCHED_CLOCK_BACK:
    case SIM_SCHED_CLOCK_FREEZE:
        return sim_sched_apply_hold(world, event);
    case SIM_SCHED_KIND_COUNT:
        break;
    }
    return "there is no such event";
}

const char *
sim_sched_world_apply(struct sim_sched_world *world,
                      const struct sim_sched_event *event)
{
    const uint64_t before = world->now_ticks;
    const uint64_t limit = UINT64_C(1) << SIM_SCHED_SPAN_BITS;
    const char *why;

    if (event->proc >= world->procs_count)
        return "there is no such processor";
    if (event->stack != TRUTH_NO_STACK &&
        event->stack >= world->config.stacks_count)
        return "there is no such stack";
    if (world->now_ticks >= limit ||
        event->delay_ticks >= limit - world->now_ticks)
        return "the world ends before that";
    world->now_ticks += event->delay_ticks;
    why = sim_sched_held(world, event);
    if (why == NULL)
        why = apply(world, event);
    if (why != NULL)
        world->now_ticks = before;
    else if (world->config.is_eager && !world->reader_stalls &&
             event->kind != SIM_SCHED_READ)
        sim_sched_read(world, 0);
    return why;
}
