/* session.c -- see session.h. */
#include "props/kernels/session.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "props/kernels/counter.h"
#include "prof/prof.h"

enum {
    READS_MAX = 16,
    KIND_MASK = 63,
    EVENT_BATCH = 1,
    EVENT_FREQUENCY = 2,
    EVENT_STACK = 3
};

struct prof_trace *session_trace;

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 13];
static _Atomic uint64_t clock_ticks;

/* ---- a session ---- */

/* The load is relaxed: only the stamp may order what processors see of the
 * clock. */
static uint64_t
ticks(void *context)
{
    (void)context;
    return atomic_load_explicit(&clock_ticks, memory_order_relaxed);
}

static uint64_t
now_ns(void *context)
{
    (void)context;
    return 1000;
}

void
session_tick(void)
{
    atomic_fetch_add_explicit(&clock_ticks, 1, memory_order_relaxed);
}

bool
session_one_task(void *context, struct prof_trace_task *task)
{
    bool *given = context;

    if (*given)
        return false;
    *given = true;
    *task = (struct prof_trace_task){.id = 1, .state = PROF_TASK_RUNNABLE};
    return true;
}

enum prof_status
session_start(void)
{
    bool given = false;
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = session_one_task, .context = &given};

    return prof_trace_start(session_trace, &world);
}

enum prof_status
session_stop(void)
{
    return prof_trace_stop(session_trace, 0, NULL, 0);
}

void
session_make(enum prof_trace_order order)
{
    const struct prof_trace_config config = {
        .procs_max = 2,
        .buffers_max = 4,
        .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN,
        .stacks_max = 2,
        .frames_max = 4,
        .tick_divisor = 1,
        .order = order,
        .clock = {.ticks = order == PROF_TRACE_ORDER_STAMPS ? ticks : NULL,
                  .now_ns = now_ns},
    };

    memset(block, 0, sizeof block);
    atomic_store_explicit(&clock_ticks, 0, memory_order_relaxed);
    counter_new();
    if (prof_trace_init(&session_trace, &config, block, sizeof block) !=
        PROF_OK)
        sim_explore_fail("the tracer does not fit its block");
}

void
session_new(enum prof_trace_order order)
{
    session_make(order);
    if (session_start() != PROF_OK)
        sim_explore_fail("the tracer does not start");
}

void
session_emit(uint32_t proc)
{
    const uint64_t argument = 7;

    prof_trace_emit(session_trace, proc, PROF_EV_HEAP_ALLOC, &argument, NULL,
                    0);
}

void
session_emit_crossing(uint32_t proc, uint64_t argument)
{
    prof_trace_emit(session_trace, proc, PROF_EV_GO_START, &argument, NULL, 0);
}

void
session_emit_full(uint32_t proc)
{
    session_emit(proc);
    prof_trace_proc_free(session_trace, proc);
}

enum prof_status
session_read(struct session_file *file)
{
    const uint8_t *bytes;
    size_t count;
    const enum prof_status status =
        prof_trace_read(session_trace, &bytes, &count);

    if (status != PROF_OK)
        return status;
    sim_explore_check(file->count + count <= sizeof file->bytes,
                      "the trace is longer than it can be");
    memcpy(&file->bytes[file->count], bytes, count);
    file->count += count;
    return PROF_OK;
}

void
session_end(struct session_file *file)
{
    enum prof_status status = session_stop();

    sim_explore_check(status == PROF_OK, "the session does not stop");
    for (int i = 0; i < READS_MAX && status == PROF_OK; i++)
        status = session_read(file);
    sim_explore_check(status == PROF_ERR_END, "the trace has no end");
}

/* ---- the file ---- */

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static uint64_t
number(struct cursor *cursor)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; shift < 64 && cursor->at < cursor->end;
         shift += 7) {
        const uint8_t byte = *cursor->at++;

        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    sim_explore_fail("the trace ends in the middle of a number");
    return 0;
}

static void
skip(struct cursor *cursor, uint64_t bytes)
{
    const uint64_t left = (uint64_t)(cursor->end - cursor->at);

    sim_explore_check(bytes <= left, "the trace ends in the middle");
    cursor->at += bytes <= left ? bytes : left;
}

static void
take_event(struct cursor *cursor, uint8_t first, struct session_event *now,
           struct session_events *events)
{
    const uint32_t more = first >> 6;
    const uint64_t length = more == 3 ? number(cursor) : 0;
    const uint8_t *const begin = cursor->at;
    uint32_t args = 0;

    now->kind = first & KIND_MASK;
    now->sequence += number(cursor);
    now->ticks += number(cursor);
    /* If the kind says three, there may be more: as many as the length
     * allows. */
    while (args < SESSION_ARGS_MAX &&
           (more == 3 ? cursor->at < begin + length : args < more))
        now->args[args++] = number(cursor);
    sim_explore_check(more < 3 || cursor->at == begin + length,
                      "an event is longer than it says");
    if (events->count < SESSION_EVENTS_MAX)
        events->at[events->count++] = *now;
}

static void
take_record(struct cursor *cursor, struct session_event *now,
            struct session_events *events)
{
    const uint8_t first = *cursor->at++;

    switch (first & KIND_MASK) {
    case EVENT_BATCH:
        now->proc = number(cursor);
        now->sequence = number(cursor);
        now->ticks = number(cursor);
        return;
    case EVENT_FREQUENCY:
        number(cursor);
        number(cursor);
        return;
    case EVENT_STACK:
        skip(cursor, number(cursor));
        return;
    default:
        take_event(cursor, first, now, events);
    }
}

/* Insert an event by its number, in order; two equal numbers are a failure. */
static void
sort(struct session_events *events)
{
    for (uint32_t i = 1; i < events->count; i++) {
        const struct session_event event = events->at[i];
        uint32_t at = i;

        for (; at > 0 && events->at[at - 1].sequence > event.sequence; at--)
            events->at[at] = events->at[at - 1];
        events->at[at] = event;
    }
}

/* Runs in the order of the file, before events are sorted. */
static void
check_each_processor(const struct session_events *events)
{
    for (uint32_t i = 0; i < events->count; i++) {
        for (uint32_t j = 0; j < i; j++)
            sim_explore_check(events->at[i].proc != events->at[j].proc ||
                                  events->at[j].sequence <
                                      events->at[i].sequence,
                              "events of a processor are out of order");
    }
}

void
session_check(const struct session_file *file, struct session_events *events)
{
    struct cursor cursor = {&file->bytes[16], &file->bytes[file->count]};
    struct session_event now = {0};

    events->count = 0;
    sim_explore_check(file->count > 16 &&
                          memcmp(file->bytes, "go 1.5 trace", 13) == 0,
                      "the trace has no header");
    while (cursor.at < cursor.end)
        take_record(&cursor, &now, events);
    check_each_processor(events);
    sort(events);
    for (uint32_t i = 1; i < events->count; i++) {
        sim_explore_check(events->at[i].sequence > events->at[i - 1].sequence,
                          "a number is there twice");
        sim_explore_check(events->at[i].ticks >= events->at[i - 1].ticks,
                          "the clock was not read in the order of numbers");
    }
}

uint32_t
session_count(const struct session_events *events, uint32_t kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < events->count; i++)
        count += events->at[i].kind == kind;
    return count;
}

void
session_check_gapless(const struct session_events *events)
{
    for (uint32_t i = 1; i < events->count; i++)
        sim_explore_check(events->at[i].sequence ==
                              events->at[i - 1].sequence + 1,
                          "a number is missing");
}
