/*
 * trace_clock.c -- kernels: a tracer in the order of the processor's counter.
 *
 * Writing an event touches no shared data. So two things can go wrong: the
 * order by the counter (counter.c) may contradict the order in which processors
 * see each other's writes, and the trace may be cut at a wrong place. The
 * kernels check both. If the writing of event A ended before that of event B
 * began, A must precede B in the trace; and if B is in the trace, A must be,
 * too. (A and B are of a kind that depends on other processors' events.)
 */
#include <stdatomic.h>
#include <string.h>

#include "props/kernels/kernels.h"
#include "props/kernels/traced.h"

enum { READS_MAX = 12, EVENTS_MAX = 4, FIRST_NAME = 100 };

/* The threads that write: two processors, and one outside all processors. */
enum { OUTSIDE = 2, WRITERS };

/* When one event was written; begin and end are numbered in their order. */
struct writing {
    uint64_t begin;
    uint64_t end;
    uint64_t sequence; /* its number in the trace; 0: not in the trace */
};

static struct writing writings[WRITERS][EVENTS_MAX];
static uint32_t written[WRITERS];
static atomic_uint reported;

static void
setup(void *context)
{
    (void)context;
    memset(writings, 0, sizeof writings);
    memset(written, 0, sizeof written);
    atomic_store_explicit(&reported, 0, memory_order_relaxed);
    traced_new(PROF_TRACE_ORDER_CLOCK);
}

static void
write_one(uint32_t writer)
{
    const uint32_t index = written[writer]++;
    struct writing *const writing = &writings[writer][index];

    writing->begin = sim_explore_mark();
    session_emit_crossing(writer < OUTSIDE ? writer : PROF_TRACE_NO_PROC,
                          FIRST_NAME + writer * EVENTS_MAX + index);
    writing->end = sim_explore_mark();
}

/* ---- What must hold of each trace ---- */

static void
find_writings(void)
{
    for (uint32_t i = 0; i < traced_events.count; i++) {
        const struct session_event *event = &traced_events.at[i];
        const uint64_t name = event->args[0] - FIRST_NAME;

        if (event->kind != PROF_EV_GO_START || event->args[0] < FIRST_NAME)
            continue;
        sim_explore_check(name < (uint64_t)WRITERS * EVENTS_MAX &&
                              event->proc == (name / EVENTS_MAX < OUTSIDE
                                                  ? name / EVENTS_MAX
                                                  : UINT64_MAX),
                          "an event is of another processor");
        writings[name / EVENTS_MAX][name % EVENTS_MAX].sequence =
            event->sequence;
    }
}

static void
check_pair(const struct writing *before, const struct writing *after)
{
    if (before->end >= after->begin || after->sequence == 0)
        return;
    sim_explore_check(before->sequence != 0,
                      "an event is lost, and one after it is not");
    sim_explore_check(before->sequence < after->sequence,
                      "an event is numbered before one that it follows");
}

/* returns: how many of the events are in the trace */
static uint32_t
check_order(void)
{
    const struct writing *const all = &writings[0][0];
    uint32_t found = 0;

    for (uint32_t i = 0; i < WRITERS * EVENTS_MAX; i++) {
        found += all[i].sequence != 0;
        for (uint32_t j = 0; j < WRITERS * EVENTS_MAX; j++)
            if (all[i].end != 0 && all[j].end != 0)
                check_pair(&all[i], &all[j]);
    }
    return found;
}

/* Read the rest, and check the whole trace. returns: how many events are in
 * it */
static uint32_t
judge(void)
{
    uint32_t found;
    uint64_t lost;

    session_end(&traced_file);
    lost = prof_trace_drops(session_trace).no_buffer;
    session_check(&traced_file, &traced_events);
    find_writings();
    found = check_order();
    /* The event that the stop itself writes may be lost, too. */
    lost -= session_count(&traced_events, PROF_EV_GO_SCHED) == 0;
    sim_explore_check(found + lost ==
                          written[0] + written[1] + written[OUTSIDE],
                      "an event is neither in the trace nor counted");
    return found;
}

static void
all_are_there(void *context)
{
    (void)context;
    sim_explore_check(judge() == written[0] + written[1], "an event is lost");
}

static void
some_are_lost(void *context)
{
    (void)context;
    sim_explore_check(judge() < written[0] + written[1],
                      "more buffers were found than there are");
}

static void
some_may_be_lost(void *context)
{
    (void)context;
    judge();
}

/* ---- Two processors ---- */

static void
write_two(void *context, uint32_t thread)
{
    (void)context;
    write_one(thread);
    write_one(thread);
}

const struct sim_kernel props_kernel_clock_order = {
    .name = "clock-order",
    .about = "numbers of two processors differ, and follow the order of time",
    .setup = setup,
    .finish = all_are_there,
    .threads = {{"first", write_two, NULL}, {"second", write_two, NULL}},
    .threads_count = 2,
};

/* ---- An event that follows from another ---- */

/* The store is relaxed: only the counter may put the two events in order. */
static void
write_and_notify(void *context, uint32_t thread)
{
    (void)context;
    write_one(thread);
    atomic_store_explicit(&reported, 1, memory_order_relaxed);
}

/* The thread first writes an event of its own, so that its processor may read
 * the counter ahead of time. */
static void
hear_and_write(void *context, uint32_t thread)
{
    (void)context;
    write_one(thread);
    if (atomic_load_explicit(&reported, memory_order_relaxed) != 0)
        write_one(thread);
}

