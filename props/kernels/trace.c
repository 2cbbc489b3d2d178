/* trace.c -- kernels: the tracer's stamp, its buffers, its reader. */
#include <string.h>

#include "kernels.h"
#include "prof/port.h"
#include "session.h"

enum { READS_MAX = 12 };

static struct session_file file;
static struct session_file second_file;
static struct session_events events;
static struct prof_trace_stamp stamps[SIM_THREADS_MAX];
static bool ended;
static struct port_lock world;

static void
setup(void *context)
{
    (void)context;
    file.count = 0;
    second_file.count = 0;
    ended = false;
    session_new(PROF_TRACE_ORDER_STAMPS);
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
    .about = "stamps have numbers and clock readings in one order",
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
    session_end(&file);
    session_check(&file, &events);
    session_check_gapless(&events);
    sim_explore_check(session_count(&events, PROF_EV_HEAP_ALLOC) == 2,
                      "an event is lost");
}

const struct sim_kernel props_kernel_stamp_event = {
    .name = "trace-order",
    .about = "events of two processors are in one order with their clock",
    .setup = setup,
    .finish = two_events,
    .threads = {{"first", tick_and_emit, NULL},
                {"second", tick_and_emit, NULL}},
    .threads_count = 2,
};

/* ---- Buffers go from the writer to the reader and back ---- */

static void
emit_twice(void *context, uint32_t thread)
{
    (void)context;
    session_emit_full(thread);
    session_emit_full(thread);
}

static void
read_some(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (int i = 0; i < 4; i++)
        (void)!session_read(&file);
}

const struct sim_kernel props_kernel_handover = {
    .name = "trace-handover",
    .about = "a buffer is the writer's, then the reader's, and lost by none",
    .setup = setup,
    .finish = two_events,
    .threads = {{"writer", emit_twice, NULL}, {"reader", read_some, NULL}},
    .threads_count = 2,
};

/* ---- A reader that sleeps ---- */

static void
emit_and_stop(void *context, uint32_t thread)
{
    (void)context;
    session_emit_full(thread);
    session_emit(thread);
    sim_explore_check(session_stop() == PROF_OK, "the session does not stop");
}

static void
read_to_the_end(void *context, uint32_t thread)
{
    enum prof_status status = PROF_OK;

    (void)context;
    (void)thread;
    for (int i = 0; i < READS_MAX && status == PROF_OK; i++) {
        status = session_read(&file);
        if (status == PROF_ERR_AGAIN)
            status = prof_trace_wait(session_trace);
    }
    ended = status == PROF_ERR_END;
}

static void
whole_file(void *context)
{
    (void)context;
    sim_explore_check(ended, "the reader is not told of the end");
    session_check(&file, &events);
    session_check_gapless(&events);
    sim_explore_check(session_count(&events, PROF_EV_HEAP_ALLOC) == 2,
                      "an event is lost");
}

const struct sim_kernel props_kernel_reader = {
    .name = "trace-reader",
    .about = "a reader that sleeps is woken for all there is, and for the end",
    .setup = setup,
    .finish = whole_file,
    .threads = {{"writer", emit_and_stop, NULL},
                {"reader", read_to_the_end, NULL}},
    .threads_count = 2,
};

/* ---- Only one reader ---- */

/* The world is stopped for it. */
static void
stop_if_on(void)
{
    enum prof_status status;

    port_lock_take(&world);
    status = session_stop();
    port_lock_release(&world);
    sim_explore_check(status == PROF_OK || status == PROF_ERR_OFF,
                      "stop answers ok or off");
}

static void
wait_then_stop(void *context, uint32_t thread)
{
    const enum prof_status status = prof_trace_wait(session_trace);

    (void)context;
    (void)thread;
    sim_explore_check(status == PROF_OK || status == PROF_ERR_BUSY,
                      "a second reader is answered busy");
    stop_if_on();
}

/* Past the header, so that there is nothing new. */
static void
header_is_read(void *context)
{
    setup(context);
    sim_explore_check(session_read(&file) == PROF_OK, "the header comes first");
}

static void
is_off(void *context)
{
    (void)context;
    sim_explore_check(!prof_trace_is_on(session_trace), "nobody stopped it");
}

