/* sched_inside.h -- the insides of a traced world; for sim/sched_*.c only. */
#ifndef SIM_SCHED_INSIDE_H
#define SIM_SCHED_INSIDE_H

#include "sched_world.h"

/* The first pc of a task. */
#define SIM_SCHED_PC(id) (UINT64_C(0x400000) + 16 * (uint64_t)(id))

struct sim_sched_world {
    struct sim_sched_config config;
    void *block;
    size_t block_bytes;
    struct prof_trace *trace;
    struct truth_steps truth;
    struct sim_sched_session sessions[SIM_SCHED_SESSIONS_MAX];
    uint32_t sessions_count;
    struct sim_sched_answers answers;
    const uint8_t *lent; /* by the tracer, not copied yet */
    size_t lent_bytes;

    struct sim_sched_task tasks[SIM_SCHED_TASKS_MAX + 1]; /* by number */
    uint32_t tasks_count;
    struct sim_sched_proc procs[SIM_SCHED_PROCS_MAX];
    uint32_t procs_count; /* that exist */
    uint64_t threads;     /* named so far */
    uint64_t now_ticks;
    uint64_t clock_ticks; /* what the clock at hand reads */
    uint32_t announced;   /* tasks told to the tracer at a start */
    bool traces;
    bool is_unread; /* the session before has not been read to its end */
    bool collects;
    bool reader_stalls;
};

/* Let the clock of a processor be the one at hand. */
void sim_sched_look(struct sim_sched_world *world, uint32_t proc);

/*
 * State a fact, at the clock of step->proc, or of the one at hand if that is
 * none. in: step, without its times
 */
void sim_sched_tell(struct sim_sched_world *world, struct truth_step step);

/* Trace an event with at most two arguments. */
void sim_sched_emit(struct sim_sched_world *world, uint32_t proc,
                    enum prof_trace_event event, uint64_t a, uint64_t b,
                    uint32_t stack);

/* The reader takes up to `chunks`, 0: all there are. */
void sim_sched_read(struct sim_sched_world *world, uint64_t chunks);

/* Call the tracer's start and stop, and look at the answer. */
void sim_sched_start_trace(struct sim_sched_world *world, uint32_t proc);
void sim_sched_stop_trace(struct sim_sched_world *world, uint32_t proc,
                          uint32_t stack);

/* ------------------------------------------------------------ sched_procs.c */

extern const char sim_sched_not_running[];

/* State a fact about a processor and whoever is on it. */
void sim_sched_fact(struct sim_sched_world *world, enum truth_step_kind kind,
                    uint32_t proc, uint64_t other, uint64_t value,
                    uint32_t stack);

/* A fact and the event that tells it, both without arguments. */
void sim_sched_happen(struct sim_sched_world *world, enum truth_step_kind kind,
                      uint32_t proc, enum prof_trace_event event,
                      uint32_t stack);

struct sim_sched_task *sim_sched_task_on(struct sim_sched_world *world,
                                         uint32_t proc);

/* Does a task run there, not being in a system call? */
bool sim_sched_runs(struct sim_sched_world *world, uint32_t proc);

/* Does the scheduler itself run there? */
bool sim_sched_is_free(const struct sim_sched_world *world, uint32_t proc);

void sim_sched_take_off(struct sim_sched_world *world, uint32_t proc,
                        enum sim_task_state state);
void sim_sched_lose_proc(struct sim_sched_world *world, uint32_t proc);

/* Stop the world but for the processor that asks. */
void sim_sched_stop_world(struct sim_sched_world *world, uint32_t asking);
void sim_sched_run_task(struct sim_sched_world *world, uint32_t proc,
                        uint64_t id);

/* The rules. returns: as sim_sched_world_apply() */
const char *sim_sched_apply_proc(struct sim_sched_world *world,
                                 const struct sim_sched_event *event);
const char *sim_sched_apply_procs(struct sim_sched_world *world,
                                  const struct sim_sched_event *event);

/* ------------------------------------------------------------ sched_hold.c */

/* Why a fault keeps the event from happening. returns: NULL if none does */
const char *sim_sched_held(const struct sim_sched_world *world,
                           const struct sim_sched_event *event);
const char *sim_sched_apply_hold(struct sim_sched_world *world,
                                 const struct sim_sched_event *event);

/* returns: world time as a processor's clock has it */
uint64_t sim_sched_clock_now(const struct sim_sched_world *world,
                             uint32_t proc);

/* ------------------------------------------------------------ sched_tasks.c */

const char *sim_sched_apply_create(struct sim_sched_world *world,
                                   const struct sim_sched_event *event);
const char *sim_sched_apply_run(struct sim_sched_world *world,
                                const struct sim_sched_event *event);
const char *sim_sched_apply_leave(struct sim_sched_world *world, uint32_t proc,
                                  enum sim_sched_kind kind, uint32_t stack);
const char *sim_sched_apply_again(struct sim_sched_world *world,
                                  const struct sim_sched_event *event);
const char *sim_sched_apply_wake(struct sim_sched_world *world,
                                 const struct sim_sched_event *event);
const char *sim_sched_apply_in_syscall(struct sim_sched_world *world,
                                       const struct sim_sched_event *event);
const char *sim_sched_apply_away(struct sim_sched_world *world,
                                 const struct sim_sched_event *event);

#endif
