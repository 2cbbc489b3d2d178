/* world_internal.h -- the fields of a world, for the files of the world. */
#ifndef SIM_WORLD_WORLD_INTERNAL_H
#define SIM_WORLD_WORLD_INTERNAL_H

#include "sim/world/locks.h"
#include "sim/world/world.h"

/* The faults of a processor and its clock, in world time. */
struct sim_clock_fault {
    int64_t jumped_ticks; /* sum of the jumps of its clock */
    uint64_t lost_ticks; /* ticks that its clock missed in all freezes that have
                            ended */
    uint64_t frozen_ticks; /* when the last freeze began */
    uint64_t thaws_ticks;  /* when the last freeze ends */
    uint64_t stalled_until_ticks;
};

struct sim_hearer {
    sim_hear *hear;
    struct sim_instrument *instrument;
};

struct sim_world {
    struct sim_config config;
    struct sim_limits limits;
    struct prof_rules rules; /* the configuration's, with its options */
    void *block;
    size_t block_bytes;
    struct prof *prof;
    struct sim_instrument *instruments[SIM_INSTRUMENT_COUNT];
    /* The receivers of each kind of fact, in order, then NULL. */
    struct sim_hearer hearers[TRUTH_KIND_COUNT][SIM_INSTRUMENT_COUNT + 1];
    uint32_t hearers_of; /* the instruments in that table */
    uint32_t stopped;    /* stopped instruments, which receive nothing */
    struct sim_object *objects;
    uint32_t objects_count;
    uint32_t objects_gone; /* all below this number are SIM_GONE */
    struct truth_log truth;
    struct sim_gc gc;
    uint64_t heap_bytes;
    struct sim_locks locks;
    bool locks_used; /* since the last reset */
    const struct sim_wake
        *wake; /* the wait's end that the current fact reports */
    struct sim_answer answer;
    uint64_t now_ticks;
    struct sim_clock_fault clock_faults[SIM_PROCS_MAX];
    bool holds_used; /* since the last reset */
    bool by_clock;   /* each fact advances the one clock */

    /* Where processors take tasks. */
    struct sim_task tasks[SIM_SCHEDULED_MAX + 1]; /* by number */
    uint32_t tasks_count;
    struct sim_proc procs[SIM_PROCS_MAX];
    uint32_t procs_count; /* that exist */
    uint32_t threads;     /* named so far */
    bool traces;
    bool unread; /* the previous trace is not yet read to its end */
    bool reader_stalls;
};

/* The processor on which an event happens. */
uint32_t sim_world_proc_of(const struct sim_world *world,
                           const struct sim_event *event);

/* Ticks that a processor's clock has missed in its current freeze. */
uint64_t sim_world_frozen_ticks(const struct sim_world *world, uint32_t proc);

/* What a processor's clock reads now. */
static inline int64_t
sim_world_reads(const struct sim_world *world, uint32_t proc)
{
    const struct sim_clock_fault *fault = &world->clock_faults[proc];
    uint64_t now_ticks = world->now_ticks;

    if (world->holds_used)
        now_ticks -= fault->lost_ticks + sim_world_frozen_ticks(world, proc);
    return (int64_t)((uint64_t)sim_clock_read(&world->config.clocks[proc],
                                              now_ticks) +
                     (uint64_t)fault->jumped_ticks);
}

/* Tell a fact that is already in the log to the instruments that want its
 * kind. */
static inline void
sim_world_notify(struct sim_world *world, const struct truth_entry *entry)
{
    const struct sim_hearer *hearer = world->hearers[entry->kind];

    for (; hearer->hear != NULL; hearer++)
        hearer->hear(hearer->instrument, world, entry);
}

void sim_world_log_scheduled(struct sim_world *world, enum truth_kind kind,
                             const struct sim_event *event, uint32_t object,
                             bool flag);

/* State a fact of an event, with the clock of its processor. */
static inline void
sim_world_log(struct sim_world *world, enum truth_kind kind,
              const struct sim_event *event, uint32_t object, bool flag)
{
    struct truth_entry *entry;

    if (world->config.scheduled) {
        sim_world_log_scheduled(world, kind, event, object, flag);
        return;
    }
    entry = truth_next(&world->truth);
    entry->kind = kind;
    entry->proc = event->task % world->config.procs;
    entry->at_ticks = sim_world_reads(world, entry->proc);
    entry->object = object;
    entry->stack = event->stack;
    entry->size_bytes = event->size_bytes;
    entry->cycles = event->cycles;
    entry->room = event->room;
    entry->task = 0;
    entry->lock = 0;
    entry->flag = flag;
    sim_world_notify(world, entry);
}

/*
 * State a fact, and tell it to the instruments. A fact that may be traced
 * advances the clock that orders the trace.
 *
 * in:      fact, without its time; clock_proc, the processor whose clock gives
 *          the time
 */
static inline void
sim_world_state(struct sim_world *world, uint32_t clock_proc,
                struct truth_entry fact)
{
    struct truth_entry *entry = truth_next(&world->truth);

    if (world->by_clock &&
        (fact.kind >= TRUTH_TASKS_FIRST || fact.kind == TRUTH_MARK ||
         fact.kind == TRUTH_TERMINATE))
        world->now_ticks += SIM_READINGS_MAX;
    fact.at_ticks = sim_world_reads(world, clock_proc);
    if (fact.kind == TRUTH_TRACE_START || fact.kind == TRUTH_TRACE_STOP)
        fact.cycles = (int64_t)sim_world_now_ns(world);
    *entry = fact;
    sim_world_notify(world, entry);
}

/* State a fact about a processor and the task on it. */
void sim_world_fact(struct sim_world *world, enum truth_kind kind,
                    uint32_t proc, uint32_t other, uint64_t value,
                    uint32_t stack);

/*
 * The rule of an event: what it does to the world. Rules are in objects.c,
 * blocks.c, world_wait.c and world_clock_fault.c; those of processors that take
 * tasks, in procs.c, tasks.c and sessions.c.
 *
 * returns: as sim_world_apply()
 */
typedef const char *sim_rule(struct sim_world *world,
                             const struct sim_event *event);
#define X(id, word, arguments, by, rule) sim_rule sim_world_apply_##rule;
#include "sim/world/event.def"
#undef X

/* blocks.c, with a subject: why the event cannot be passed to it, or NULL */
const char *sim_world_against_subject(const struct sim_world *world,
                                      const struct sim_event *event);

/* world_clock_fault.c: why a fault prevents the event, or NULL */
const char *sim_world_held(const struct sim_world *world,
                           const struct sim_event *event);

/* objects.c: drop all references to what the task there made. */
void sim_drop_all(struct sim_world *world, uint32_t proc);

/* procs.c, tasks.c: where processors take tasks */
extern const char sim_not_running[];
const char *sim_leave(struct sim_world *world, uint32_t proc,
                      enum sim_event_kind kind, uint32_t stack);
struct sim_task *sim_task_on(struct sim_world *world, uint32_t proc);
void sim_take_off(struct sim_world *world, uint32_t proc,
                  enum sim_task_state state);
void sim_lose_proc(struct sim_world *world, uint32_t proc);
void sim_run_task(struct sim_world *world, uint32_t proc, uint32_t id);

/* Stop the world, except for the processor `asking`. */
void sim_stop_world(struct sim_world *world, uint32_t asking);

#endif
