/*
 * instrument_cpu.c -- the CPU profile of a world: a timer in world time drives
 * the library's code that records ticks.
 *
 *      world time   ----|-------|-------|-------|---->   a tick each period
 *      processor 0      [ task 1    ][ task 2 ]
 *      charged to           1       1       2
 *
 * Events take no world time; time passes between them. So a tick is charged to
 * the task that the last fact left on its processor, at the stack that the task
 * last reported. A processor that runs no task gets no tick.
 */
#include "sim/instruments/instrument_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/task_list.h"

enum {
    RING_TICKS = 256,
    STACKS = 2048,
    DEPTH = 64,
    /* Ticks that one event may have to take; a shorter period is refused. */
    TICKS_MAX = 1 << 14,
    SPAN_LOG2 = 30
};

struct cpu {
    struct sim_instrument instrument;
    struct prof_cpu *cpu;
    void *block;
    struct sim_cpu_profile profile;
    uint64_t period_ticks;
    uint64_t next_ticks;                    /* world time of the next tick */
    uint32_t undrained;                     /* ticks in the ring, at most */
    uint32_t on[SIM_PROCS_MAX];             /* the task there; 0: none */
    uint32_t stands[SIM_SCHEDULED_MAX + 1]; /* stack of each task */
    struct prof_label labels[SIM_SCHEDULED_MAX + 1];
    struct prof_label_set sets[SIM_SCHEDULED_MAX + 1];
    char numbers[SIM_SCHEDULED_MAX + 1][12];
};

static struct cpu *
cpu_of(const struct sim_world *world)
{
    return (struct cpu *)sim_world_instrument(world, SIM_CPU);
}

static void
destroy(struct sim_instrument *instrument)
{
    free(((struct cpu *)instrument)->block);
    free(instrument);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    const struct prof_cpu_config config = {
        .ticks_max = RING_TICKS, .stacks_max = STACKS, .depth_max = DEPTH};
    const size_t bytes = prof_cpu_bytes_needed(&config);
    struct cpu *cpu = calloc(1, sizeof *cpu);

    (void)limits;
    if (cpu == NULL)
        return NULL;
    cpu->instrument.kind = &sim_cpu;
    cpu->block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    if (cpu->block == NULL ||
        prof_cpu_init(&cpu->cpu, &config, cpu->block, bytes) != PROF_OK) {
        destroy(&cpu->instrument);
        return NULL;
    }
    for (uint32_t id = 0; id <= SIM_SCHEDULED_MAX; id++) {
        sim_task_number(cpu->numbers[id], id);
        cpu->labels[id] =
            (struct prof_label){.key = "task", .value = cpu->numbers[id]};
        cpu->sets[id] =
            (struct prof_label_set){.labels = &cpu->labels[id], .count = 1};
    }
    return &cpu->instrument;
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct cpu *cpu = (struct cpu *)instrument;

    if (!sim_world_config(world)->scheduled)
        return "there is no CPU time where processors take no tasks";
    if (prof_cpu_stop(cpu->cpu) !=
        PROF_OK) /* an earlier run may have left it running */
        return "the CPU profile of the run before does not end";
    memset(&cpu->profile, 0, sizeof cpu->profile);
    memset(cpu->on, 0, sizeof cpu->on);
    for (uint32_t id = 0; id <= SIM_SCHEDULED_MAX; id++)
        cpu->stands[id] = TRUTH_NO_STACK;
    return NULL;
}

/* ---- ticks ---- */

static uint64_t
period_of(const struct sim_world *world, uint64_t hz)
{
    return sim_world_config(world)->trace.ticks_per_us * 1000000 / hz;
}

static const char *
refuses(const struct sim_instrument *instrument, const struct sim_world *world,
        const struct sim_event *event)
{
    (void)instrument;
    if (event->kind != SIM_EV_CPU_START)
        return NULL;
    if (event->size_bytes == 0 || event->size_bytes > 1000000)
        return "a timer ticks 1 to 1000000 times a second";
    if (period_of(world, event->size_bytes) <
        (UINT64_C(1) << SPAN_LOG2) / TICKS_MAX)
        return "the timer would tick too often for the world's clock";
    return NULL;
}

static void
tick(struct cpu *cpu, const struct sim_world *world, uint32_t task)
{
    const struct sim_config *config = sim_world_config(world);
    const uint32_t stack = cpu->stands[task];
    const bool has = stack != TRUTH_NO_STACK;
    /* A task that has not reported a stack is where it began. */
    const uintptr_t start = (uintptr_t)sim_world_task(world, task)->pc + 1;

    if (cpu->undrained == RING_TICKS) {
        prof_cpu_drain(cpu->cpu);
        cpu->undrained = 0;
    }
    cpu->undrained++;
    prof_cpu_tick(cpu->cpu, has ? config->stacks[stack].frames : &start,
                  has ? config->stacks[stack].depth : 1, &cpu->sets[task]);
}

/* Let time pass, up to now. */
static void
pass(struct cpu *cpu, const struct sim_world *world)
{
    const uint64_t now_ticks = sim_world_now_ticks(world);

    for (; cpu->next_ticks <= now_ticks; cpu->next_ticks += cpu->period_ticks) {
        for (uint32_t proc = 0; proc < SIM_PROCS_MAX; proc++) {
            if (cpu->on[proc] != 0)
                tick(cpu, world, cpu->on[proc]);
        }
    }
}