const struct sim_kernel props_kernel_two_readers = {
    .name = "trace-two-readers",
    .about = "who waits beside a reader that sleeps is refused, not lost",
    .setup = header_is_read,
    .finish = is_off,
    .threads = {{"first", wait_then_stop, NULL},
                {"second", wait_then_stop, NULL}},
    .threads_count = 2,
};

/* ---- No buffer left ---- */

static void
emit_thrice(void *context, uint32_t thread)
{
    emit_twice(context, thread);
    session_emit_full(thread);
}

static void
prefix(void *context)
{
    const uint64_t lost = prof_trace_drops(session_trace).no_buffer;

    (void)context;
    session_end(&file);
    session_check(&file, &events);
    session_check_gapless(&events);
    sim_explore_check(session_count(&events, PROF_EV_HEAP_ALLOC) + lost == 5,
                      "an event is neither in the trace nor counted");
    sim_explore_check(lost > 0, "five buffers were found in four");
}

const struct sim_kernel props_kernel_full = {
    .name = "trace-full",
    .about = "what is in a trace that ran out of buffers is a gapless prefix",
    .setup = setup,
    .finish = prefix,
    .threads = {{"first", emit_thrice, NULL}, {"second", emit_twice, NULL}},
    .threads_count = 2,
};

/* ---- One session after the other, beside events of no processor ---- */

static void
stop_and_start(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    session_end(&file);
    sim_explore_check(session_start() == PROF_OK,
                      "a session that was read to its end leaves no trace");
}

static void
emit_without_processor(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    session_emit(PROF_TRACE_NO_PROC);
}

static void
two_files(void *context)
{
    uint32_t found;

    (void)context;
    session_end(&second_file);
    session_check(&file, &events);
    session_check_gapless(&events);
    found = session_count(&events, PROF_EV_HEAP_ALLOC);
    session_check(&second_file, &events);
    session_check_gapless(&events);
    found += session_count(&events, PROF_EV_HEAP_ALLOC);
    sim_explore_check(found <= 1, "an event is in two sessions");
}

const struct sim_kernel props_kernel_sessions = {
    .name = "trace-sessions",
    .about = "an event beside stop and start is in one session, or in none",
    .setup = setup,
    .finish = two_files,
    .threads = {{"control", stop_and_start, NULL},
                {"poller", emit_without_processor, NULL}},
    .threads_count = 2,
};

/* ---- A return from a system call that began in the session before ---- */

static void
stop_and_start_stopped(void *context, uint32_t thread)
{
    port_lock_take(&world);
    stop_and_start(context, thread);
    port_lock_release(&world);
}

static void
return_from_call(void *context, uint32_t thread)
{
    const struct prof_trace_stamp left = prof_trace_stamp(session_trace);

    (void)context;
    port_lock_take(&world); /* gets a processor: not in a stopped world */
    prof_trace_sysexit(session_trace, thread, 1, left);
    port_lock_release(&world);
}

/* in: a file. returns: returns in it, each of a moment of its session */
static uint32_t
check_returns(const struct session_file *of)
{
    session_check(of, &events);
    for (uint32_t i = 0; i < events.count; i++) {
        const struct session_event *event = &events.at[i];

        if (event->kind == PROF_EV_GO_SYSEXIT)
            sim_explore_check(event->args[1] >= events.at[0].sequence &&
                                  event->args[1] < event->sequence,
                              "a return is of a moment out of its session");
    }
    return session_count(&events, PROF_EV_GO_SYSEXIT);
}

static void
one_return(void *context)
{
    (void)context;
    session_end(&second_file);
    sim_explore_check(check_returns(&file) + check_returns(&second_file) == 1,
                      "a return is missing, or told twice");
}

const struct sim_kernel props_kernel_returns = {
    .name = "trace-returns",
    .about = "a return from a system call is told once, in its own session",
    .setup = setup,
    .finish = one_return,
    .threads = {{"control", stop_and_start_stopped, NULL},
                {"program", return_from_call, NULL}},
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
                {"reader", read_some, NULL}},
    .threads_count = 3,
};
