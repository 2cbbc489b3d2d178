/*
 * cross_without.c -- repeat a run without an instrument, and with the
 * instrument stopped during the second third.
 */
#include "props/cross/cross_without.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/generate/generate.h"
#include "sim/instruments/instrument_cpu.h"
#include "sim/instruments/instrument_debug.h"
#include "sim/instruments/instrument_tasks.h"
#include "sim/instruments/instrument_threads.h"
#include "sim/instruments/instrument_trace.h"

/* The quiet end has at most this many events: one for each processor and task,
 * and a few to read. */
enum { FILE_BYTES = 1 << 18, RECORDS = 4096, QUIET_EVENTS_MAX = 64 };

void
cross_without_release(struct cross_without *without)
{
    sim_world_delete(without->whole);
    sim_world_delete(without->less);
    sim_world_delete(without->stopped);
    without->whole = NULL;
    without->less = NULL;
    without->stopped = NULL;
}

static void differ(struct cross_without *without, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
differ(struct cross_without *without, const char *format, ...)
{
    va_list arguments;
    int used;

    if (without->difference[0] != '\0')
        return;
    used = snprintf(without->difference, sizeof without->difference,
                    without->other == without->stopped
                        ? "with the instrument '%s' stopped and started, "
                        : "without the instrument '%s', ",
                    sim_instrument_word(without->left_out));
    va_start(arguments, format);
    vsnprintf(without->difference + used,
              sizeof without->difference - (size_t)used, format, arguments);
    va_end(arguments);
}

static void
begin(struct cross_without *without, const struct sim_config *config)
{
    struct sim_config less = *config;
    const char *why;

    without->is_sampled = false;
    without->is_stopped = false;
    without->switches = 0;
    without->other = NULL;
    without->difference[0] = '\0';
    if (without->whole == NULL)
        without->whole = sim_world_new(&without->limits);
    if (without->less == NULL)
        without->less = sim_world_new(&without->limits);
    if (without->stopped == NULL)
        without->stopped = sim_world_new(&without->limits);
    if (without->whole == NULL || without->less == NULL ||
        without->stopped == NULL) {
        differ(without, "there is not enough memory to try");
        return;
    }
    less.instruments &= ~SIM_INSTRUMENT_BIT(without->left_out);
    why = sim_world_reset(without->whole, config);
    if (why == NULL)
        why = sim_world_reset(without->less, &less);
    if (why == NULL)
        why = sim_world_reset(without->stopped, config);
    if (why != NULL)
        differ(without, "the world refuses to begin: %s", why);
}

/* ---- readings ---- */

static bool
same_stack(const uintptr_t *a, uint32_t a_depth, const uintptr_t *b,
           uint32_t b_depth)
{
    return a_depth == b_depth &&
           (a_depth == 0 || memcmp(a, b, a_depth * sizeof *a) == 0);
}

static bool
same_heap(const struct prof_heap_record *a, const struct prof_heap_record *b)
{
    return a->allocs == b->allocs && a->frees == b->frees &&
           a->size_bytes == b->size_bytes && a->rate_bytes == b->rate_bytes &&
           same_stack(a->stack, a->depth, b->stack, b->depth);
}

static bool
same_contention(const struct prof_contention_record *a,
                const struct prof_contention_record *b)
{
    return a->count == b->count && a->cycles == b->cycles &&
           same_stack(a->stack, a->depth, b->stack, b->depth);
}

/* returns: the instrument that an event reads */
static enum sim_instrument_id
read_by(enum sim_event_kind kind)
{
    return kind == SIM_EV_BLOCK_SNAPSHOT || kind == SIM_EV_MUTEX_SNAPSHOT
               ? SIM_CONTENTION
               : SIM_HEAP_PROFILE;
}

/* Do the two share buckets and random numbers? The heap and the contention
 * profiles do. */
static bool
is_independent(const struct cross_without *without, enum sim_instrument_id id)
{
    const bool shares =
        (SIM_PROFILES & SIM_INSTRUMENT_BIT(id)) != 0 &&
        (SIM_PROFILES & SIM_INSTRUMENT_BIT(without->left_out)) != 0;

    return !shares || !without->is_sampled;
}

static void
compare_answers(struct cross_without *without, const struct sim_world *judged,
                const struct sim_event *event)
{
    const struct sim_answer *a = sim_world_answer(judged);
    const struct sim_answer *b = sim_world_answer(without->other);
    bool same = a->kind == b->kind;

    if (a->kind == SIM_EV_COUNT || read_by(a->kind) == without->left_out ||
        !sim_world_carries(judged, read_by(a->kind)) ||
        !is_independent(without, read_by(a->kind)))
        return;
    same = same && a->status == b->status && a->count == b->count;
    for (size_t i = 0; i < a->count && same && a->status == PROF_OK; i++)
        same = read_by(a->kind) == SIM_HEAP_PROFILE
                   ? same_heap(&a->heap[i], &b->heap[i])
                   : same_contention(&a->contention[i], &b->contention[i]);
    if (!same)
        differ(without, "%s reads otherwise", sim_event_word(event->kind));
}

static bool
same_list(const struct sim_task_list *a, const struct sim_task_list *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; i < a->count && same; i++)
        same = a->tasks[i].id == b->tasks[i].id &&
               a->tasks[i].waits_ns == b->tasks[i].waits_ns &&
               strcmp(a->tasks[i].state, b->tasks[i].state) == 0 &&
               same_stack(a->tasks[i].stack, a->tasks[i].depth,
                          b->tasks[i].stack, b->tasks[i].depth);
    return same;
}

