/*
 * steps.c -- the events of one run, kept only while a report is made.
 *
 * A debugger stops at sim_trace_stop(), before a chosen event. It finds the
 * stacks of all threads in sim_trace_view, an array of words at a known
 * address, because the explorer is linked without debug information.
 */
#include "explore/engine/engine.h"

enum { VIEW_HEAD = 3, VIEW_THREAD = 4 };

/*
 * The header: the number of the event, the number of threads, the index of the
 * first row. A row, for each thread: its stack pointer while it does not run,
 * both ends of its stack, whether it has ended.
 */
uint64_t sim_trace_view[VIEW_HEAD + VIEW_THREAD * SIM_THREADS_MAX];

__attribute__((noinline)) void
sim_trace_stop(struct engine *e)
{
    sim_trace_view[0] = e->state.trace_count;
    sim_trace_view[1] = e->threads_count;
    sim_trace_view[2] = VIEW_HEAD;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];
        uint64_t *row = &sim_trace_view[VIEW_HEAD + VIEW_THREAD * i];

        row[0] = (uint64_t)(uintptr_t)t->fiber.stack_pointer;
        row[1] = (uint64_t)(uintptr_t)t->fiber.stack;
        row[2] = row[1] + SIM_FIBER_STACK_BYTES;
        row[3] = t->run.finished;
    }
    e->trace_stop = 0;
    sim_trace_stopped();
}

/* Here the debugger has its breakpoint. */
__attribute__((noinline)) void
sim_trace_stopped(void)
{
    __asm__ volatile("" : : : "memory");
}

void
sim_trace_stop_before(struct engine *e, uint32_t event)
{
    static struct trace_event events[TRACE_MAX];

    e->trace = events;
    e->trace_stop = event + 1;
}

struct trace_event *
sim_trace_add_event(struct engine *e, enum sim_op op, uintptr_t site)
{
    struct trace_event *event;

    if (e->state.trace_count == TRACE_MAX)
        return NULL;
    if (e->state.trace_count + 1 == e->trace_stop)
        sim_trace_stop(e);
    event = &e->trace[e->state.trace_count++];
    *event = (struct trace_event){.op = op,
                                  .thread = e->current,
                                  .site = site,
                                  .from = TRACE_MAX,
                                  .newest = TRACE_MAX,
                                  .before = TRACE_MAX,
                                  .choice = e->choices->count};
    return event;
}
