/*
 * question.c -- the questions of a run, and the answers of each (frontier.h).
 *
 * The answers of a read, in order: each source, each thread to wait for, to
 * stay blocked (reduce.c).
 */
#include "explore/engine/engine.h"
#include "explore/search/frontier.h"

uint8_t
sim_question_threads(struct engine *e)
{
    uint8_t unfinished = 0;

    for (uint32_t i = 0; i < e->threads_count || i < e->threads_known; i++) {
        if (!e->threads[i].run.finished)
            unfinished |= (uint8_t)(1U << i);
    }
    return unfinished;
}

static uint8_t
open_threads(const struct sim_question *q)
{
    return q->enabled & q->allowed & (uint8_t)~q->tried;
}

static bool
is_futile(const struct sim_question *q, uint32_t source)
{
    return source < 64 && (q->futile >> source & 1) != 0;
}

/* The first source from `from` on that is not futile, or q->sources. */
static uint32_t
next_source(const struct sim_question *q, uint32_t from)
{
    while (from < q->sources && is_futile(q, from))
        from++;
    return from;
}

uint32_t
sim_question_first(struct sim_question *q)
{
    const uint32_t first = next_source(q, 0);

    q->waits = first == q->sources;
    return q->waits ? q->sources + SIM_THREADS_MAX : first;
}

bool
sim_question_has_next(const struct sim_question *q,
                      const struct sim_choice *choice)
{
    struct sim_question question = *q;
    struct sim_choice next = *choice;

    return sim_question_next(&question, &next);
}

bool
sim_question_next(struct sim_question *q, struct sim_choice *choice)
{
    uint32_t next;

    if (q->sources == 0) {
        if (choice->value + 1 >= choice->bound)
            return false;
        choice->value++;
        return true;
    }
    if (q->waits)
        return false;
    next = next_source(q, choice->value < q->sources ? choice->value + 1
                                                     : q->sources);
    if (next < q->sources) {
        choice->value = next;
        return true;
    }
    if (q->tried == 0 && next_source(q, 0) == q->sources) {
        q->waits = 1;
        choice->value = q->sources + SIM_THREADS_MAX;
        return true;
    }
    if (open_threads(q) != 0) {
        const uint32_t thread = (uint32_t)__builtin_ctz(open_threads(q));

        q->tried |= (uint8_t)(1U << thread);
        choice->value = q->sources + thread;
        return true;
    }
    return false;
}

uint32_t
sim_question_answers(const struct sim_question *q,
                     const struct sim_choice *choice)
{
    uint32_t count = 0;

    if (q->sources == 0)
        return choice->bound;
    if (q->waits)
        return 1;
    for (uint32_t i = 0; i < q->sources; i++)
        count += !is_futile(q, i);
    count += (uint32_t)__builtin_popcount(q->enabled & q->allowed);
    return count > 0 ? count : 1;
}

uint32_t
sim_question_passed(const struct sim_question *q,
                    const struct sim_choice *choice)
{
    uint32_t count = 0;

    if (q->sources == 0)
        return choice->value;
    for (uint32_t i = 0; i < q->sources && i < choice->value; i++)
        count += !is_futile(q, i);
    if (choice->value >= q->sources)
        count += (uint32_t)__builtin_popcount(q->tried) - (q->tried != 0);
    return count;
}

/* ---- The questions of a run ---- */

/* A repeated run must not change what the search has learned. */
bool
sim_question_is_new(const struct sim_choices *choices)
{
    return choices->backend == SIM_ODOMETER &&
           choices->count >= choices->fixed_count &&
           choices->count < SIM_QUESTIONS_MAX;
}

/* Note a choice that is not a read: its answers are fixed. */
void
sim_question_plain(struct engine *e, const struct sim_choices *choices)
{
    if (sim_question_is_new(choices))
        e->reduction.questions[choices->count] =
            (struct sim_question){.sources = 0};
}

uint32_t
sim_question_waiting(struct engine *e)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < e->reduction.stack_count; i++)
        set |= 1U << e->reduction.stack[i];
    return set;
}

struct sim_question *
sim_question_at(struct engine *e, uint32_t i)
{
    return &e->reduction.questions[i];
}

/*
 * A run ends early. So for its questions from `from` on it is unknown which
 * threads are worth waiting for, and all threads that could go on are tried.
 */
void
sim_question_open(struct engine *e, uint32_t from)
{
    uint8_t unfinished;

    if (!e->reduced || e->choices->backend != SIM_ODOMETER)
        return;
    unfinished = sim_question_threads(e) & (uint8_t)~sim_question_waiting(e);
    for (uint32_t i = from; i < e->choices->count; i++) {
        if (e->reduction.questions[i].sources != 0)
            e->reduction.questions[i].enabled |= unfinished;
    }
}