static void
compare_tasks(struct cross_without *without, const struct sim_world *judged)
{
    const struct sim_tasks_reading *a = sim_tasks_reading(judged);
    const struct sim_tasks_reading *b = sim_tasks_reading(without->other);

    if (a->readings != b->readings || a->count != b->count ||
        a->fits != b->fits || !same_list(&a->list, &b->list))
        differ(without, "the goroutine profile reads otherwise");
}

/* returns: do both worlds have the instrument? */
static bool
both(const struct cross_without *without, const struct sim_world *judged,
     enum sim_instrument_id id)
{
    return id != without->left_out && sim_world_carries(judged, id);
}

/* Apply the event to the changed world, too, and compare. */
static void
follow(struct cross_without *without, const struct sim_event *event)
{
    struct sim_world *judged = without->whole;
    const char *why = sim_world_apply(without->other, event);

    if (why != NULL) {
        differ(without, "%s cannot happen: %s", sim_event_word(event->kind),
               why);
        return;
    }
    /* Without a tracer there is nothing to read; the world goes on all the
     * same. */
    if (without->left_out == SIM_TRACER &&
        sim_world_is_unread(without->other) && !sim_world_is_unread(judged))
        sim_world_was_read(without->other, event->proc);
    compare_answers(without, judged, event);
    if (event->kind == SIM_EV_GOROUTINES && both(without, judged, SIM_TASKS))
        compare_tasks(without, judged);
}

static void
apply(struct cross_without *without, const struct sim_event *event)
{
    struct sim_world *judged = without->whole;
    const char *why = sim_world_apply(judged, event);

    if (event->kind == SIM_EV_BLOCK_RATE ||
        event->kind == SIM_EV_MUTEX_FRACTION || event->kind == SIM_EV_HEAP_RATE)
        without->is_sampled = true;
    if (sim_world_prof(judged) != NULL &&
        prof_drops(sim_world_prof(judged)).no_bucket +
                prof_drops(sim_world_prof(judged)).no_frames >
            0)
        without->is_sampled = true;
    if (why != NULL) {
        differ(without, "%s cannot happen: %s", sim_event_word(event->kind),
               why);
        return;
    }
    without->other = without->less;
    follow(without, event);
    without->other = without->stopped;
    follow(without, event);
}

/* A tracer is stopped or started only while no trace is on, and none is
 * unread. */
static bool
may_switch(const struct cross_without *without)
{
    return without->left_out != SIM_TRACER ||
           (!sim_world_traces(without->whole) &&
            !sim_world_is_unread(without->whole));
}

/* Stop the instrument after a third of the run, start it after two thirds. */
static void
stop_and_start(struct cross_without *without, uint32_t event, uint32_t count)
{
    const bool stops = event >= count / 3 && event < count - count / 3;

    if (stops == without->is_stopped || !may_switch(without))
        return;
    without->is_stopped = stops;
    without->switches++;
    sim_world_stop(without->stopped, without->left_out, stops);
}

/* ---- the end ---- */

