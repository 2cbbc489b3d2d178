/*
 * offer.c -- offers what a thread has done to those that wait for it.
 *
 * An operation is offered not at once, but when its thread comes to its next
 * one. Between the two there may be code that is not instrumented, and the
 * explorer cannot see what it changes. The waiting threads cannot go on before
 * that code has run, so it runs right after the operation; in a search by
 * schedules it does so, too, because threads are switched only at scheduling
 * points. So each run of a search graph by graph is also a run of some
 * schedule, and unseen state changes in the order of the events.
 */
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"

#include <string.h>

void
sim_offer_later(struct engine *e, struct chain *chain, bool changed)
{
    struct thread *t = sim_self(e);

    if (changed) {
        sim_clock_join(&t->run.causal, &t->run.now);
        chain->causal = t->run.causal;
    }
    t->run.offers[t->run.offers_count++] = (struct offer){
        .chain = chain,
        .stamp = t->run.now.at[e->current],
        .changed = changed,
    };
}

/* Threads that stay blocked until the object changes ask again. */
static void
wake_blocked(struct engine *e, const struct chain *chain)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.awaits == chain)
            e->ready |= 1U << i;
    }
}

/* End the run if a thread that was left in a wait loop waits for this store:
 * another list has it. */
static void
cut_if_awaited(struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct round_read *change =
            e->threads[i].run.dropped ? sim_wait_change(e, i) : NULL;

        if (change != NULL) {
            sim_question_open(e, change->question + 1);
            sim_engine_stop(e, SIM_END_BLOCKED);
        }
    }
}

void
sim_offer_settle(struct engine *e)
{
    struct thread *t = sim_self(e);

    while (t->run.offers_count > 0) {
        const struct offer offer = t->run.offers[0];

        t->run.offers_count--;
        memmove(t->run.offers, t->run.offers + 1,
                t->run.offers_count * sizeof offer);
        t->run.offered_stamp = offer.stamp;
        sim_reduce_offer(e, offer.chain, !offer.changed);
        if (offer.changed) {
            wake_blocked(e, offer.chain);
            cut_if_awaited(e);
        }
    }
}
