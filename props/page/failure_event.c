/* failure_event.c -- see failure_event.h. */
#include "props/page/failure_event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/judge/faults.h"
#include "sim/instruments/instrument_subject.h"
#include "common/json.h"
#include "sim/world/locks.h"

/* returns: the processor on which the event will happen; TRUTH_NO_PROC if it is
 * an event of the collector, or happens on no processor */
static uint32_t
column_of(const struct cli_event *at)
{
    const struct sim_event *event = &at->scenario->events[at->index];
    const struct sim_config *config = &at->scenario->config;
    const struct sim_world *world = at->run->judge.world;
    const char by = sim_event_by(event->kind);

    if (strncmp(sim_event_word(event->kind), "gc-", 3) == 0)
        return TRUTH_NO_PROC;
    if (!config->scheduled)
        return by == 'p'
                   ? event->proc
                   : event->task % (config->procs > 0 ? config->procs : 1);
    if (by != 't')
        return event->proc;
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        if (sim_world_proc(world, p)->task == event->task)
            return p;
    }
    return TRUTH_NO_PROC;
}

static const char *
phase_of(const struct sim_gc *gc)
{
    if (gc->marking)
        return "marking";
    if (gc->unflushed)
        return "terminated";
    return gc->dead > 0 ? "sweeping" : "idle";
}

static void
print_tasks(FILE *file, const struct sim_world *world)
{
    const char *comma = "";

    fputs(",\"procs\":[", file);
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        const uint32_t task = sim_world_proc(world, p)->task;

        fprintf(file, "%s\"", p > 0 ? "," : "");
        if (task != 0)
            fprintf(file, "t%" PRIu32 "%s", task,
                    sim_world_runs(world, p) ? "" : " in a system call");
        fprintf(file, "%s\"", sim_world_stalls(world, p) ? " (stalled)" : "");
    }
    fputs("],\"waiting\":[", file);
    for (uint32_t id = 1; id <= sim_world_tasks(world); id++) {
        const char *text = sim_task_text(sim_world_task(world, id));

        if (text == NULL)
            continue;
        fprintf(file, "%s\"t%" PRIu32 " %s\"", comma, id, text);
        comma = ",";
    }
    fprintf(file, "],\"tracing\":%s",
            sim_world_traces(world) ? "true" : "false");
}

/* Print the queue of each lock, in order of arrival. */
static void
print_queues(FILE *file, const struct sim_world *world)
{
    static const char *const kinds[] = {"mutex", "condition", "semaphore",
                                        "channel"};
    const struct sim_locks *locks = sim_world_locks(world);

    if (locks->waiters_count == 0)
        return;
    fputs(",\"queues\":[", file);
    for (uint32_t i = 0; i < locks->waiters_count; i++) {
        const struct sim_waiter *waiter = &locks->waiters[i];

        fprintf(file,
                "%s\"t%" PRIu32 " waits for %s %" PRIu32 " since tick %" PRId64
                "\"",
                i > 0 ? "," : "", waiter->task, kinds[waiter->kind],
                waiter->lock, waiter->began_ticks);
    }
    fputc(']', file);
}

static void
print_subject(FILE *file, const struct cli_event *at)
{
    const struct sim_subject_view *view =
        sim_subject_view(at->run->judge.world, 0);

    fputs(",\"shows\":[", file);
    for (size_t i = 0; i < view->count; i++) {
        const struct sim_subject_record *r = &view->records[i];

        fputs(i > 0 ? ",{\"stack\":" : "{\"stack\":", file);
        sim_json_string(file, r->site == SIM_SUBJECT_NOWHERE
                                  ? "?"
                                  : at->scenario->stack_names[r->site]);
        fprintf(file, ",\"objects\":%.15g,\"bytes\":%.15g}", r->live.objects,
                r->live.bytes);
    }
    fputc(']', file);
}

/* in: before, the coverage without the event */
static void
print_faults(FILE *file, const struct props_coverage *before,
             const struct props_coverage *after)
{
    const uint64_t met = props_faults_met(before, after);
    const char *comma = "";

    if (met == 0)
        return;
    fputs(",\"faults\":[", file);
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if ((met >> i & 1) == 0)
            continue;
        fputs(comma, file);
        sim_json_string(file, sim_fault_sentence((enum sim_fault)i));
        comma = ",";
    }
    fputc(']', file);
}

/* Print the event as its line in a scenario, without the end of line. */
static void
print_text(FILE *file, const struct sim_scenario *scenario, uint32_t index)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory != NULL) {
        sim_scenario_print_event(memory, scenario, &scenario->events[index]);
        if (fclose(memory) == 0 && bytes > 0)
            text[strcspn(text, "\n")] = '\0';
    }
    sim_json_string(file, text != NULL ? text : "?");
    free(text);
}

void
cli_event_begin(struct cli_event *at)
{
    at->column = column_of(at);
}

void
cli_event_print(FILE *file, const struct cli_event *at)
{
    struct props_run *run = at->run;
    const struct sim_world *world = run->judge.world;

    fprintf(file,
            "{\"n\":%" PRIu32 ",\"line\":%" PRIu32 ",\"text\":", at->index + 1,
            at->scenario->event_lines[at->index]);
    print_text(file, at->scenario, at->index);
    if (at->column != TRUTH_NO_PROC)
        fprintf(file, ",\"column\":%" PRIu32, at->column);
    fprintf(file, ",\"ticks\":%" PRIu64 ",\"phase\":\"%s\"",
            sim_world_now_ticks(world), phase_of(sim_world_gc(world)));
    if (at->buckets != NULL) {
        const struct prof_heap_phase phase =
            prof_heap_phase(sim_world_prof(world));

        fprintf(file, ",\"cycle\":%" PRIu32 ",\"flushed\":%s", phase.cycle,
                phase.flushed ? "true" : "false");
        cli_buckets_changes(file, at->buckets, &run->judge);
        if (!run->has_subject)
            cli_buckets_snapshot(file, at->buckets, &run->judge);
    }
    if (run->has_subject &&
        at->scenario->events[at->index].kind == SIM_EV_SNAPSHOT)
        print_subject(file, at);
    if (at->scenario->config.scheduled)
        print_tasks(file, world);
    print_queues(file, world);
    print_faults(file, &at->before, &run->cover);
    fputs("}\n", file);
    fflush(file);
}
