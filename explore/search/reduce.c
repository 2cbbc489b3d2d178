/*
 * reduce.c -- visits each execution graph once, without trying every schedule.
 *
 * Example: main starts thread 1, which loads x, and thread 2, which stores 1 in
 * x. The load is the only question.
 *
 *      run 1, list `0`   thread 1 goes first: 1 source, the initial store, and
 *                        answer 0 takes it. Thread 2's store could have been
 *                        waited for, so answer 1 + 2 is to be tried, too
 *      run 2, list `3`   thread 1 waits for thread 2, takes its store: x is 1
 *
 * Two runs, two graphs. (`--replay g0,0,3`: the zeros answer main.)
 *
 * Threads run in a fixed order: the current one goes on until it cannot. So the
 * schedule is no choice. Instead, a question is asked wherever two graphs can
 * differ. A read (a load, an exchange, taking a lock) may
 *
 *      take one of the stores made so far:       answers 0 .. sources - 1
 *      wait for one that thread k has yet to do: answer  sources + k
 *
 * In the second case only thread k runs, until it has written to that object.
 * Before k's next operation (offer.c) the waiting read then takes that store,
 * or goes on to wait for k's next write. So different lists give different
 * graphs, and every graph has a list: at each read, take or wait as the graph
 * says.
 *
 * Runs show whether it is worth waiting for k. When k writes to an object, each
 * earlier read of the object that k's write does not depend on (by program
 * order and reads-from, precursors()) could have waited for it. So the read's
 * question gets the answer `sources + k`, to be tried after the others. Such a
 * list may still lead to no graph, if k then takes another path; the run ends
 * there.
 *
 * The last answer, `sources + SIM_THREADS_MAX`, is to stay blocked until
 * another thread writes to the object, and then to ask the question again
 * (futile.c).
 *
 * Writes do not wait: a store gets its position in modification order when it
 * is made (memory.c). Locking, sleeping and waking work like reads (order.c). A
 * kernel in which a thread forks, or which checks an invariant after each
 * event, is explored by schedules instead (engine.c).
 */
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"
#include "explore/engine/need.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 1 << 16, CHOICES_MAX = SIM_QUESTIONS_MAX };

#define NONE UINT32_MAX

/* An operation on an object. */
struct entry {
    uint32_t before; /* the one before on this object, index + 1 */
    uint32_t thread;
    uint32_t stamp;
    uint32_t question; /* NONE if it read nothing */
    uint32_t offered;  /* question of what it has waited for, or the same */
    bool changed;
    bool shuts;
};

void
sim_reduce_begin(struct engine *e)
{
    if (e->reduction.questions == NULL) {
        e->reduction.questions =
            sim_need(calloc(CHOICES_MAX, sizeof *e->reduction.questions));
        e->reduction.earlier =
            sim_need(malloc(CHOICES_MAX * sizeof *e->reduction.earlier));
        e->reduction.entries =
            sim_need(malloc(LOG_MAX * sizeof *e->reduction.entries));
    }
    e->reduction.entries_count = 0;
    e->reduction.stack_count = 0;
    e->reduction.resume = NONE;
}

/* ---- Questions ---- */

/* Does the thread wait for the running one, directly or through others? */
static bool
waits_for_us(struct engine *e, uint32_t thread)
{
    const uint32_t waiting = sim_question_waiting(e);

    for (uint32_t i = 0;
         i < e->reduction.stack_count && (waiting >> thread & 1) != 0; i++)
        thread = e->threads[thread].run.waits_for_thread;
    return thread == e->current;
}

/* Threads that may be waited for: those that do not wait for the running
 * one. */
static uint8_t
not_waiting(struct engine *e)
{
    uint8_t set = 0;

    if (e->reduction.stack_count == 0)
        return (uint8_t) ~(1U << e->current);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if (!waits_for_us(e, i))
            set |= (uint8_t)(1U << i);
    }
    return set;
}

/* Draw an answer for a random run: a source, or a thread that could write. */
static uint32_t
random_answer(struct engine *e, uint32_t sources, uint8_t allowed)
{
    const uint32_t answer =
        sim_choices_wish(e->choices, sources + e->threads_count);

    if (answer < sources)
        return answer;
    return (allowed >> (answer - sources) & 1) != 0 &&
                   !e->threads[answer - sources].run.finished
               ? answer
               : 0;
}

static uint32_t
ask(struct engine *e, uint32_t sources, uint8_t allowed, uint16_t label,
    uint64_t futile)
{
    struct thread *t = sim_self(e);
    const uint32_t at = e->choices->count;
    const bool requested_anew = sim_question_is_new(e->choices);
    uint32_t answer;

    if (requested_anew)
        e->reduction.questions[at] =
            (struct sim_question){.sources = sources,
                                  .allowed = allowed,
                                  .enabled = sim_shard_enter(e, at),
                                  .futile = futile};
    if (at < CHOICES_MAX)
        e->reduction.earlier[at] =
            t->run.waits_for_chain != NULL ? t->run.offered : NONE;
    t->run.offered = at < CHOICES_MAX ? at : NONE;
    answer =
        sim_choose_guided(e->choices, sources + SIM_THREADS_MAX + 1, SIM_STALE,
                          label, random_answer(e, sources, allowed));
    if (requested_anew && futile != 0 && at < e->choices->count) {
        answer = sim_question_first(&e->reduction.questions[at]);
        e->choices->list[at].value = answer;
    }
    return answer;
}

