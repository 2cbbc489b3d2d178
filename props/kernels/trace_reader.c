/* trace_reader.c -- kernels: a reader comes to the end of a trace, and another
 * thread waits for that. */
#include "props/kernels/kernels.h"
#include "props/kernels/traced.h"

enum { READS_MAX = 12, HEADER_BYTES = 16 };

static bool ended;

static void
setup(void *context)
{
    (void)context;
    ended = false;
    traced_new(PROF_TRACE_ORDER_STAMPS);
}

/* ---- a reader sleeps ---- */

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
        status = session_read(&traced_file);
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
    sim_explore_check(traced_look(&traced_file) == 2, "an event is lost");
    session_check_gapless(&traced_events);
}

const struct sim_kernel props_kernel_reader = {
    .name = "trace-reader",
    .about = "a reader that sleeps is woken for each buffer, and for the end",
    .setup = setup,
    .finish = whole_file,
    .threads = {{"writer", emit_and_stop, NULL},
                {"reader", read_to_the_end, NULL}},
    .threads_count = 2,
};

/* ---- the same, while the session goes on ---- */

static void
emit_only(void *context, uint32_t thread)
{
    (void)context;
    session_emit_full(thread);
}

/* Nothing comes after the buffer that could wake the reader instead. */
static void
read_one_buffer(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (int i = 0; i < READS_MAX && traced_file.count <= HEADER_BYTES; i++)
        if (session_read(&traced_file) == PROF_ERR_AGAIN)
            sim_explore_check(prof_trace_wait(session_trace) == PROF_OK,
                              "the only reader is refused");
    sim_explore_check(traced_file.count > HEADER_BYTES,
                      "the reader is woken, and there is no buffer");
}

static void
one_event(void *context)
{
    (void)context;
    traced_expect(1);
}

const struct sim_kernel props_kernel_reader_full = {
    .name = "trace-reader-full",
    .about = "a reader that sleeps is woken for a full buffer, though nothing "
             "comes after it",
    .setup = setup,
    .finish = one_event,
    .threads = {{"writer", emit_only, NULL}, {"reader", read_one_buffer, NULL}},
    .threads_count = 2,
};

/* ---- a reader sleeps until the end, for the buffer of the outside lane ----
 */

static void
one_outside(void *context)
{
    setup(context);
    session_emit(PROF_TRACE_NO_PROC);
}

static void
stop_only(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(session_stop() == PROF_OK, "the session does not stop");
}

static void
outside_is_there(void *context)
{
    (void)context;
    sim_explore_check(ended, "the reader is not told of the end");
    sim_explore_check(traced_look(&traced_file) == 1,
                      "an event of no processor is lost");
}

const struct sim_kernel props_kernel_reader_outside = {
    .name = "trace-reader-outside",
    .about = "the end of a trace comes after the events outside all processors",
    .setup = one_outside,
    .finish = outside_is_there,
    .threads = {{"control", stop_only, NULL},
                {"reader", read_to_the_end, NULL}},
    .threads_count = 2,
};

/* ---- a thread waits until everything was read ---- */

static void
stop_wait_start(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(session_stop() == PROF_OK, "the session does not stop");
    sim_explore_check(prof_trace_stop_wait(session_trace) == PROF_OK,
                      "who waits for the reader is refused");
    /* The reader wrote the file; this thread sees it only because of [pair:
     * end]. */
    sim_explore_check(traced_file.count > HEADER_BYTES,
                      "the reader is not seen");
    sim_explore_check(session_start() == PROF_OK,
                      "the next session is refused after the wait");
}

static void
file_is_whole(void *context)
{
    (void)context;
    sim_explore_check(ended, "the reader is not told of the end");
    (void)traced_look(&traced_file);
    session_check_gapless(&traced_events);
}

const struct sim_kernel props_kernel_stop_wait = {
    .name = "trace-stop-wait",
    .about = "a thread that waits for the reader to finish is woken, and may "
             "start again",
    .setup = setup,
    .finish = file_is_whole,
    .threads = {{"control", stop_wait_start, NULL},
                {"reader", read_to_the_end, NULL}},
    .threads_count = 2,
};

static bool waited[SIM_THREADS_MAX];

/* All parts have been read: only the end is left. */
static void
end_is_left(void *context)
{
    setup(context);
    waited[0] = false;
    waited[1] = false;
    sim_explore_check(session_stop() == PROF_OK, "the session does not stop");
    for (int i = 0; i < 3; i++)
        sim_explore_check(session_read(&traced_file) == PROF_OK,
                          "header, events and footer come first");
}

static void
wait_for_the_end(void *context, uint32_t thread)
{
    (void)context;
    waited[thread] = prof_trace_stop_wait(session_trace) == PROF_OK;
}

static void
all_waited(void *context)
{
    (void)context;
    sim_explore_check(ended, "the reader is not told of the end");
    sim_explore_check(waited[0] && waited[1], "who waits is refused");
}

const struct sim_kernel props_kernel_stop_waiters = {
    .name = "trace-stop-waiters",
    .about =
        "all threads that wait for the reader to finish are woken when it does",
    .setup = end_is_left,
    .finish = all_waited,
    .threads = {{"first", wait_for_the_end, NULL},
                {"second", wait_for_the_end, NULL},
                {"reader", read_to_the_end, NULL}},
    .threads_count = 3,
};
