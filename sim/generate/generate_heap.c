/*
 * generate_heap.c -- what tasks, the collector and the observer of a generated
 * heap do: one step at a time, or nothing. Answer 0 is always the dullest.
 */
#include "sim/generate/choice_labels.h"

#include "sim/world/locks.h"

/* ---- the tasks ---- */

static uint64_t
draw_size(struct sim_generator *g)
{
    static const uint64_t sizes[] = {16, 32, 4096, 1, 0};
    const uint32_t plain = 4;
    const uint32_t bound =
        g->features.odd_sizes ? sizeof sizes / sizeof *sizes : plain;

    if (sim_fault_strikes(&g->faults, SIM_FAULT_HUGE_SIZES))
        return (UINT64_C(1) << 63) - ask(g, 2, SIM_DATA, LABEL_SIZE);
    switch (g->features.sizes) {
    case SIM_SIZES_FEW:
        return sizes[ask(g, bound, SIM_DATA, LABEL_SIZE)];
    case SIM_SIZES_WIDE: /* every power of two about as often */
        return (UINT64_C(16) << ask(g, 16, SIM_DATA, LABEL_SIZE)) -
               8 * ask(g, 2, SIM_DATA, LABEL_SIZE);
    case SIM_SIZES_ONE:
        break;
    }
    return 16;
}

static bool
draw_alloc(struct sim_generator *g, const struct sim_world *world,
           struct sim_event *event)
{
    if (sim_world_objects_count(world) == SIM_EVENTS_MAX)
        return false;
    event->kind = SIM_EV_ALLOC;
    event->object = sim_world_objects_count(world);
    event->stack = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    event->size_bytes = draw_size(g);
    return true;
}

/* The first object to consider for dropping: do objects die young or old? */
static uint32_t
first_victim(struct sim_generator *g, uint32_t born)
{
    switch (g->features.lifetimes) {
    case SIM_DIE_OLDEST_FIRST:
        break;
    case SIM_DIE_YOUNGEST_FIRST:
        return born > 8 ? born - 8 : 0;
    case SIM_DIE_ANY:
        return born * ask(g, 8, SIM_DATA, LABEL_VICTIMS) / 8;
    }
    return 0;
}

/* Pick one of eight live objects, of any task. */
static bool
draw_victim(struct sim_generator *g, const struct sim_world *world,
            struct sim_event *event, enum sim_event_kind kind)
{
    uint32_t live[8];
    uint32_t count = 0;
    const uint32_t born = sim_world_objects_count(world);

    for (uint32_t i = sim_world_find(world, SIM_LIVE, first_victim(g, born));
         i < born && count < sizeof live / sizeof *live;
         i = sim_world_find(world, SIM_LIVE, i + 1))
        live[count++] = i;
    if (count == 0)
        return false;
    event->kind = kind;
    event->object = live[ask(g, count, SIM_DATA, LABEL_OBJECT)];
    return true;
}

static bool
draw_contention(struct sim_generator *g, struct sim_event *event,
                enum sim_event_kind kind)
{
    static const int64_t waits[] = {1, 0, -5, 100, INT64_MIN};

    event->kind = kind;
    event->stack = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    event->cycles =
        waits[ask(g, sizeof waits / sizeof *waits, SIM_DATA, LABEL_CYCLES)];
    if (sim_fault_strikes(&g->faults, SIM_FAULT_HUGE_WAITS))
        event->cycles = INT64_MAX >> ask(g, 3, SIM_DATA, LABEL_CYCLES);
    return true;
}

/* Give back a mutex that the task holds. returns: false if it holds none */
static bool
give_back(const struct sim_world *world, struct sim_event *event)
{
    for (event->lock = 0; event->lock < 2; event->lock++) {
        event->kind = SIM_EV_UNLOCK;
        if (sim_world_task_holds(world, event->task, event->lock, false))
            return true;
        event->kind = SIM_EV_UNLOCK_SHARED;
        if (sim_world_task_holds(world, event->task, event->lock, true))
            return true;
    }
    return false;
}

/* If another task already waits, replace an event that would wait as well by
 * one that wakes that task. */