/* ---- Who runs ---- */

/* End the run: thread t waits for an operation that will not come. */
_Noreturn static void
dead_end(struct engine *e, const struct thread *t)
{
    sim_choices_refuse(e->choices, t->run.offered);
    sim_question_open(e,
                      e->reduction.stack_count > 0
                          ? e->threads[e->reduction.stack[0]].run.question + 1
                          : 0);
    sim_engine_stop(e, SIM_END_PRUNED);
}

static uint32_t
lowest(uint32_t set)
{
    return (uint32_t)__builtin_ctz(set);
}

static bool
is_blocked(const struct thread *t)
{
    return t->run.blocks && !t->run.can_take(t->run.can_take_context);
}

/* Find a waiting thread that need not be blocked. returns: NULL if no waiting
 * thread can get what it waits for, whichever thread runs */
static const struct thread *
find_unblocked(struct engine *e)
{
    for (uint32_t i = 0; i < e->reduction.stack_count; i++) {
        if (!is_blocked(&e->threads[e->reduction.stack[i]]))
            return &e->threads[e->reduction.stack[i]];
    }
    return NULL;
}

/* Pick the thread to run next; ends the run if it leads to no graph. returns:
 * the thread, SIM_THREADS_MAX if none can run */
uint32_t
sim_reduce_pick(struct engine *e, bool can_continue)
{
    const uint32_t next = e->reduction.resume;

    if (next != NONE) {
        e->reduction.resume = NONE;
        return next;
    }
    for (uint32_t i = e->reduction.stack_count; i-- > 0;) {
        const struct thread *t = &e->threads[e->reduction.stack[i]];
        const uint32_t wanted = t->run.waits_for_thread;

        if ((e->ready >> wanted & 1) != 0)
            return wanted;
        /* A blocked thread may stay so: that is known when all have run. */
        if (e->threads[wanted].run.finished && e->ready != 0 && !is_blocked(t))
            dead_end(e, t);
    }
    if (e->reduction.stack_count > 0 && e->ready == 0) {
        const struct thread *unblocked = find_unblocked(e);

        if (unblocked == NULL)
            return SIM_THREADS_MAX;
        dead_end(e, unblocked);
    }
    if (can_continue)
        return e->current;
    return e->ready != 0 ? lowest(e->ready) : SIM_THREADS_MAX;
}

static void
remove_waiter(struct engine *e, uint32_t thread)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < e->reduction.stack_count; i++) {
        if (e->reduction.stack[i] != thread)
            e->reduction.stack[kept++] = e->reduction.stack[i];
    }
    e->reduction.stack_count = kept;
}

/* Wait until thread `wanted` has written to the object, and this read takes
 * that write. */
static void
wait_for(struct engine *e, struct chain *chain, uint32_t wanted)
{
    struct thread *t = sim_self(e);

    if (waits_for_us(e, wanted) || e->threads[wanted].run.finished)
        dead_end(e, t);
    t->run.waits_for_chain = chain;
    t->run.waits_for_thread = wanted;
    t->run.waits_idly = true;
    e->reduction.stack[e->reduction.stack_count++] = e->current;
    e->ready &= ~(1U << e->current);
    e->run->switches++;
    sim_engine_go(e, sim_reduce_pick(e, false));
    t->run.waits_for_chain = NULL;
    t->run.blocks = false;
}

/* Stay blocked until another thread writes to the object. */
static void
stay(struct engine *e, struct chain *chain)
{
    struct thread *t = sim_self(e);

    t->run.awaits = chain;
    sim_engine_block(e, t->run.next_site);
    t->run.awaits = NULL;
    t->run.stayed_at = t->run.released ? t->run.offered + 1 : 0;
}

/*
 * Ask which of `sources` the running thread's next operation takes.
 *
 * in:      futile, the sources that are of no use, a bit each
 * returns: the source's number; NONE: the thread has waited, and takes what was
 *          just written; SIM_STAYED: the thread was blocked, and there may be
 *          other sources now
 */
uint32_t
sim_reduce_read(struct engine *e, struct chain *chain, uint32_t sources,
                uint64_t futile)
{
    const uint32_t at = e->choices->count;
    uint8_t allowed;
    uint32_t answer;

    if (sim_self(e)->run.released) {
        sim_self(e)->run.released = false;
        sim_self(e)->run.question = sim_self(e)->run.offered = NONE;
        return 0;
    }
    allowed = not_waiting(e);
    answer = ask(e, sources, allowed, (uint16_t)e->current, futile);
    if (!sim_answer_fits(e, at, answer, sources, allowed,
                         !sim_self(e)->run.orders))
        sim_answer_refuse(e, at);
    if (answer == sources + SIM_THREADS_MAX) {
        stay(e, chain);
        return SIM_STAYED;
    }
    sim_self(e)->run.question = sim_self(e)->run.offered;
    if (answer < sources) {
        e->run->stale += answer != 0;
        return answer;
    }
    wait_for(e, chain, answer - sources);
    return NONE;
}

