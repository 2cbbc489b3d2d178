/*
 * trace_rules.c -- checks that every state change of a goroutine is possible.
 *
 * A goroutine is unknown (dead), runnable, running or waiting; a processor runs
 * at most one goroutine. Goroutine 0 stands for the scheduler: it always runs,
 * on every processor that runs no other.
 *
 *              create            start            end, stop
 *      (unknown) --> runnable ------------> running ------------> dead
 *                     ^  ^ |  sched, preempt   |
 *                     |  +-|-------------------+
 *      unblock,       |    | waiting,          | block*, sleep,
 *      syscall exit   |    v in syscall        v syscall block
 *                     +--------- waiting <-----+
 *
 * For each event, the table below has the required state of the goroutine that
 * did it, and the state that follows. The few events that affect another
 * goroutine have a function each. At the end of the file any state is allowed.
 */
#include "model/trace/trace_reader.h"

#include <inttypes.h>
#include <stdlib.h>

enum state { DEAD, RUNNABLE, RUNNING, WAITING };

enum need {
    NEEDS_NOTHING,
    NEEDS_RUNNABLE,
    NEEDS_WAITING,
    NEEDS_PROC,       /* runs on the event's processor; not goroutine 0 */
    NEEDS_PROC_OR_G0, /* as above; or goroutine 0, if no other runs there */
};

/* Does the state change to `becomes`? Does the goroutine leave its processor?
 */
enum effect { KEEPS, BECOMES, LEAVES }; /* LEAVES: becomes, off the processor */

static const struct rule {
    enum need need;
    enum effect effect;
    enum state becomes;
} rules[MODEL_TRACE_TYPE_COUNT] = {
    [MODEL_TRACE_GO_CREATE] = {NEEDS_PROC_OR_G0, KEEPS, DEAD},
    [MODEL_TRACE_GO_WAITING] = {NEEDS_RUNNABLE, BECOMES, WAITING},
    [MODEL_TRACE_GO_IN_SYSCALL] = {NEEDS_RUNNABLE, BECOMES, WAITING},
    [MODEL_TRACE_GO_START] = {NEEDS_RUNNABLE, BECOMES, RUNNING},
    [MODEL_TRACE_GO_END] = {NEEDS_PROC, LEAVES, DEAD},
    [MODEL_TRACE_GO_STOP] = {NEEDS_PROC, LEAVES, DEAD},
    [MODEL_TRACE_GO_SCHED] = {NEEDS_PROC, LEAVES, RUNNABLE},
    [MODEL_TRACE_GO_PREEMPT] = {NEEDS_PROC, LEAVES, RUNNABLE},
    [MODEL_TRACE_GO_SLEEP] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_SEND] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_RECV] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_SELECT] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_SYNC] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_COND] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_BLOCK_NET] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_SYS_CALL] = {NEEDS_PROC, KEEPS, DEAD},
    [MODEL_TRACE_GO_SYS_BLOCK] = {NEEDS_PROC, LEAVES, WAITING},
    [MODEL_TRACE_GO_SYS_EXIT] = {NEEDS_WAITING, BECOMES, RUNNABLE},
};

struct task {
    uint64_t start_pc; /* if has_start_pc; until the first start */
    enum state state;
    bool is_known;     /* an earlier event named it */
    bool has_start_pc; /* created in this trace, not yet started */
    bool waits_net;    /* waits, and for the network */
};

struct proc {
    uint64_t g;
    bool is_running;
    bool scans;
    bool sweeps;
};

struct goroutine_rules {
    struct model_trace *trace;
    struct model_trace_map gs;
    struct task *tasks; /* by index in gs */
    uint32_t tasks_room;
    struct proc *procs; /* by index in trace->procs */
    bool collects;
};

/* The event that is being checked. */
struct scene {
    struct goroutine_rules *checked;
    struct model_trace_event *event;
    const char *name;
    struct proc *proc;
    int64_t proc_id;
    uint32_t actor; /* index of event->g */
};

#define REJECT(scene, ...)                                         \
    model_trace_reject((scene)->checked->trace, MODEL_TRACE_ERROR, \
                       (scene)->event->offset_bytes, __VA_ARGS__)

/* returns: the index of the goroutine; MODEL_TRACE_ABSENT if there is no
 *          memory */