static enum sim_event_kind
let_go(const struct sim_world *world, const struct sim_event *event)
{
    const struct sim_locks *locks = sim_world_locks(world);
    const struct sim_waiter *waiter;

    if (event->kind == SIM_EV_WAIT &&
        sim_locks_first(locks, SIM_LOCK_CONDITION, event->lock) != NULL)
        return SIM_EV_SIGNAL;
    if (event->kind == SIM_EV_ACQUIRE &&
        sim_locks_first(locks, SIM_LOCK_SEMAPHORE, event->lock) != NULL)
        return SIM_EV_RELEASE;
    waiter = sim_locks_first(locks, SIM_LOCK_CHANNEL, event->lock);
    if (waiter == NULL ||
        (event->kind != SIM_EV_SEND && event->kind != SIM_EV_RECEIVE))
        return event->kind;
    return waiter->shares ? SIM_EV_SEND : SIM_EV_RECEIVE;
}

/*
 * Draw a lock operation that is possible now. Locks are few, so that tasks
 * contend; operations that let a waiter go on are more likely, so that not all
 * tasks wait soon.
 */
static bool
draw_lock(struct sim_generator *g, const struct sim_world *world,
          struct sim_event *event)
{
    static const enum sim_event_kind kinds[] = {
        SIM_EV_LOCK,        SIM_EV_LOCK,      SIM_EV_LOCK,
        SIM_EV_LOCK_SHARED, SIM_EV_SEND,      SIM_EV_RECEIVE,
        SIM_EV_WAIT,        SIM_EV_BROADCAST, SIM_EV_ACQUIRE,
    };
    const enum sim_event_kind kind =
        kinds[ask(g, sizeof kinds / sizeof *kinds, SIM_OP, LABEL_LOCK_WORK)];
    const bool rash = ask(g, 4, SIM_OP, LABEL_LOCK_RASH) == 1;
    const bool mutex = kind == SIM_EV_LOCK || kind == SIM_EV_LOCK_SHARED;

    event->stack = ask(g, g->config.stacks_count, SIM_DATA, LABEL_STACK);
    if ((!rash || mutex) && give_back(world, event))
        return true;
    event->kind = kind;
    /* Three times in four the first lock. */
    event->lock = ask(g, 4, SIM_DATA, LABEL_LOCK) / 3;
    if (!rash)
        event->kind = let_go(world, event);
    return true;
}

static bool
draw_rate(struct sim_generator *g, struct sim_event *event)
{
    static const enum sim_event_kind kinds[] = {
        SIM_EV_BLOCK_RATE, SIM_EV_MUTEX_FRACTION, SIM_EV_HEAP_RATE};
    static const int64_t rates[] = {
        1, 10, 2, 100, 64, 0, -1, 1 << 20, INT64_C(1) << 40, INT64_MAX};

    event->kind =
        kinds[ask(g, sizeof kinds / sizeof *kinds, SIM_OP, LABEL_RATE_KIND)];
    event->cycles =
        rates[ask(g, sizeof rates / sizeof *rates, SIM_DATA, LABEL_RATE)];
    return true;
}

bool
sim_draw_work(struct sim_generator *g, const struct sim_world *world,
              enum sim_work work, struct sim_event *event)
{
    switch (work) {
    case WORK_ALLOC:
        return draw_alloc(g, world, event);
    case WORK_DROP:
        return draw_victim(g, world, event, SIM_EV_DROP);
    case WORK_FREE:
        return draw_victim(g, world, event,
                           g->features.explicit_free ? SIM_EV_FREE
                                                     : SIM_EV_DROP);
    case WORK_EXIT:
        event->kind = SIM_EV_TASK_EXIT;
        return true;
    case WORK_BLOCK:
        return draw_contention(g, event, SIM_EV_BLOCK);
    case WORK_MUTEX:
        return draw_contention(g, event, SIM_EV_MUTEX);
    case WORK_LOCK:
        return draw_lock(g, world, event);
    case WORK_RATE:
        return draw_rate(g, event);
    case WORK_REST:
        break;
    }
    return false;
}

/* ---- the collector and the observer ---- */

/* The next step of a collector that keeps the rules. */
static enum sim_event_kind
collector_step(const struct sim_world *world)
{
    const struct sim_gc *gc = sim_world_gc(world);

    if (gc->marking)
        return SIM_EV_GC_TERMINATE;
    if (gc->unflushed)
        return SIM_EV_GC_FLUSH;
    return gc->dead > 0 ? SIM_EV_GC_SWEEP : SIM_EV_GC_MARK;
}

