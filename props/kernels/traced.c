/* traced.c -- see traced.h. */
#include "props/kernels/traced.h"

#include "prof/port.h"

struct session_file traced_file;
struct session_file traced_second_file;
struct session_events traced_events;

static struct prof_port_lock world;

void
traced_new(enum prof_trace_order order)
{
    traced_file.count = 0;
    traced_second_file.count = 0;
    session_new(order);
}

uint32_t
traced_look(const struct session_file *file)
{
    session_check(file, &traced_events);
    return session_count(&traced_events, PROF_EV_HEAP_ALLOC);
}

void
traced_expect(uint32_t count)
{
    session_end(&traced_file);
    sim_explore_check(traced_look(&traced_file) == count, "an event is lost");
}

void
traced_emit_twice(void *context, uint32_t thread)
{
    (void)context;
    session_emit_full(thread);
    session_emit_full(thread);
}

void
traced_emit_without_processor(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    session_emit(PROF_TRACE_NO_PROC);
}

void
traced_read_some(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (int i = 0; i < 4; i++)
        (void)!session_read(&traced_file);
}

void
traced_stop_and_start(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    session_end(&traced_file);
    sim_explore_check(session_start() == PROF_OK,
                      "a session that was read to its end leaves no trace");
}

void
traced_stop_and_start_stopped(void *context, uint32_t thread)
{
    prof_port_lock_take(&world);
    traced_stop_and_start(context, thread);
    prof_port_lock_release(&world);
}

void
traced_return(void *context, uint32_t thread)
{
    const struct prof_trace_stamp left = prof_trace_stamp(session_trace);

    (void)context;
    prof_port_lock_take(&world); /* taking a processor needs a running world */
    prof_trace_sysexit(session_trace, thread, 1, left);
    prof_port_lock_release(&world);
}

void
traced_return_without_processor(void *context, uint32_t thread)
{
    const struct prof_trace_stamp left = prof_trace_stamp(session_trace);

    (void)context;
    (void)thread;
    prof_trace_sysexit(session_trace, PROF_TRACE_NO_PROC, 1, left);
}

/* in: a file. returns: how many returns it has, each at a moment of its
 * session */
static uint32_t
check_returns(const struct session_file *file)
{
    traced_look(file);
    for (uint32_t i = 0; i < traced_events.count; i++) {
        const struct session_event *event = &traced_events.at[i];

        if (event->kind == PROF_EV_GO_SYSEXIT)
            sim_explore_check(event->args[1] > traced_events.at[0].sequence &&
                                  event->args[1] < event->sequence,
                              "a return is of a moment out of its session");
    }
    return session_count(&traced_events, PROF_EV_GO_SYSEXIT);
}

void
traced_return_or_none(void *context)
{
    (void)context;
    session_end(&traced_second_file);
    sim_explore_check(
        check_returns(&traced_file) + check_returns(&traced_second_file) <= 1,
        "a return is told twice");
}

void
traced_one_return(void *context)
{
    (void)context;
    session_end(&traced_second_file);
    sim_explore_check(
        check_returns(&traced_file) + check_returns(&traced_second_file) == 1,
        "a return is missing, or told twice");
}
