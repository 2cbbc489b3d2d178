/*
 * trace_stat.c -- see trace_stat.h. Walks over the events once: each event
 * closes the span that its goroutine was in and opens the next. The trace was
 * judged before, so every transition is legal here.
 */
#include "model/command/trace_stat.h"

#include <inttypes.h>
#include <stdlib.h>

struct life {
    enum model_trace_span span; /* MODEL_TRACE_SPAN_COUNT: not alive */
    int64_t since_ticks;
};

struct account {
    struct model_trace_stat *stat;
    const struct model_trace *trace;
    struct model_trace_map gs;
    struct life *lives; /* beside stat->tasks, by index in gs */
    uint32_t lives_room;
    uint32_t tasks_room;
    bool no_memory;
};

static uint64_t
elapsed(int64_t from_ticks, int64_t to_ticks)
{
    return (uint64_t)to_ticks - (uint64_t)from_ticks;
}

/* returns: the span that the goroutine is in after the event; SPAN_COUNT also
 * if it does not change */
static enum model_trace_span
span_after(uint8_t type, bool *changes)
{
    *changes = true;
    switch ((enum model_trace_type)type) {
    case MODEL_TRACE_GO_START:
        return MODEL_TRACE_RUN;
    case MODEL_TRACE_GO_CREATE:
    case MODEL_TRACE_GO_SCHED:
    case MODEL_TRACE_GO_PREEMPT:
    case MODEL_TRACE_GO_UNBLOCK:
    case MODEL_TRACE_GO_SYS_EXIT:
        return MODEL_TRACE_SCHED_WAIT;
    case MODEL_TRACE_GO_SLEEP:
    case MODEL_TRACE_GO_BLOCK:
    case MODEL_TRACE_GO_BLOCK_SEND:
    case MODEL_TRACE_GO_BLOCK_RECV:
    case MODEL_TRACE_GO_BLOCK_SELECT:
    case MODEL_TRACE_GO_BLOCK_SYNC:
    case MODEL_TRACE_GO_BLOCK_COND:
    case MODEL_TRACE_GO_BLOCK_NET:
    case MODEL_TRACE_GO_WAITING:
        return MODEL_TRACE_BLOCK;
    case MODEL_TRACE_GO_SYS_BLOCK:
    case MODEL_TRACE_GO_IN_SYSCALL:
        return MODEL_TRACE_SYSCALL;
    case MODEL_TRACE_GO_END:
    case MODEL_TRACE_GO_STOP:
        return MODEL_TRACE_SPAN_COUNT;
    case MODEL_TRACE_NONE:
    case MODEL_TRACE_BATCH:
    case MODEL_TRACE_FREQUENCY:
    case MODEL_TRACE_STACK:
    case MODEL_TRACE_GOMAXPROCS:
    case MODEL_TRACE_PROC_START:
    case MODEL_TRACE_PROC_STOP:
    case MODEL_TRACE_GC_START:
    case MODEL_TRACE_GC_DONE:
    case MODEL_TRACE_SCAN_START:
    case MODEL_TRACE_SCAN_DONE:
    case MODEL_TRACE_SWEEP_START:
    case MODEL_TRACE_SWEEP_DONE:
    case MODEL_TRACE_GO_SYS_CALL:
    case MODEL_TRACE_HEAP_ALLOC:
    case MODEL_TRACE_NEXT_GC:
    case MODEL_TRACE_TIMER_GOROUTINE:
    case MODEL_TRACE_FUTILE_WAKEUP:
    case MODEL_TRACE_TYPE_COUNT:
        break;
    }
    *changes = false;
    return MODEL_TRACE_SPAN_COUNT;
}

/* returns: the index of a task, MODEL_TRACE_ABSENT without memory */
static uint32_t
task_of(struct account *account, uint64_t g)
{
    const uint32_t known = account->gs.count;
    const uint32_t at = model_trace_map_put(&account->gs, g);

    if (at != known)
        return at;

    struct model_trace_task *tasks = model_trace_grow(
        account->stat->tasks, known, &account->tasks_room, sizeof *tasks);
    if (tasks == NULL)
        return MODEL_TRACE_ABSENT;
    account->stat->tasks = tasks;
    tasks[at] = (struct model_trace_task){.g = g};

    struct life *lives = model_trace_grow(account->lives, known,
                                          &account->lives_room, sizeof *lives);
    if (lives == NULL)
        return MODEL_TRACE_ABSENT;
    account->lives = lives;
    lives[at] = (struct life){.span = MODEL_TRACE_SPAN_COUNT};
    account->stat->tasks_count = at + 1;
    return at;
}