/* Break the rules where a feature or a fault of this run says so. */
static enum sim_event_kind
bend_step(struct sim_generator *g, const struct sim_world *world,
          enum sim_event_kind step)
{
    const struct sim_features *f = &g->features;
    const struct sim_gc *gc = sim_world_gc(world);

    if (step == SIM_EV_GC_TERMINATE && f->stw_sweep &&
        ask(g, 3, SIM_OP, LABEL_STW) == 1)
        return SIM_EV_GC_TERMINATE_STW;
    /* A task may report the end of a sweep late, while the next cycle marks. */
    if (step == SIM_EV_GC_TERMINATE && f->post_sweep && gc->cycles > 0 &&
        !gc->unflushed && !gc->post_swept &&
        ask(g, 2, SIM_OP, LABEL_POST_SWEEP) == 1)
        return SIM_EV_GC_POST_SWEEP;
    if (step == SIM_EV_GC_FLUSH && gc->dead > 0 && f->late_flush &&
        ask(g, 2, SIM_SCHED, LABEL_LATE_FLUSH) == 1)
        return SIM_EV_GC_SWEEP;
    if ((step == SIM_EV_GC_FLUSH || gc->cycles == 0) && !gc->marking &&
        sim_fault_strikes(&g->faults, SIM_FAULT_EARLY_POST_SWEEP))
        return SIM_EV_GC_POST_SWEEP;
    if (step == SIM_EV_GC_FLUSH && gc->dead == 0 &&
        sim_fault_strikes(&g->faults, SIM_FAULT_MISSING_FLUSH))
        return SIM_EV_GC_MARK;
    if (step == SIM_EV_GC_SWEEP && !gc->post_swept &&
        sim_fault_strikes(&g->faults, SIM_FAULT_LATE_FREE))
        return SIM_EV_GC_POST_SWEEP;
    if (step == SIM_EV_GC_MARK && f->post_sweep && gc->cycles > 0 &&
        ask(g, 2, SIM_OP, LABEL_POST_SWEEP) == 1)
        return SIM_EV_GC_POST_SWEEP;
    return step;
}

bool
sim_draw_collection(struct sim_generator *g, const struct sim_world *world,
                    struct sim_event *event)
{
    if (ask(g, 4, SIM_OP, LABEL_COLLECT) == 0)
        return false;
    event->kind = bend_step(g, world, collector_step(world));
    if (event->kind == SIM_EV_GC_SWEEP) {
        uint32_t first = sim_world_find(world, SIM_DEAD, 0);

        /* Sweepers take spans in any order: the oldest, or the next one. */
        if (sim_world_gc(world)->dead > 1 &&
            ask(g, 2, SIM_SCHED, LABEL_SWEEP) == 1)
            first = sim_world_find(world, SIM_DEAD, first + 1);
        event->object = first;
        if (!g->config.scheduled)
            event->task = ask(g, g->config.procs, SIM_SCHED, LABEL_SWEEPER);
    }
    return true;
}

bool
sim_draw_reading(struct sim_generator *g, struct sim_event *event)
{
    static const uint32_t rooms[] = {SIM_ROOM_ENOUGH, 0, 1, 2};
    enum { REST, SNAPSHOT, ALL, ALL_TOO, ITERATE, BLOCK, MUTEX, READS };

    switch (ask(g, READS, SIM_OP, LABEL_READ)) {
    case SNAPSHOT:
        event->kind = SIM_EV_SNAPSHOT;
        break;
    case ALL:
    case ALL_TOO:
        event->kind = SIM_EV_SNAPSHOT_ALL;
        break;
    case ITERATE:
        event->kind = SIM_EV_ITERATE;
        return true;
    case BLOCK:
        event->kind = SIM_EV_BLOCK_SNAPSHOT;
        break;
    case MUTEX:
        event->kind = SIM_EV_MUTEX_SNAPSHOT;
        break;
    default:
        return false;
    }
    event->room = SIM_ROOM_ENOUGH;
    if (g->features.short_rooms)
        event->room =
            rooms[ask(g, sizeof rooms / sizeof *rooms, SIM_DATA, LABEL_ROOM)];
    return true;
}
