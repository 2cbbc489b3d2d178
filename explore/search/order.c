/*
 * order.c -- operations on objects, in the search graph by graph.
 *
 * Locks, condition variables, words to sleep on and marks are objects. An
 * operation that changes an object is ordered with every other operation on it;
 * one that only reads it (a failing try, readers that come and go, going to
 * sleep) is ordered with changes only. An operation either comes after all that
 * were made so far, or waits for the next operation of a certain thread that it
 * does not commute with, as a read does (reduce.c).
 */
#include "explore/engine/engine.h"

void
sim_order_ask(struct engine *e, struct order *order, bool looks,
              sim_can_take *can_take, void *context)
{
    struct thread *t = sim_self(e);

    if (!e->reduced)
        return;
    t->run.blocks = can_take != NULL;
    t->run.can_take = can_take;
    t->run.can_take_context = context;
    t->run.orders = true;
    t->run.looks = looks;
    sim_reduce_enter(e);
    while (sim_reduce_read(e, &order->chain, 1, 0) == SIM_STAYED)
        ;
    t->run.looks = t->run.orders = false;
    t->run.requested = (struct requested){.question = t->run.question,
                                          .offered = t->run.offered,
                                          .needs = can_take != NULL};
}

void
sim_order_record(struct engine *e, struct order *order,
                 struct requested requested, bool changed)
{
    struct thread *t = sim_self(e);

    if (!e->reduced)
        return;
    t->run.question = requested.question;
    t->run.offered = requested.offered;
    t->run.needs = requested.needs;
    t->run.shuts = requested.shuts;
    sim_reduce_did(e, &order->chain, changed ? SIM_CHANGE : SIM_LOOK,
                   &order->chain.causal);
    t->run.needs = t->run.shuts = false;
    if (changed)
        sim_clock_join(&t->run.causal, &order->looks);
    else
        sim_clock_join(&order->looks, &t->run.causal);
}

void
sim_order_offer(struct engine *e, struct order *order, bool changed)
{
    if (e->reduced)
        sim_offer_later(e, &order->chain, changed);
}

void
sim_order_done(struct engine *e, struct order *order, bool changed)
{
    sim_order_record(e, order, sim_self(e)->run.requested, changed);
    sim_order_offer(e, order, changed);
}

/* ---- Barriers on all threads ---- */

/*
 * In a kernel with barriers each operation is ordered with them: it comes after
 * all barriers so far, or waits for a certain thread's next barrier. This
 * question, the operation's turn, is asked before its other questions. If one
 * of those makes it wait, only threads that it depends on run, so their
 * barriers come before it in any case.
 */
static void
ask_turn(struct engine *e)
{
    struct thread *t = sim_self(e);
    struct lock *wants = t->run.wants;

    if (t->run.has_turn || t->run.is_barrier || t->run.probing ||
        e->state.last_round)
        return;
    t->run.wants = NULL; /* here it waits for a barrier, not for the lock */
    sim_order_ask(e, &e->state.barriers, true, NULL, NULL);
    t->run.wants = wants;
    t->run.turn = t->run.requested;
    t->run.has_turn = true;
}

/* Forget what the thread depends on only through barriers: these may as well
 * come after its operation. */
void
sim_turn_forget_barrier(struct engine *e)
{
    struct thread *t = sim_self(e);

    if (t->run.barrier_came)
        t->run.before = t->run.before_barrier;
    t->run.barrier_came = false;
}

/* The operation has its event; what it reads is still to be recorded. */
static void
record_turn(struct engine *e)
{
    struct thread *t = sim_self(e);
    const uint32_t question = t->run.question;
    const uint32_t offered = t->run.offered;

    t->run.has_turn = false;
    sim_turn_forget_barrier(e);
    sim_order_record(e, &e->state.barriers, t->run.turn, false);
    sim_order_offer(e, &e->state.barriers, false);
    t->run.question = question;
    t->run.offered = offered;
}

/* The operation cannot be reduced: the search begins again by schedules. */
void
sim_reduce_refuse(struct engine *e)
{
    if (!e->reduced)
        return;
    e->state.irreducible = true;
    sim_engine_stop(e, SIM_END_PRUNED);
}

const struct sim_graphs sim_graphs = {
    .settle = sim_offer_settle,
    .ask_turn = ask_turn,
    .record_turn = record_turn,
};