static void
move(struct account *account, uint32_t at, enum model_trace_span next,
     int64_t now_ticks)
{
    struct model_trace_task *task = &account->stat->tasks[at];
    struct life *life = &account->lives[at];

    if (life->span != MODEL_TRACE_SPAN_COUNT) {
        const uint64_t ticks = elapsed(life->since_ticks, now_ticks);
        task->span_ticks[life->span] += ticks;
        task->lifetime_ticks += ticks;
    }
    *life = (struct life){.span = next, .since_ticks = now_ticks};
}

static void
book_task(struct account *account, const struct model_trace_event *event)
{
    const bool other = event->type == MODEL_TRACE_GO_CREATE ||
                       event->type == MODEL_TRACE_GO_UNBLOCK;
    bool changes;
    const enum model_trace_span next = span_after(event->type, &changes);

    if (event->g != 0) {
        const uint32_t actor = task_of(account, event->g);
        account->no_memory |= actor == MODEL_TRACE_ABSENT;
        if (account->no_memory)
            return;
        account->stat->tasks[actor].events++;
    }
    if (!changes)
        return;

    const uint32_t at = task_of(account, other ? event->arg : event->g);
    account->no_memory |= at == MODEL_TRACE_ABSENT;
    if (!account->no_memory)
        move(account, at, next, event->ticks);
}

/*
 * Sum spans without pairing starts and ends: add the time of each end and
 * subtract that of each start. A span that is still open ends with the trace.
 */
static void
book_phase(struct model_trace_phase *phase, bool starts, uint64_t ticks)
{
    phase->count += starts ? 1 : 0;
    phase->ticks += starts ? 0 - ticks : ticks;
}

static void
book_phases(struct model_trace_stat *stat,
            const struct model_trace_event *event, uint64_t ticks)
{
    const uint8_t type = event->type;

    if (type == MODEL_TRACE_GC_START || type == MODEL_TRACE_GC_DONE)
        book_phase(&stat->gc, type == MODEL_TRACE_GC_START, ticks);
    if (type == MODEL_TRACE_SCAN_START || type == MODEL_TRACE_SCAN_DONE)
        book_phase(&stat->scan, type == MODEL_TRACE_SCAN_START, ticks);
    if (type == MODEL_TRACE_SWEEP_START || type == MODEL_TRACE_SWEEP_DONE)
        book_phase(&stat->sweep, type == MODEL_TRACE_SWEEP_START, ticks);
}

static void
close_phases(struct model_trace_stat *stat)
{
    const uint64_t *by_type = stat->events_by_type;

    stat->gc.ticks += stat->span_ticks * (by_type[MODEL_TRACE_GC_START] -
                                          by_type[MODEL_TRACE_GC_DONE]);
    stat->scan.ticks += stat->span_ticks * (by_type[MODEL_TRACE_SCAN_START] -
                                            by_type[MODEL_TRACE_SCAN_DONE]);
    stat->sweep.ticks += stat->span_ticks * (by_type[MODEL_TRACE_SWEEP_START] -
                                             by_type[MODEL_TRACE_SWEEP_DONE]);
}

static int
by_g(const void *a, const void *b)
{
    const uint64_t left = ((const struct model_trace_task *)a)->g;
    const uint64_t right = ((const struct model_trace_task *)b)->g;

    return (left > right) - (left < right);
}

static void
add_up(struct account *account)
{
    const struct model_trace *trace = account->trace;
    struct model_trace_stat *stat = account->stat;
    const uint32_t count = model_trace_count(trace);
    int64_t last_ticks = 0;

    for (uint32_t i = 0; i < count && !account->no_memory; i++) {
        const struct model_trace_event *event = model_trace_at(trace, i);
        last_ticks = event->ticks;
        stat->span_ticks = elapsed(model_trace_at(trace, 0)->ticks, last_ticks);
        stat->events_by_type[event->type]++;
        book_phases(stat, event, stat->span_ticks);
        book_task(account, event);
    }
    if (account->no_memory)
        return;
    close_phases(stat);
    for (uint32_t i = 0; i < stat->tasks_count; i++)
        move(account, i, MODEL_TRACE_SPAN_COUNT, last_ticks);
    if (stat->tasks_count > 0)
        qsort(stat->tasks, stat->tasks_count, sizeof *stat->tasks, by_g);
}

