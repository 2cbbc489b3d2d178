/* trace.c -- kernels: the tracer's stamp, its buffers, its reader. */
#include "props/kernels/kernels.h"
#include "prof/port.h"
#include "props/kernels/traced.h"

static struct prof_trace_stamp stamps[SIM_THREADS_MAX];
static struct prof_port_lock world;

static void
setup(void *context)
{
    (void)context;
    traced_new(PROF_TRACE_ORDER_STAMPS);
}

/* ---- Stamps ---- */

static void
tick_and_stamp(void *context, uint32_t thread)
{
    (void)context;
    session_tick();
    stamps[thread] = prof_trace_stamp(session_trace);
}

static void
same_order(void *context)
{
    const uint32_t first = stamps[0].sequence < stamps[1].sequence ? 0 : 1;

    (void)context;
    sim_explore_check(stamps[0].sequence != stamps[1].sequence,
                      "two stamps have one number");
    sim_explore_check(stamps[first].ticks <= stamps[1 - first].ticks,
                      "the clock was not read in the order of numbers");
}

const struct sim_kernel props_kernel_stamp = {
    .name = "trace-stamp",
    .about = "stamps have numbers in the order of their clock readings",
    .setup = setup,
    .finish = same_order,
    .threads = {{"first", tick_and_stamp, NULL},
                {"second", tick_and_stamp, NULL}},
    .threads_count = 2,
};

static void
tick_and_emit(void *context, uint32_t thread)
{
    (void)context;
    session_tick();
    session_emit(thread);
}

static void
two_events(void *context)
{
    (void)context;
    traced_expect(2);
    session_check_gapless(&traced_events);
}

const struct sim_kernel props_kernel_stamp_event = {
    .name = "trace-order",
    .about = "events of two processors have sequence numbers in the order of "
             "their times",
    .setup = setup,
    .finish = two_events,
    .threads = {{"first", tick_and_emit, NULL},
                {"second", tick_and_emit, NULL}},
    .threads_count = 2,
};

/* ---- Buffers go from the writer to the reader and back ---- */

const struct sim_kernel props_kernel_handover = {
    .name = "trace-handover",
    .about =
        "a buffer passes from the writer to the reader, and neither loses it",
    .setup = setup,
    .finish = two_events,
    .threads = {{"writer", traced_emit_twice, NULL},
                {"reader", traced_read_some, NULL}},
    .threads_count = 2,
};

/* ---- a second reader is refused ---- */

/* Stop the session, if one is on; the world must be stopped for that. */
static void
stop_if_on(void)
{
    enum prof_status status;

    prof_port_lock_take(&world);
    status = session_stop();
    prof_port_lock_release(&world);
    sim_explore_check(status == PROF_OK || status == PROF_ERR_OFF,
                      "stop returns ok or off");
}

static void
wait_then_stop(void *context, uint32_t thread)
{
    const enum prof_status status = prof_trace_wait(session_trace);

    (void)context;
    (void)thread;
    sim_explore_check(status == PROF_OK || status == PROF_ERR_BUSY,
                      "a second reader gets busy");
    stop_if_on();
}

/* The header has been read, so a reader finds nothing new. */
static void
header_is_read(void *context)
{
    setup(context);
    sim_explore_check(session_read(&traced_file) == PROF_OK,
                      "the header comes first");
}

static void
is_off(void *context)
{
    (void)context;
    sim_explore_check(!prof_trace_is_on(session_trace), "nobody stopped it");
}

const struct sim_kernel props_kernel_two_readers = {
    .name = "trace-two-readers",
    .about = "a second reader that waits is refused, and both go on",
    .setup = header_is_read,
    .finish = is_off,
    .threads = {{"first", wait_then_stop, NULL},
                {"second", wait_then_stop, NULL}},
    .threads_count = 2,
};

/* ---- two threads read at the same time ---- */

static enum prof_status read_status[2];

static void
one_buffer_is_full(void *context)
{
    header_is_read(context);
    session_emit_full(0);
}

/* Read without checking the bytes, which may belong to the next session. */
static void
read_once(void *context, uint32_t thread)
{
    const uint8_t *bytes;
    size_t count;

    (void)context;
    read_status[thread] = prof_trace_read(session_trace, &bytes, &count);
}

static void
one_has_read(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < 2; i++)
        sim_explore_check(read_status[i] == PROF_OK ||
                              read_status[i] == PROF_ERR_BUSY ||
                              read_status[i] == PROF_ERR_AGAIN,
                          "a read returns ok, busy or again");
    sim_explore_check((read_status[0] == PROF_OK) !=
                          (read_status[1] == PROF_OK),
                      "one buffer is read once");
}

const struct sim_kernel props_kernel_reads_at_once = {
    .name = "trace-reads-at-once",
    .about = "of two threads that read at the same time one gets the buffer",
    .setup = one_buffer_is_full,
    .finish = one_has_read,
    .threads = {{"first", read_once, NULL}, {"second", read_once, NULL}},
    .threads_count = 2,
};

