/*
 * thread.c -- threads that a run creates itself, and how they end.
 *
 * A new thread runs up to its first event as soon as it is created, as the
 * threads that a kernel declares do. What precedes a first event is invisible
 * to other threads, so this order is no choice.
 *
 * When all slots are in use, a slot is reused if the end of its thread happens
 * before the creation, so after a join: then no access of the old thread can be
 * concurrent with one of the new. The search graph by graph does not reuse
 * slots, because its choices name a thread by its slot.
 */
#include "explore/engine/object.h"

enum { EVENT_CREATE = 21, EVENT_JOIN = 23 };

void
sim_thread_vanish(struct engine *e, uint32_t i)
{
    struct thread *t = &e->threads[i];

    if (t->run.finished)
        return;
    t->run.finished = true;
    t->run.wants = NULL;
    t->run.sleeps_on = NULL;
    e->state.spinners -= t->run.spinning;
    t->run.spinning = false;
    e->ready &= ~(1U << i);
    e->unfinished--;
}

const char *
sim_thread_name(struct engine *e, const struct sim_kernel *kernel, uint32_t i)
{
    static char names[SIM_THREADS_MAX][40];

    if (i < kernel->threads_count)
        return kernel->threads[i].name;
    if (!sim_site_address_text(names[i], sizeof names[i],
                               e->threads[i].run.function))
        return "thread";
    return names[i];
}

static void
trace(struct engine *e, const char *what, uint32_t i, uintptr_t site)
{
    struct trace_event *event = sim_trace_add(e, SIM_OP_THREAD, site);

    if (event != NULL) {
        event->what = what;
        event->value = i;
    }
}

static bool
reusable(struct engine *e, uint32_t i)
{
    const struct thread *t = &e->threads[i];

    return t->run.finished && t->run.body != NULL &&
           sim_self(e)->run.now.at[i] >= t->run.ended_at;
}

static uint32_t
slot(struct engine *e, uintptr_t site)
{
    if (e->threads_count < SIM_THREADS_MAX)
        return e->threads_count++;
    sim_reduce_refuse(e);
    for (uint32_t i = SIM_THREADS_MAX; i-- > 0;) {
        if (reusable(e, i))
            return i;
    }
    sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                      "more than 8 threads at once");
}

/* Order the creation with others, because it gives the thread a number. */
static void
order_creation(struct engine *e, uintptr_t site)
{
    sim_engine_point(e, site);
    sim_order_ask(e, &e->state.creations, false, NULL, NULL);
}

/*
 * When a run has more threads than any before, the search begins again, and
 * knows from the beginning which threads it may wait for.
 */
static void
learn_threads(struct engine *e)
{
    if (!e->reduced || e->threads_known >= e->threads_count)
        return;
    if (e->shard.count != 0) /* not every shard would learn of the thread */
        sim_reduce_refuse(e);
    e->threads_known = e->threads_count;
    e->learned = true;
}

uint32_t
sim_thread_create(struct engine *e, void (*body)(void *argument),
                  void *argument, uintptr_t function, uintptr_t site)
{
    const uint32_t used = (order_creation(e, site), e->threads_count);
    const uint32_t i = slot(e, site);
    struct thread *t = &e->threads[i];
    const uint32_t stamp = i < used ? t->run.now.at[i] : 0;

    trace(e, "create", i, site);
    sim_engine_event(e, EVENT_CREATE, i);
    sim_engine_thread_reset(e, i);
    sim_order_record(e, &e->state.creations, sim_self(e)->run.requested, true);
    learn_threads(e);
    t->run.causal = sim_self(e)->run.causal;
    t->run.now = sim_self(e)->run.now;
    t->run.now.at[i] = stamp;
    t->run.body = body;
    t->run.argument = argument;
    t->run.function = function;
    t->run.starter = &sim_self(e)->fiber;
    e->ready |= 1U << i;
    e->unfinished++;
    sim_seq_cst_sync(e);
    sim_seq_cst_sync_of(e, i);
    sim_engine_start(e, i);
    sim_order_offer(e, &e->state.creations, true);
    return i;
}

void
sim_thread_join(struct engine *e, uint32_t i, uintptr_t site)
{
    struct thread *t = &e->threads[i];

    sim_engine_settle(e);
    if (!t->run.finished) {
        sim_self(e)->run.joins = i + 1;
        sim_engine_block(e, site);
        sim_self(e)->run.joins = 0;
    }
    trace(e, "join", i, site);
    sim_engine_event(e, EVENT_JOIN, i);
    sim_clock_join(&sim_self(e)->run.now, &t->run.now);
    sim_clock_join(&sim_self(e)->run.causal, &t->run.causal);
    sim_seq_cst_sync(e);
}
