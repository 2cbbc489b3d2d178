/*
 * order.c -- operations on objects, in the search graph by graph.
 *
 * Locks, condition variables, words to sleep on and marks are objects. An
 * operation that changes an object is ordered with every other operation on it;
 * one that only reads it (a failing try, readers that come and go, going to
 * sleep) is ordered with changes alone. An operation comes after all that were
 * made, or waits for a certain thread's next one that it does not commute with,
 * as a read does (reduce.c).
 */
#include "engine.h"

void
sim_order_ask(struct order *order, bool looks, sim_can_take *can_take,
              void *context)
{
    struct thread *t = sim_self();

    if (!sim_engine.reduced)
        return;
    t->blocks = can_take != NULL;
    t->can_take = can_take;
    t->can_take_context = context;
    t->orders = true;
    t->looks = looks;
    sim_reduce_enter();
    while (sim_reduce_read(&order->chain, 1, 0) == SIM_STAYED)
        ;
    t->looks = t->orders = false;
    t->asked = (struct asked){.question = t->question,
                              .offered = t->offered,
                              .needs = can_take != NULL};
}

void
sim_order_record(struct order *order, struct asked asked, bool changed)
{
    struct thread *t = sim_self();

    if (!sim_engine.reduced)
        return;
    t->question = asked.question;
    t->offered = asked.offered;
    t->needs = asked.needs;
    t->shuts = asked.shuts;
    sim_reduce_did(&order->chain, changed ? SIM_CHANGE : SIM_LOOK,
                   &order->chain.causal);
    t->needs = t->shuts = false;
    if (changed)
        sim_clock_join(&t->causal, &order->looks);
    else
        sim_clock_join(&order->looks, &t->causal);
}

void
sim_order_offer(struct order *order, bool changed)
{
    if (sim_engine.reduced)
        sim_offer_later(&order->chain, changed);
}

void
sim_order_done(struct order *order, bool changed)
{
    sim_order_record(order, sim_self()->asked, changed);
    sim_order_offer(order, changed);
}

/* An operation that has no place here: the search begins again without. */
void
sim_reduce_refuse(void)
{
    if (!sim_engine.reduced)
        return;
    sim_engine.irreducible = true;
    sim_engine_stop(SIM_END_PRUNED);
}