const struct sim_kernel props_kernel_clock_follows = {
    .name = "clock-follows",
    .about = "an event that follows from another processor's is numbered later",
    .setup = setup,
    .finish = all_are_there,
    .threads = {{"first", write_and_notify, NULL},
                {"second", hear_and_write, NULL}},
    .threads_count = 2,
};

/* ---- events that are independent ---- */

static void
emit_two(void *context, uint32_t thread)
{
    (void)context;
    session_emit(thread);
    session_emit(thread);
}

static void
four_events(void *context)
{
    (void)context;
    traced_expect(4);
}

const struct sim_kernel props_kernel_clock_ahead = {
    .name = "clock-ahead",
    .about = "each processor numbers its events in its own order, and no "
             "number is used twice",
    .setup = setup,
    .finish = four_events,
    .threads = {{"first", emit_two, NULL}, {"second", emit_two, NULL}},
    .threads_count = 2,
};

/* ---- Buffers go from the writer to the reader and back ---- */

static void
two_events(void *context)
{
    (void)context;
    traced_expect(2);
}

const struct sim_kernel props_kernel_clock_handover = {
    .name = "clock-handover",
    .about =
        "a buffer passes from the writer to the reader, and neither loses it",
    .setup = setup,
    .finish = two_events,
    .threads = {{"writer", traced_emit_twice, NULL},
                {"reader", traced_read_some, NULL}},
    .threads_count = 2,
};

/* ---- No buffer left ---- */

/* Use all but one of the four buffers. */
static void
setup_almost_full(void *context)
{
    setup(context);
    for (int i = 0; i < 3; i++)
        session_emit_full(0);
}

static void
write_another(void *context, uint32_t thread)
{
    (void)context;
    write_one(thread);
}

const struct sim_kernel props_kernel_clock_cut = {
    .name = "clock-cut",
    .about = "a trace that ran out of buffers ends at the same time on all "
             "processors",
    .setup = setup_almost_full,
    .finish = some_are_lost,
    .threads = {{"first", write_another, NULL}, {"second", write_two, NULL}},
    .threads_count = 2,
};

/* Use all of the four buffers. */
static void
setup_full(void *context)
{
    setup_almost_full(context);
    session_emit_full(0);
}

const struct sim_kernel props_kernel_clock_two_cuts = {
    .name = "clock-two-cuts",
    .about = "two processors that run out of buffers at once end the trace at "
             "one moment",
    .setup = setup_full,
    .finish = some_are_lost,
    .threads = {{"first", write_another, NULL},
                {"second", write_another, NULL}},
    .threads_count = 2,
};

/* The last buffer is given up, and may be read before the end. */
static void
write_full_and_read(void *context, uint32_t thread)
{
    (void)context;
    write_one(thread);
    prof_trace_proc_free(session_trace, thread);
    for (int i = 0; i < READS_MAX; i++)
        if (session_read(&traced_file) != PROF_OK)
            return;
}

const struct sim_kernel props_kernel_clock_cut_read = {
    .name = "clock-cut-read",
    .about = "what was read before the trace was cut has no event from after "
             "the cut",
    .setup = setup_almost_full,
    .finish = some_may_be_lost,
    .threads = {{"first", write_full_and_read, NULL},
                {"second", write_two, NULL}},
    .threads_count = 2,
};

/* All buffers are full, except for those of processor 1 and of the outside
 * lane. */
static void
setup_two_in_use(void *context)
{
    setup(context);
    session_emit_full(0);
    session_emit_full(0);
    session_emit(PROF_TRACE_NO_PROC);
    session_emit(1);
}

/* The second event is read, perhaps before the trace is cut; the first event is
 * not. If the second is in the trace, the first must be, too. */
static void
write_two_and_read_second(void *context, uint32_t thread)
{
    write_one(OUTSIDE);
    write_full_and_read(context, thread);
}

const struct sim_kernel props_kernel_clock_cut_between = {
    .name = "clock-cut-between",
    .about = "a cut removes no event that precedes one already read",
    .setup = setup_two_in_use,
    .finish = some_may_be_lost,
    .threads = {{"first", write_another, NULL},
                {"second", write_two_and_read_second, NULL}},
    .threads_count = 2,
};

/* ---- two sessions ---- */

static void
two_files(void *context)
{
    uint64_t latest;
    uint32_t found;

    (void)context;
    session_end(&traced_second_file);
    found = traced_look(&traced_file);
    latest = traced_events.at[traced_events.count - 1].ticks;
    found += traced_look(&traced_second_file);
    sim_explore_check(found <= 1, "an event is in two sessions");
    sim_explore_check(traced_events.at[0].ticks >= latest,
                      "a session begins before the end of the one before");
}

const struct sim_kernel props_kernel_clock_sessions = {
    .name = "clock-sessions",
    .about = "an event during a stop and a start is in one session, or in none",
    .setup = setup,
    .finish = two_files,
    .threads = {{"control", traced_stop_and_start, NULL},
                {"poller", traced_emit_without_processor, NULL}},
    .threads_count = 2,
};

/* ---- a return from a system call that began in the last session ---- */

const struct sim_kernel props_kernel_clock_returns = {
    .name = "clock-returns",
    .about = "a return from a system call is recorded once, in its own session",
    .setup = setup,
    .finish = traced_one_return,
    .threads = {{"control", traced_stop_and_start_stopped, NULL},
                {"program", traced_return, NULL}},
    .threads_count = 2,
};
