/*
 * cross_cpu.c -- X5: the ticks of a CPU profile against the running times of
 * tasks in a trace.
 *
 *      timer    .   |   .   .   .   .   .   |        a tick each period
 *      trace      [ task 7    ]   [ task 7 ]         running
 *      profile        1   1         1   1
 *
 * The timer ticks at whole periods from the beginning of the profile, and a
 * tick is charged to the task that runs then. So the number of a task's ticks
 * follows from the trace. Uncertain are only ticks so close to the begin or the
 * end of a running time that the rounding of the trace's and the profile's
 * times decides.
 *
 * Since times of several processors are compared, all must read one clock: if
 * clocks differ, drift, jump or stop, nothing is compared (has_one_clock).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/cross/cross.h"
#include "sim/instruments/instrument_cpu.h"
#include "model/pprof/pprof_reader.h"

struct counts {
    uint64_t reported; /* in the profile */
    uint64_t least;    /* according to the trace */
    uint64_t most;
};

struct cpus {
    struct cross *cross;
    int64_t divisor;
    int64_t late_ticks;  /* by how much a time in the trace may be too late */
    int64_t begin_error; /* the same for the beginning of the profile */
    int64_t period_ticks;
    int64_t begin_ticks; /* of the profile, by the one clock */
    int64_t end_ticks;
    struct counts tasks[CROSS_TASKS_MAX];
};

/* Clocks beyond this are not compared, since faults take them past 2^63. */
#define CLOCK_MAX (INT64_C(1) << 60)

/* Do all processors share one clock, so that their times can be compared? */
static bool
has_one_clock(const struct cross *cross)
{
    const struct sim_config *config = sim_world_config(cross->world);

    for (uint32_t i = 0; i < SIM_PROCS_MAX; i++) {
        if (config->clocks[i].drift_ppm != 0 ||
            config->clocks[i].offset_ticks != config->clocks[0].offset_ticks)
            return false;
    }
    return !cross->unsteady && config->clocks[0].offset_ticks < CLOCK_MAX;
}

/* returns: how often the timer has ticked so many ticks after the profile
 * began */
static uint64_t
ticks_until(const struct cpus *cpus, int64_t ticks)
{
    return ticks < 0 ? 0 : (uint64_t)(ticks / cpus->period_ticks);
}

/* Count the ticks of a time in which a task ran. in: times in ticks of the
 * trace */
static void
add_span(struct cpus *cpus, uint64_t g, int64_t from, int64_t to)
{
    struct counts *counts = &cpus->tasks[g < CROSS_TASKS_MAX ? g : 0];
    uint64_t surely_before;
    uint64_t surely_until;

    from = (from - 1) * cpus->divisor; /* ticks of a file count from 1 */
    to = (to - 1) * cpus->divisor;
    if (to > cpus->end_ticks)
        to = cpus->end_ticks;
    from -= cpus->begin_ticks;
    to -= cpus->begin_ticks;
    if (from > to)
        return;
    surely_before = ticks_until(cpus, from - cpus->begin_error);
    surely_until = ticks_until(cpus, to - cpus->begin_error);
    counts->most += ticks_until(cpus, to + cpus->late_ticks) - surely_before;
    if (surely_until > ticks_until(cpus, from + cpus->late_ticks))
        counts->least +=
            surely_until - ticks_until(cpus, from + cpus->late_ticks);
}

/* returns: false if clocks go beyond CLOCK_MAX */
static bool
add_trace(struct cpus *cpus, const struct model_trace *trace)
{
    struct cross_tasks *tasks = &cpus->cross->tasks;
    const struct model_trace_event *event;
    int64_t last_ticks = 0;

    cross_tasks_begin(tasks, trace, cpus->cross->order);
    while ((event = cross_tasks_peek(tasks)) != NULL) {
        const struct cross_task *task = cross_task(tasks, event->g);
        const bool ran = task != NULL && task->state == CROSS_RUNNING;
        const int64_t since_ticks = ran ? task->since_ticks : 0;

        if (event->ticks < 0 || event->ticks > CLOCK_MAX / cpus->divisor)
            return false;
        cross_tasks_next(tasks);
        if (ran && task->state != CROSS_RUNNING)
            add_span(cpus, event->g, since_ticks, event->ticks);
        last_ticks = event->ticks;
    }
    for (uint64_t g = 1; g < CROSS_TASKS_MAX; g++) {
        if (tasks->tasks[g].state == CROSS_RUNNING)
            add_span(cpus, g, tasks->tasks[g].since_ticks, last_ticks);
    }
    return true;
}