static uint32_t
task_of(struct goroutine_rules *checked, uint64_t g)
{
    const uint32_t known = checked->gs.count;
    const uint32_t at = model_trace_map_put(&checked->gs, g);

    if (at == known) {
        struct task *tasks = model_trace_grow(
            checked->tasks, known, &checked->tasks_room, sizeof *tasks);
        if (tasks == NULL)
            return MODEL_TRACE_ABSENT;
        checked->tasks = tasks;
        tasks[at] = (struct task){.state = DEAD};
    }
    return at;
}

static enum model_trace_verdict
need_proc(const struct scene *scene, bool g0_may)
{
    const uint64_t g = scene->event->g;

    if (scene->checked->tasks[scene->actor].state != RUNNING)
        return REJECT(scene, "g %" PRIu64 " is not running at %s", g,
                      scene->name);
    if (scene->proc->g != g)
        return REJECT(
            scene, "p %" PRId64 " runs g %" PRIu64 ", not g %" PRIu64 ", at %s",
            scene->proc_id, scene->proc->g, g, scene->name);
    if (g == 0 && !g0_may)
        return REJECT(scene, "g 0 cannot do %s", scene->name);
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
check_need(const struct scene *scene, enum need need)
{
    const enum state state = scene->checked->tasks[scene->actor].state;

    switch (need) {
    case NEEDS_NOTHING:
        break;
    case NEEDS_RUNNABLE:
        if (state != RUNNABLE)
            return REJECT(scene, "g %" PRIu64 " is not runnable before %s",
                          scene->event->g, scene->name);
        break;
    case NEEDS_WAITING:
        if (state != WAITING)
            return REJECT(scene, "g %" PRIu64 " is not waiting before %s",
                          scene->event->g, scene->name);
        break;
    case NEEDS_PROC:
        return need_proc(scene, false);
    case NEEDS_PROC_OR_G0:
        return need_proc(scene, true);
    }
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
create(const struct scene *scene)
{
    const uint32_t at = task_of(scene->checked, scene->event->arg);

    if (at == MODEL_TRACE_ABSENT)
        return model_trace_no_memory(scene->checked->trace);
    if (scene->checked->tasks[at].is_known)
        return REJECT(scene, "g %" PRIu64 " exists already at GoCreate",
                      scene->event->arg);
    scene->checked->tasks[at] = (struct task){
        .state = RUNNABLE,
        .is_known = true,
        .start_pc = scene->event->pc,
        .has_start_pc = true,
    };
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
start(const struct scene *scene)
{
    struct task *task = &scene->checked->tasks[scene->actor];

    if (scene->proc->g != 0)
        return REJECT(scene,
                      "p %" PRId64 " runs g %" PRIu64
                      " already at GoStart of g %" PRIu64,
                      scene->proc_id, scene->proc->g, scene->event->g);
    scene->proc->g = scene->event->g;
    if (task->has_start_pc)
        scene->event->pc = task->start_pc;
    task->has_start_pc = false;
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
unblock(const struct scene *scene)
{
    struct goroutine_rules *checked = scene->checked;
    struct model_trace_event *event = scene->event;
    const bool by_timer = event->track == MODEL_TRACE_ON_TIMERS;

    if (checked->tasks[scene->actor].state != RUNNING)
        return REJECT(scene, "g %" PRIu64 " is not running at GoUnblock",
                      event->g);
    if (!by_timer && scene->proc->g != event->g)
        return REJECT(scene,
                      "p %" PRId64 " runs g %" PRIu64 ", not g %" PRIu64
                      ", at GoUnblock",
                      scene->proc_id, scene->proc->g, event->g);

    const uint32_t at = task_of(checked, event->arg);
    if (at == MODEL_TRACE_ABSENT)
        return model_trace_no_memory(checked->trace);

    struct task *target = &checked->tasks[at];
    if (target->state != WAITING)
        return REJECT(scene, "g %" PRIu64 " is not waiting before GoUnblock",
                      event->arg);
    if (target->waits_net && !by_timer)
        event->track = MODEL_TRACE_ON_NETWORK;
    target->state = RUNNABLE;
    return MODEL_TRACE_OK;
}

/* Collections, scans and sweeps must not begin twice, nor end before they
 * begin. */
static enum model_trace_verdict
open_phase(const struct scene *scene, bool *phase)
{
    if (*phase)
        return REJECT(scene, "%s while the previous one is not done",
                      scene->name);
    *phase = true;
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
close_phase(const struct scene *scene, bool *phase)
{
    if (!*phase)
        return REJECT(scene, "%s of what did not start", scene->name);
    *phase = false;
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
proc_start(const struct scene *scene)
{
    if (scene->proc->is_running)
        return REJECT(scene, "p %" PRId64 " is running before ProcStart",
                      scene->proc_id);
    scene->proc->is_running = true;
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
proc_stop(const struct scene *scene)
{
    if (!scene->proc->is_running)
        return REJECT(scene, "p %" PRId64 " is not running before ProcStop",
                      scene->proc_id);
    if (scene->proc->g != 0)
        return REJECT(scene, "p %" PRId64 " runs g %" PRIu64 " during ProcStop",
                      scene->proc_id, scene->proc->g);
    scene->proc->is_running = false;
    return MODEL_TRACE_OK;
}

/* Apply an event's effect on other goroutines and on the processor. */
static enum model_trace_verdict
act(const struct scene *scene)
{
    const uint8_t type = scene->event->type;

    if (type == MODEL_TRACE_PROC_START)
        return proc_start(scene);
    if (type == MODEL_TRACE_PROC_STOP)
        return proc_stop(scene);
    if (type == MODEL_TRACE_GC_START)
        return open_phase(scene, &scene->checked->collects);
    if (type == MODEL_TRACE_GC_DONE)
        return close_phase(scene, &scene->checked->collects);
    if (type == MODEL_TRACE_SCAN_START)
        return open_phase(scene, &scene->proc->scans);
    if (type == MODEL_TRACE_SCAN_DONE)
        return close_phase(scene, &scene->proc->scans);
    if (type == MODEL_TRACE_SWEEP_START)
        return open_phase(scene, &scene->proc->sweeps);
    if (type == MODEL_TRACE_SWEEP_DONE)
        return close_phase(scene, &scene->proc->sweeps);
    if (type == MODEL_TRACE_GO_CREATE)
        return create(scene);
    if (type == MODEL_TRACE_GO_START)
        return start(scene);
    if (type == MODEL_TRACE_GO_UNBLOCK)
        return unblock(scene);
    return MODEL_TRACE_OK;
}

static enum model_trace_verdict
play(struct goroutine_rules *checked, struct model_trace_event *event)
{
    const struct rule *rule = &rules[event->type];
    const struct scene scene = {
        .checked = checked,
        .event = event,
        .name = model_trace_type_name((enum model_trace_type)event->type),
        .proc = &checked->procs[event->proc],
        .proc_id = model_trace_proc_id(checked->trace, event->proc),
        .actor = task_of(checked, event->g),
    };

    if (scene.actor == MODEL_TRACE_ABSENT)
        return model_trace_no_memory(checked->trace);
    if (check_need(&scene, rule->need) != MODEL_TRACE_OK)
        return checked->trace->verdict;
    if (act(&scene) != MODEL_TRACE_OK)
        return checked->trace->verdict;

    struct task *actor = &checked->tasks[scene.actor];
    actor->is_known = true;
    if (rule->effect == KEEPS)
        return MODEL_TRACE_OK;
    actor->state = rule->becomes;
    actor->waits_net = event->type == MODEL_TRACE_GO_BLOCK_NET;
    if (rule->effect == LEAVES)
        scene.proc->g = 0;
    return MODEL_TRACE_OK;
}

enum model_trace_verdict
model_trace_obey(struct model_trace *trace)
{
    struct goroutine_rules checked = {
        .trace = trace,
        .procs = calloc(trace->procs.count, sizeof *checked.procs),
    };
    const uint32_t g0 = task_of(&checked, 0);

    if (checked.procs == NULL || g0 == MODEL_TRACE_ABSENT) {
        (void)model_trace_no_memory(trace);
    } else {
        checked.tasks[g0].state = RUNNING;
        checked.tasks[g0].is_known = true;
        for (uint32_t i = 0; i < trace->order_count; i++) {
            if (play(&checked, &trace->events[trace->order[i]]) !=
                MODEL_TRACE_OK)
                break;
        }
    }
    model_trace_map_release(&checked.gs);
    free(checked.tasks);
    free(checked.procs);
    return trace->verdict;
}