/* ---- What was done ---- */

/* What the running thread's events depend on: happens-before and all reads. */
static const struct clock *
precursors(struct engine *e)
{
    struct thread *t = sim_self(e);

    sim_clock_join(&t->run.causal, &t->run.now);
    return &t->run.causal;
}

/* Before an operation: note what it depends on, without its own read. */
void
sim_reduce_enter(struct engine *e)
{
    sim_self(e)->run.before = *precursors(e);
}

/* Find earlier operations that could have waited for this one. */
static void
enable_waiting(struct engine *e, const struct chain *chain,
               const struct clock *before, bool look)
{
    const uint32_t me = e->current;

    if (e->choices->backend != SIM_ODOMETER)
        return;
    for (uint32_t i = chain->last; i != 0;
         i = e->reduction.entries[i - 1].before) {
        const struct entry *r = &e->reduction.entries[i - 1];

        if (r->thread == me || r->question == NONE || (!r->changed && look) ||
            r->stamp <= before->at[r->thread] ||
            (r->shuts && sim_self(e)->run.needs))
            continue;
        for (uint32_t q = r->offered; q != NONE; q = e->reduction.earlier[q])
            e->reduction.questions[q].enabled |= (uint8_t)(1U << me);
    }
}

/*
 * Thread `me` has made the operation that t waits for. For which threads may t
 * wait instead? A read waits only for `me`'s next write; an operation on an
 * object for any thread. Looks commute, so after a look it waits only for
 * threads with higher numbers.
 */
static uint8_t
may_wait_further(struct engine *e, const struct thread *t, uint32_t me,
                 bool look)
{
    const uint8_t others = !t->run.orders ? 0
                           : look         ? (uint8_t)(UINT32_MAX << me)
                                          : UINT8_MAX;

    return (uint8_t)(1U << me) | (others & not_waiting(e));
}

/* Ask whether thread d, which waits for this operation, comes right after
 * it. */
static bool
takes(struct engine *e, uint32_t d, bool look)
{
    struct thread *t = &e->threads[d];
    const uint32_t me = e->current;
    const uint32_t at = e->choices->count;
    uint8_t allowed = (uint8_t)(1U << me);
    uint32_t answer = 1 + me;

    t->run.waits_idly = false;
    e->current = d;
    if (t->run.can_take == NULL || t->run.can_take(t->run.can_take_context)) {
        allowed = may_wait_further(e, t, me, look);
        answer = ask(e, 1, allowed, (uint16_t)d, 0);
        t->run.waits_idly = answer != 0;
    }
    e->current = me;
    if (!sim_answer_fits(e, at, answer, 1, allowed, false))
        sim_answer_refuse(e, at);
    if (answer != 0)
        t->run.waits_for_thread = answer - 1;
    return answer == 0;
}

/* Offer the operation to the threads that wait for it. Each that takes it makes
 * its own operation now, one thread after the other. */
void
sim_reduce_offer(struct engine *e, struct chain *chain, bool look)
{
    const uint32_t me = e->current;

    for (uint32_t i = e->reduction.stack_count; i-- > 0;) {
        const uint32_t d = e->reduction.stack[i];
        struct thread *t = &e->threads[d];
        uint32_t saved;

        if (t->run.waits_for_chain != chain || t->run.waits_for_thread != me ||
            (t->run.looks && look) || !takes(e, d, look))
            continue;
        remove_waiter(e, d);
        e->ready |= 1U << d;
        saved = e->reduction.resume;
        e->reduction.resume = me;
        sim_engine_go(e, d);
        e->reduction.resume = saved;
        i = i < e->reduction.stack_count ? i : e->reduction.stack_count;
    }
}

/*
 * Record the running thread's operation on the object, after its event. Unless
 * it was a store, sim_reduce_read() was called before it.
 *
 * in:      source, what the event that it read from depends on; or NULL
 */
void
sim_reduce_did(struct engine *e, struct chain *chain,
               enum sim_operation operation, const struct clock *source)
{
    struct thread *t = sim_self(e);
    const bool read = operation != SIM_STORE;

    if (e->reduction.entries_count == LOG_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, t->run.last_site, 0,
                          "the run has too many accesses");
    if (operation != SIM_LOAD)
        enable_waiting(e, chain, &t->run.before, operation == SIM_LOOK);
    e->reduction.entries[e->reduction.entries_count++] = (struct entry){
        .before = chain->last,
        .thread = e->current,
        .stamp = t->run.now.at[e->current],
        .question = read ? t->run.question : NONE,
        .offered = read ? t->run.offered : NONE,
        .changed = operation == SIM_STORE || operation == SIM_CHANGE,
        .shuts = t->run.shuts,
    };
    chain->last = e->reduction.entries_count;
    if (source != NULL)
        sim_clock_join(&t->run.causal, source);
    precursors(e);
}