static void
compare_traces(struct cross_without *without, const struct sim_world *judged)
{
    const uint32_t sessions = sim_sessions(judged);
    bool same = sessions == sim_sessions(without->other);

    for (uint32_t i = 0; i < sessions && same; i++) {
        const struct sim_session *a = sim_session(judged, i);
        const struct sim_session *b = sim_session(without->other, i);

        same = a->bytes_count == b->bytes_count &&
               (a->bytes_count == 0 ||
                memcmp(a->bytes, b->bytes, a->bytes_count) == 0);
    }
    if (!same)
        differ(without, "the trace has other bytes");
}

/* returns: the number of bytes; 0 if there is no such profile, SIZE_MAX if it
 * cannot be written */
static size_t
write_cpu(struct sim_world *world, unsigned char *bytes)
{
    static _Alignas(PROF_BLOCK_ALIGN) unsigned char scratch[1 << 20];
    struct prof_memory memory = {.bytes = bytes, .bytes_max = FILE_BYTES};
    const struct prof_output output = {
        .sink = prof_memory_sink(&memory),
        .scratch = scratch,
        .scratch_bytes = sizeof scratch,
    };

    if (sim_cpu_profile(world)->begins == 0)
        return 0;
    return sim_cpu_write(world, &output) == PROF_OK ? memory.bytes_count
                                                    : SIZE_MAX;
}

static void
compare_cpu(struct cross_without *without, struct sim_world *judged)
{
    static unsigned char a[FILE_BYTES];
    static unsigned char b[FILE_BYTES];
    const size_t bytes = write_cpu(judged, a);

    if (bytes == SIZE_MAX)
        differ(without, "the CPU profile cannot be written");
    else if (write_cpu(without->other, b) != bytes || memcmp(a, b, bytes) != 0)
        differ(without, "the CPU profile has other bytes");
}

static void
compare_debug(struct cross_without *without, const struct sim_world *judged)
{
    const struct sim_debug_text a = sim_debug_text(judged);
    const struct sim_debug_text b = sim_debug_text(without->other);

    if (a.bytes_count != b.bytes_count ||
        (a.bytes_count > 0 && memcmp(a.bytes, b.bytes, a.bytes_count) != 0))
        differ(without, "the lines of allocations are others");
}

static void
compare_threads(struct cross_without *without, struct sim_world *judged)
{
    static struct prof_count_record a[RECORDS];
    static struct prof_count_record b[RECORDS];
    size_t a_count;
    size_t b_count;
    bool same = sim_threads_list(judged, a, RECORDS, &a_count) ==
                    sim_threads_list(without->other, b, RECORDS, &b_count) &&
                a_count == b_count;

    for (size_t i = 0; i < a_count && same; i++)
        same = same_stack(a[i].stack, a[i].depth, b[i].stack, b[i].depth);
    if (!same)
        differ(without, "the threads were created elsewhere");
}

/* Let stalled processors go on, stop tracing, and read to the end. */
static void
end_quietly(struct cross_without *without)
{
    struct sim_event event;

    for (int i = 0; i < QUIET_EVENTS_MAX && without->difference[0] == '\0' &&
                    sim_quiet_next(without->whole, &event);
         i++)
        apply(without, &event);
}

static void
compare_ends(struct cross_without *without, struct sim_world *other)
{
    struct sim_world *judged = without->whole;

    without->other = other;
    if (both(without, judged, SIM_TRACER))
        compare_traces(without, judged);
    if (both(without, judged, SIM_CPU))
        compare_cpu(without, judged);
    if (both(without, judged, SIM_DEBUG_LINES))
        compare_debug(without, judged);
    if (both(without, judged, SIM_THREADS))
        compare_threads(without, judged);
}

bool
cross_without_try(struct cross_without *without,
                  const struct sim_config *config,
                  const struct sim_event *events, uint32_t count,
                  enum sim_instrument_id left_out)
{
    without->left_out = left_out;
    begin(without, config);
    for (uint32_t i = 0; i < count && without->difference[0] == '\0'; i++) {
        stop_and_start(without, i, count);
        apply(without, &events[i]);
    }
    if (sim_world_carries(without->whole, SIM_TRACER))
        end_quietly(without);
    if (without->difference[0] == '\0')
        compare_ends(without, without->less);
    if (without->difference[0] == '\0')
        compare_ends(without, without->stopped);
    return without->difference[0] == '\0';
}
