/* trace_times.c -- see trace_times.h. */
#include "trace_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { RUN, BLOCK, WAIT, SYSCALL, DEAD, STATES };

/* What a goroutine is in after it has done this. */
static const struct {
    const char *type;
    int state;
} acts[] = {
    {"GoStart", RUN},       {"GoSched", WAIT},       {"GoPreempt", WAIT},
    {"GoSysExit", WAIT},    {"GoSleep", BLOCK},      {"GoBlock", BLOCK},
    {"GoBlockSend", BLOCK}, {"GoBlockRecv", BLOCK},  {"GoBlockSelect", BLOCK},
    {"GoBlockSync", BLOCK}, {"GoBlockCond", BLOCK},  {"GoBlockNet", BLOCK},
    {"GoWaiting", BLOCK},   {"GoSysBlock", SYSCALL}, {"GoInSyscall", SYSCALL},
    {"GoEnd", DEAD},        {"GoStop", DEAD},
};

static const struct model_trace_event *
event_at(const struct model_trace *trace, uint32_t at)
{
    return &trace->events[trace->order[at]];
}

static const char *
type_of(const struct model_trace_event *event)
{
    return model_trace_type_name((enum model_trace_type)event->type);
}

static uint64_t
ns_of(const struct model_trace *trace, uint64_t ticks)
{
    const uint64_t rate = (uint64_t)trace->ticks_per_second;

    return ticks / rate * 1000000000 + ticks % rate * 1000000000 / rate;
}

/* Of the goroutine that another one, or none, has made ready. */
static bool
readies(const struct model_trace_event *event)
{
    return strcmp(type_of(event), "GoCreate") == 0 ||
           strcmp(type_of(event), "GoUnblock") == 0;
}

/* returns: the state of a goroutine after an event */
static int
state_after(const struct model_trace_event *event, uint64_t g, int state)
{
    if (readies(event) && event->arg == g)
        return WAIT;
    for (size_t i = 0; i < sizeof acts / sizeof *acts && event->g == g; i++) {
        if (strcmp(acts[i].type, type_of(event)) == 0)
            return acts[i].state;
    }
    return state;
}

static void
put_goroutine(FILE *to, const struct model_trace *trace, uint64_t g)
{
    uint64_t ticks[STATES] = {0};
    uint64_t events = 0;
    int state = DEAD;

    for (uint32_t i = 0; i < trace->order_count; i++) {
        const struct model_trace_event *event = event_at(trace, i);

        if (i > 0)
            ticks[state] += (uint64_t)event->ticks -
                            (uint64_t)event_at(trace, i - 1)->ticks;
        events += event->g == g;
        state = state_after(event, g, state);
    }
    fprintf(to, "  %8" PRIu64 " %8" PRIu64, g, events);
    for (int i = 0; i < DEAD; i++)
        fprintf(to, " %14" PRIu64, ns_of(trace, ticks[i]));
    fprintf(
        to, " %14" PRIu64 "\n",
        ns_of(trace, ticks[RUN] + ticks[BLOCK] + ticks[WAIT] + ticks[SYSCALL]));
}

/* returns: the smallest goroutine above this one; 0: there is none */
static uint64_t
goroutine_above(const struct model_trace *trace, uint64_t g)
{
    uint64_t next = 0;

    for (uint32_t i = 0; i < trace->order_count; i++) {
        const struct model_trace_event *event = event_at(trace, i);
        const uint64_t seen[] = {event->g, readies(event) ? event->arg : 0};

        for (int k = 0; k < 2; k++) {
            if (seen[k] > g && (next == 0 || seen[k] < next))
                next = seen[k];
        }
    }
    return next;
}

/* What began and has no end lasts as long as the trace. */
static void
put_phase(FILE *to, const struct model_trace *trace, const char *name,
          const char *start, const char *done)
{
    const uint64_t end =
        (uint64_t)event_at(trace, trace->order_count - 1)->ticks;
    uint64_t ticks = 0;
    uint64_t count = 0;

    for (uint32_t i = 0; i < trace->order_count; i++) {
        const struct model_trace_event *event = event_at(trace, i);

        if (strcmp(type_of(event), start) == 0) {
            ticks += end - (uint64_t)event->ticks;
            count++;
        } else if (strcmp(type_of(event), done) == 0) {
            ticks -= end - (uint64_t)event->ticks;
        }
    }
    fprintf(to, "  %-16s %" PRIu64 " in %" PRIu64 "\n", name,
            ns_of(trace, ticks), count);
}

static void
put_counts(FILE *to, const struct model_trace *trace)
{
    fprintf(to, "\n  event                   count\n");
    for (int type = 0; type < MODEL_TRACE_TYPE_COUNT; type++) {
        uint64_t count = 0;

        for (uint32_t i = 0; i < trace->order_count; i++)
            count += event_at(trace, i)->type == type;
        if (count > 0)
            fprintf(to, "  %-16s %12" PRIu64 "\n",
                    model_trace_type_name((enum model_trace_type)type), count);
    }
}

char *
trace_times_wanted(const struct model_trace *trace, const char *path)
{
    const uint64_t centi = trace->wire.bytes_count * 100 / trace->events_count;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    uint64_t g = 0;

    assert_non_null(to);
    fprintf(to, "%s\n  bytes            %" PRIu64 "\n", path,
            (uint64_t)trace->wire.bytes_count);
    fprintf(to, "  events           %" PRIu32 "\n", trace->order_count);
    fprintf(to, "  futile-removed   %" PRIu64 "\n", trace->futile_events);
    fprintf(to, "  bytes-per-event  %" PRIu64 ".%02" PRIu64 "\n", centi / 100,
            centi % 100);
    fprintf(to, "  batches          %" PRIu64 "\n", trace->batches);
    fprintf(to, "  processors       %" PRIu32 "\n", trace->procs.count);
    fprintf(to, "  stacks           %" PRIu64 "\n", trace->stack_records);
    fprintf(to, "  duplicate-seqs   %" PRIu64 "\n", trace->duplicate_seqs);
    fprintf(to, "  ticks-per-second %" PRId64 "\n", trace->ticks_per_second);
    fprintf(
        to, "  span-ns          %" PRIu64 "\n",
        ns_of(trace, (uint64_t)event_at(trace, trace->order_count - 1)->ticks -
                         (uint64_t)event_at(trace, 0)->ticks));
    put_phase(to, trace, "gc-ns", "GCStart", "GCDone");
    put_phase(to, trace, "gc-scan-ns", "GCScanStart", "GCScanDone");
    put_phase(to, trace, "gc-sweep-ns", "GCSweepStart", "GCSweepDone");
    put_counts(to, trace);
    fputs("\n         g   events         run-ns       block-ns  sched-wait-ns"
          "     syscall-ns    lifetime-ns\n",
          to);
    while ((g = goroutine_above(trace, g)) != 0)
        put_goroutine(to, trace, g);
    assert_int_equal(fclose(to), 0);
    return text;
}