/* ---- facts ---- */

static void
expect(struct cpu *cpu, const char *what, enum prof_status got,
       enum prof_status want)
{
    if (got != want && cpu->profile.wrong[0] == '\0')
        snprintf(cpu->profile.wrong, sizeof cpu->profile.wrong, "%s: %s", what,
                 prof_status_text(got));
}

static void
start(struct cpu *cpu, const struct sim_world *world, uint32_t hz)
{
    struct sim_cpu_profile *profile = &cpu->profile;

    expect(cpu, "start of a CPU profile", prof_cpu_start(cpu->cpu, hz),
           profile->is_on ? PROF_ERR_ACTIVE : PROF_OK);
    if (profile->is_on)
        return;
    profile->is_on = true;
    profile->begins++;
    profile->hz = hz;
    profile->begin_ns = sim_world_now_ns(world);
    cpu->undrained = 0;
    cpu->period_ticks = period_of(world, hz);
    cpu->next_ticks = sim_world_now_ticks(world) + cpu->period_ticks;
}

static void
stop(struct cpu *cpu, const struct sim_world *world)
{
    prof_cpu_drain(cpu->cpu);
    expect(cpu, "stop of a CPU profile", prof_cpu_stop(cpu->cpu), PROF_OK);
    if (cpu->profile.is_on)
        cpu->profile.end_ns = sim_world_now_ns(world);
    cpu->profile.is_on = false;
}

/* Does the task leave its processor at this fact? */
static bool
leaves(enum truth_kind kind)
{
    switch ((int)kind) {
    case TRUTH_END:
    case TRUTH_STOP:
    case TRUTH_YIELD:
    case TRUTH_PREEMPT:
    case TRUTH_SLEEP:
    case TRUTH_PARK:
    case TRUTH_PARK_SEND:
    case TRUTH_PARK_RECEIVE:
    case TRUTH_PARK_SELECT:
    case TRUTH_PARK_LOCK:
    case TRUTH_PARK_CONDITION:
    case TRUTH_PARK_NETWORK:
    case TRUTH_SYSBLOCK:
        return true;
    default:
        return false;
    }
}

static void
hear(struct sim_instrument *instrument, struct sim_world *world,
     const struct truth_entry *fact)
{
    struct cpu *cpu = (struct cpu *)instrument;

    if (cpu->profile.is_on)
        pass(cpu, world);
    if (fact->kind == TRUTH_CPU_START)
        start(cpu, world, (uint32_t)fact->size_bytes);
    if (fact->kind == TRUTH_CPU_STOP)
        stop(cpu, world);
    if (fact->proc >= SIM_PROCS_MAX || fact->task > SIM_SCHEDULED_MAX)
        return;
    if (fact->kind == TRUTH_RUN)
        cpu->on[fact->proc] = fact->task;
    /* In some facts `task` is not the acting task. */
    if (fact->task != 0 && fact->stack != TRUTH_NO_STACK &&
        cpu->on[fact->proc] == fact->task)
        cpu->stands[fact->task] = fact->stack;
    if (leaves(fact->kind))
        cpu->on[fact->proc] = 0;
}

static sim_hear *
hears(enum truth_kind kind)
{
    (void)kind; /* any fact may say where a task is */
    return hear;
}

/* Stop or restart the instrument. If a task has started a profile while the
 * instrument was stopped, that profile continues. */
static void
stop_or_start(struct sim_instrument *instrument, struct sim_world *world,
              bool stops)
{
    struct cpu *cpu = (struct cpu *)instrument;

    if (stops && cpu->profile.is_on) {
        pass(cpu, world);
        stop(cpu, world);
    } else if (!stops && !cpu->profile.is_on && cpu->profile.hz != 0) {
        start(cpu, world, (uint32_t)cpu->profile.hz);
    }
}

const struct sim_instrument_kind sim_cpu = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
    .refuses = refuses,
    .stop = stop_or_start,
};

/* ---- results ---- */

const struct sim_cpu_profile *
sim_cpu_profile(const struct sim_world *world)
{
    return &cpu_of(world)->profile;
}

/* End the profile, if it is still running. */
static void
finish(struct cpu *cpu, const struct sim_world *world)
{
    if (!cpu->profile.is_on)
        return;
    pass(cpu, world);
    stop(cpu, world);
}

enum prof_status
sim_cpu_write_text(struct sim_world *world, const struct prof_output *output)
{
    finish(cpu_of(world), world);
    return prof_cpu_write_text(cpu_of(world)->cpu, output);
}

enum prof_status
sim_cpu_write(struct sim_world *world, const struct prof_output *output)
{
    struct cpu *cpu = cpu_of(world);
    struct prof_output timed = *output;

    finish(cpu, world);
    timed.time_ns = (int64_t)cpu->profile.begin_ns;
    return prof_cpu_write(
        cpu->cpu, &timed,
        (int64_t)(cpu->profile.end_ns - cpu->profile.begin_ns));
}

struct prof_cpu_totals
sim_cpu_totals(const struct sim_world *world)
{
    return prof_cpu_totals(cpu_of(world)->cpu);
}
