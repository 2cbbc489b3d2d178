/*
 * blocked.c -- finds the waiting threads that could continue.
 *
 * A thread in a wait loop (wait.c) can go on if another thread has stored to a
 * location that it read. A thread that waits for an object (object.c) can go on
 * if the object admits it, or if its wait may time out.
 */
#include "explore/engine/object.h"
#include "explore/search/frontier.h"

enum { UNROLL_DEFAULT = 1, LEFT_MAX = 4 };

/* ---- In a loop ---- */

/*
 * The store that gave the location the value of store `index`. A
 * read-modify-write that stores the value it has read changes nothing: a thread
 * that waits at the location has nothing new to read.
 */
const struct store *
sim_wait_origin(const struct location *l, uint32_t index)
{
    while (index > 0 && l->stores[index].is_rmw &&
           l->stores[index].value == l->stores[index - 1].value)
        index--;
    return &l->stores[index];
}

/* Has the location changed since the read? */
bool
sim_wait_is_new(const struct round_read *read)
{
    const struct location *l = read->location;
    const struct store *s = sim_wait_origin(l, l->stores_count - 1);

    return s->thread != read->thread || s->stamp != read->stamp;
}

/*
 * Could the next round of a waiting thread read anything new?
 *
 * returns: the first read of its last round that could; NULL: none could
 */
const struct round_read *
sim_wait_change(struct engine *e, uint32_t thread)
{
    const struct round *r = &e->threads[thread].run.round;

    for (uint32_t i = 0; i < r->count; i++) {
        if (sim_wait_is_new(&r->reads[i]))
            return &r->reads[i];
    }
    return NULL;
}

uint32_t
sim_wait_unroll(struct engine *e)
{
    const uint32_t requested = e->options.unroll;

    return requested != 0 ? requested : UNROLL_DEFAULT;
}

/* The probe does something that the round did not do, so the probe ends. */
void
sim_wait_leave(struct engine *e)
{
    struct thread *t = sim_self(e);
    struct round *r = &t->run.round;

    if (e->state.last_round)
        sim_engine_stop(
            e, SIM_END_BLOCKED); /* a waiting thread can go on after all */
    t->run.probing = false;
    r->count = 0;
    if (!r->bracketed && r->real < sim_wait_unroll(e)) {
        r->real++; /* the first round may differ: explore this one, too */
        return;
    }
    e->run->bounded = true;
    if (++r->left > LEFT_MAX + sim_wait_unroll(e)) {
        sim_question_open(e, 0);
        sim_engine_stop(e, SIM_END_BLOCKED);
    }
}

/*
 * When no thread can run, let a waiting thread go round its loop once more, if
 * something that it read has changed.
 *
 * returns: the thread, or SIM_THREADS_MAX if there is none
 */
uint32_t
sim_wait_last_round(struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        if ((!t->run.dropped && !t->run.spinning) ||
            sim_wait_change(e, i) == NULL)
            continue;
        e->state.last_round = true;
        return i;
    }
    return SIM_THREADS_MAX;
}

/* ---- For an object ---- */

bool
sim_object_admits(const struct object *o, enum sim_need need)
{
    switch (need) {
    case SIM_NEED_LOCK:
        return o->holder == SIM_THREADS_MAX && o->readers == 0;
    case SIM_NEED_READ:
        return o->holder == SIM_THREADS_MAX;
    case SIM_NEED_COUNT:
        return o->count > 0;
    }
    return false;
}

void
sim_object_settle(struct engine *e, const struct object *o)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];

        if (t->run.waits_on != o || t->run.finished)
            continue;
        if (sim_object_admits(o, (enum sim_need)t->run.need))
            e->ready |= 1U << i;
        else
            e->ready &= ~(1U << i);
    }
}

/* If no thread can continue, let all waits with a time limit time out. */
bool
sim_object_time_out(struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        struct thread *t = &e->threads[i];

        if (!t->run.timed || t->run.finished)
            continue;
        t->run.timed = false;
        t->run.timed_out = true;
        if (t->run.sleeps_for != NULL && t->run.relock != NULL) {
            t->run.waits_on = t->run.relock;
            t->run.need = SIM_NEED_LOCK;
            sim_object_settle(e, t->run.relock);
        } else {
            e->ready |= 1U << i;
        }
    }
    return e->ready != 0;
}