/* ---- no buffer is left ---- */

static void
emit_thrice(void *context, uint32_t thread)
{
    traced_emit_twice(context, thread);
    session_emit_full(thread);
}

static void
prefix(void *context)
{
    const uint64_t lost = prof_trace_drops(session_trace).no_buffer;

    (void)context;
    session_end(&traced_file);
    sim_explore_check(traced_look(&traced_file) + lost == 5,
                      "an event is neither in the trace nor counted");
    session_check_gapless(&traced_events);
    sim_explore_check(lost > 0, "five buffers were found in four");
}

const struct sim_kernel props_kernel_full = {
    .name = "trace-full",
    .about = "what is in a trace that ran out of buffers is a gapless prefix",
    .setup = setup,
    .finish = prefix,
    .threads = {{"first", emit_thrice, NULL},
                {"second", traced_emit_twice, NULL}},
    .threads_count = 2,
};

/* ---- two sessions, and events outside all processors ---- */

static void
two_files(void *context)
{
    uint32_t found;

    (void)context;
    session_end(&traced_second_file);
    found = traced_look(&traced_file);
    session_check_gapless(&traced_events);
    found += traced_look(&traced_second_file);
    session_check_gapless(&traced_events);
    sim_explore_check(found <= 1, "an event is in two sessions");
}

const struct sim_kernel props_kernel_sessions = {
    .name = "trace-sessions",
    .about = "an event during a stop and a start is in one session, or in none",
    .setup = setup,
    .finish = two_files,
    .threads = {{"control", traced_stop_and_start, NULL},
                {"poller", traced_emit_without_processor, NULL}},
    .threads_count = 2,
};

/* ---- a return from a system call that began in the last session ---- */

const struct sim_kernel props_kernel_returns = {
    .name = "trace-returns",
    .about = "a return from a system call is recorded once, in its own session",
    .setup = setup,
    .finish = traced_one_return,
    .threads = {{"control", traced_stop_and_start_stopped, NULL},
                {"program", traced_return, NULL}},
    .threads_count = 2,
};

const struct sim_kernel props_kernel_returns_outside = {
    .name = "trace-returns-outside",
    .about =
        "a return on no processor is recorded in its own session, or in none",
    .setup = setup,
    .finish = traced_return_or_none,
    .threads = {{"control", traced_stop_and_start, NULL},
                {"program", traced_return_without_processor, NULL}},
    .threads_count = 2,
};

/* ---- The timers' task is named while a session ends ---- */

static void
end_session(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    session_end(&traced_file);
}

static void
name_timer_task(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_trace_timer_task(session_trace, 1);
}

static void
no_event(void *context)
{
    (void)context;
    sim_explore_check(traced_look(&traced_file) == 0, "nobody emitted one");
}

const struct sim_kernel props_kernel_timer_task = {
    .name = "trace-timer-task",
    .about = "a task of timers that is set while a session ends is in that "
             "trace or in the next one, whole",
    .setup = setup,
    .finish = no_event,
    .threads = {{"control", end_session, NULL},
                {"program", name_timer_task, NULL}},
    .threads_count = 2,
};

/* ---- Three threads ---- */

const struct sim_kernel props_kernel_trace_everything = {
    .name = "trace-everything",
    .about = "two writers and a reader that keeps up lose nothing",
    .setup = setup,
    .finish = two_events,
    .threads = {{"first", tick_and_emit, NULL},
                {"second", tick_and_emit, NULL},
                {"reader", traced_read_some, NULL}},
    .threads_count = 3,
};

/* ---- two threads start a session ---- */

static enum prof_status started[2];

static void
off(void *context)
{
    (void)context;
    traced_file.count = 0;
    session_make(PROF_TRACE_ORDER_STAMPS);
}

static void
start_and_emit(void *context, uint32_t thread)
{
    (void)context;
    started[thread] = session_start();
    session_emit(thread);
}

/* A reader need not know whether a session has begun. */
static void
read_start_and_emit(void *context, uint32_t thread)
{
    traced_read_some(context, thread);
    start_and_emit(context, thread);
}

static void
one_session(void *context)
{
    const bool first = started[0] == PROF_OK;

    (void)context;
    sim_explore_check(first != (started[1] == PROF_OK) &&
                          started[first ? 1 : 0] == PROF_ERR_BUSY,
                      "of two starts not exactly one began a session");
    session_end(&traced_file);
    session_check(&traced_file, &traced_events);
    session_check_gapless(&traced_events);
}

const struct sim_kernel props_kernel_two_starts = {
    .name = "trace-two-starts",
    .about = "of two threads that start a session exactly one succeeds, even "
             "while a reader polls",
    .setup = off,
    .finish = one_session,
    .threads = {{"first", start_and_emit, NULL},
                {"second", read_start_and_emit, NULL}},
    .threads_count = 2,
};