bool
model_trace_stat_make(struct model_trace_stat *stat,
                      const struct model_trace *trace)
{
    struct account account = {.stat = stat, .trace = trace};

    *stat = (struct model_trace_stat){0};
    add_up(&account);
    model_trace_map_release(&account.gs);
    free(account.lives);
    if (account.no_memory)
        model_trace_stat_release(stat);
    return !account.no_memory;
}

void
model_trace_stat_release(struct model_trace_stat *stat)
{
    free(stat->tasks);
    *stat = (struct model_trace_stat){0};
}

static void
print_file(const struct model_trace_stat *stat, const struct model_trace *trace,
           FILE *to)
{
    const uint64_t bytes = trace->wire.bytes_count;
    const uint64_t events = trace->events_count;
    const uint64_t centi = bytes * 100 / events;

    fprintf(to, "  %-16s %" PRIu64 "\n", "bytes", bytes);
    fprintf(to, "  %-16s %" PRIu32 "\n", "events", model_trace_count(trace));
    fprintf(to, "  %-16s %" PRIu64 "\n", "futile-removed",
            trace->futile_events);
    fprintf(to, "  %-16s %" PRIu64 ".%02" PRIu64 "\n", "bytes-per-event",
            centi / 100, centi % 100);
    fprintf(to, "  %-16s %" PRIu64 "\n", "batches", trace->batches);
    fprintf(to, "  %-16s %" PRIu32 "\n", "processors", trace->procs.count);
    fprintf(to, "  %-16s %" PRIu64 "\n", "stacks", trace->stack_records);
    fprintf(to, "  %-16s %" PRIu64 "\n", "duplicate-seqs",
            trace->duplicate_seqs);
    fprintf(to, "  %-16s %" PRId64 "\n", "ticks-per-second",
            trace->ticks_per_second);
    fprintf(to, "  %-16s %" PRIu64 "\n", "span-ns",
            model_trace_span_ns(trace, stat->span_ticks));
}

static void
print_phase(const char *name, const struct model_trace_phase *phase,
            const struct model_trace *trace, FILE *to)
{
    fprintf(to, "  %-16s %" PRIu64 " in %" PRIu64 "\n", name,
            model_trace_span_ns(trace, phase->ticks), phase->count);
}

void
model_trace_stat_print(const struct model_trace_stat *stat,
                       const struct model_trace *trace, FILE *to)
{
    print_file(stat, trace, to);
    print_phase("gc-ns", &stat->gc, trace, to);
    print_phase("gc-scan-ns", &stat->scan, trace, to);
    print_phase("gc-sweep-ns", &stat->sweep, trace, to);

    fprintf(to, "\n  %-16s %12s\n", "event", "count");
    for (unsigned i = 0; i < MODEL_TRACE_TYPE_COUNT; i++) {
        if (stat->events_by_type[i] > 0)
            fprintf(to, "  %-16s %12" PRIu64 "\n",
                    model_trace_type_name((enum model_trace_type)i),
                    stat->events_by_type[i]);
    }

    fprintf(to, "\n  %8s %8s %14s %14s %14s %14s %14s\n", "g", "events",
            "run-ns", "block-ns", "sched-wait-ns", "syscall-ns", "lifetime-ns");
    for (uint32_t i = 0; i < stat->tasks_count; i++) {
        const struct model_trace_task *task = &stat->tasks[i];
        fprintf(to, "  %8" PRIu64 " %8" PRIu64, task->g, task->events);
        for (unsigned span = 0; span < MODEL_TRACE_SPAN_COUNT; span++)
            fprintf(to, " %14" PRIu64,
                    model_trace_span_ns(trace, task->span_ticks[span]));
        fprintf(to, " %14" PRIu64 "\n",
                model_trace_span_ns(trace, task->lifetime_ticks));
    }
}
