/*
 * answer.c -- refuses answers that a question does not have.
 *
 * A search gives only answers that lead on (question.c). A list that a user or
 * the shrinker gives may have any number. To wait for a thread that will never
 * come, or to stay blocked at what could go on, would look like a deadlock of
 * the program.
 */
#include "explore/engine/engine.h"

void
sim_answer_refuse(struct engine *e, uint32_t at)
{
    sim_choices_refuse(e->choices, at);
    sim_engine_stop(e, SIM_END_PRUNED);
}

bool
sim_answer_fits(struct engine *e, uint32_t at, uint32_t answer,
                uint32_t sources, uint8_t allowed, bool may_stay)
{
    const struct sim_choices *choices = e->choices;

    if (choices->misaligned && choices->misaligned_at == at)
        return false; /* a larger number was given */
    if (answer < sources)
        return true;
    if (answer == sources + SIM_THREADS_MAX)
        return may_stay;
    return (allowed >> (answer - sources) & 1) != 0;
}

/*
 * No thread can run. A thread that has stayed blocked at a read has gone on
 * with the newest value. If that has not led it round its loop, it need not
 * have stayed.
 */
void
sim_answer_stuck(struct engine *e)
{
    if (!e->reduced || e->choices->backend == SIM_ODOMETER)
        return;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];

        if (t->run.stayed_at != 0 && !t->run.finished && !t->run.dropped &&
            !t->run.spinning)
            sim_answer_refuse(e, t->run.stayed_at - 1);
    }
}

/* Has the thread that t waits for done nothing on the object since? */
static bool
is_idle(struct engine *e, const struct thread *t)
{
    const struct thread *other = &e->threads[t->run.waits_for_thread];

    for (uint32_t i = 0; i < other->run.offers_count; i++) {
        if (other->run.offers[i].chain == t->run.waits_for_chain)
            return false; /* just done, and not offered yet */
    }
    return t->run.waits_for_chain != NULL && t->run.waits_idly;
}

uint32_t
sim_answer_idle(struct engine *e)
{
    uint32_t count = 0;

    for (uint32_t i = 0; e->reduced && i < e->threads_count; i++)
        count += is_idle(e, &e->threads[i]);
    return count;
}

void
sim_answer_end(struct engine *e)
{
    for (uint32_t i = 0; e->reduced && i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];

        if (t->run.waits_for_chain != NULL &&
            t->run.waits_for_thread >= e->threads_count)
            sim_choices_refuse(e->choices, t->run.offered);
    }
}