/* returns: the task to which a sample is charged; 0: no task is named */
static uint64_t
task_of(const struct model_pprof_sample *sample)
{
    for (size_t i = 0; i < sample->labels_count; i++) {
        if (strcmp(sample->labels[i].key, "task") == 0)
            return strtoull(sample->labels[i].text, NULL, 10);
    }
    return 0;
}

/* returns: false, with a breach noted, if the profile cannot be read */
static bool
add_profile(struct cpus *cpus, const struct cross_session *session)
{
    const struct sim_config *config = sim_world_config(cpus->cross->world);
    const uint64_t per_us = config->trace.ticks_per_us;
    struct model_pprof profile;

    if (!model_pprof_read(&profile, session->cpu, session->cpu_bytes)) {
        cross_breach(cpus->cross, PROPS_X5, "the CPU profile: %s",
                     profile.reason);
        return false;
    }
    cpus->begin_ticks = config->clocks[0].offset_ticks +
                        (int64_t)((uint64_t)profile.time_ns * per_us / 1000);
    cpus->end_ticks = cpus->begin_ticks +
                      (int64_t)((uint64_t)profile.duration_ns * per_us / 1000);
    for (size_t i = 0; i < profile.samples_count; i++) {
        const uint64_t task = task_of(&profile.samples[i]);

        if (task == 0 || task >= CROSS_TASKS_MAX)
            cross_breach(cpus->cross, PROPS_X5,
                         "%" PRId64 " CPU ticks are charged to no task",
                         profile.samples[i].values[0]);
        else
            cpus->tasks[task].reported +=
                (uint64_t)profile.samples[i].values[0];
    }
    model_pprof_release(&profile);
    return true;
}

void
cross_cpu(struct cross *cross, const struct cross_session *session,
          const struct model_trace *trace)
{
    static struct cpus cpus;
    const struct sim_config *config = sim_world_config(cross->world);
    const uint64_t per_us = config->trace.ticks_per_us;

    if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_CPU)) &&
        sim_cpu_profile(cross->world)->wrong[0] != '\0')
        cross_breach(cross, PROPS_X5, "%s",
                     sim_cpu_profile(cross->world)->wrong);
    if (session->has_cpu && session->cpu_status != PROF_OK)
        cross_breach(cross, PROPS_X5, "the CPU profile cannot be written: %s",
                     prof_status_text(session->cpu_status));
    if (!session->has_cpu || session->cpu_status != PROF_OK ||
        session->cpu_lost > 0 || !has_one_clock(cross)) {
        props_cover_hit(cross->cover, COVER_CROSS_CPU_UNJUDGED);
        return;
    }
    memset(&cpus, 0, sizeof cpus);
    cpus.cross = cross;
    cpus.divisor = config->trace.tick_divisor;
    cpus.late_ticks =
        cpus.divisor - 1 +
        (config->trace.by_clock ? 2 * (int64_t)SIM_READINGS_MAX : 0);
    cpus.begin_error = (int64_t)((per_us + 999) / 1000);
    cpus.period_ticks = (int64_t)(per_us * 1000000 / session->cpu_hz);
    if (!add_profile(&cpus, session) || !add_trace(&cpus, trace))
        return;
    for (uint64_t g = 1; g < CROSS_TASKS_MAX; g++) {
        const struct counts *counts = &cpus.tasks[g];

        if (counts->reported < counts->least || counts->reported > counts->most)
            cross_breach(cross, PROPS_X5,
                         "task %" PRIu64 " has %" PRIu64
                         " CPU ticks; it runs for %" PRIu64 " to %" PRIu64
                         " periods in the trace",
                         g, counts->reported, counts->least, counts->most);
        if (counts->reported > 0)
            props_cover_hit(cross->cover, COVER_CROSS_CPU);
    }
}
