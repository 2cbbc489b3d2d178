/* blocked_model.c -- see blocked_model.h. */
#include "blocked_model.h"
#include "engine.h"
#include "object.h"

#include <string.h>

#include "unit_test.h"

enum {
    CASES = 2000,
    THREADS = SIM_THREADS_MAX,
    OBJECTS = 3,
    STORES = 5,
    PLACES = 3
};

static struct sim_rng draws = {.state = 3};
static uint32_t
draw(uint32_t bound)
{
    return sim_rng_below(&draws, bound);
}

/* ---- In a loop ---- */

static struct store stores[PLACES][STORES];
static struct location places[PLACES];

static void
draw_places(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        places[i] = (struct location){.stores = stores[i],
                                      .stores_count = 1 + draw(STORES)};
        for (uint32_t k = 0; k < STORES; k++)
            stores[i][k] = (struct store){.value = draw(2),
                                          .is_rmw = k > 0 && draw(2) == 1,
                                          .thread = draw(2),
                                          .stamp = draw(2)};
        stores[i][0].is_rmw = draw(2) == 1; /* nothing stands before it */
    }
}

/* The last store up to this one that is no exchange of equal values. */
static uint32_t
origin(const struct store *list, uint32_t index)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i <= index; i++)
        last = list[i].is_rmw && list[i].value == list[i - 1].value ? last : i;
    return last;
}

static bool
is_new(const struct round_read *read)
{
    const struct location *l = read->location;
    const struct store *s = &l->stores[origin(l->stores, l->stores_count - 1)];

    return s->thread != read->thread || s->stamp != read->stamp;
}

static const struct round_read *
first_new(const struct round *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (is_new(&r->reads[i]))
            return &r->reads[i];
    }
    return NULL;
}

static void
draw_round(struct thread *t)
{
    t->round.count = draw(4);
    for (uint32_t i = 0; i < 4; i++)
        t->round.reads[i] =
            (struct round_read){.location = &places[draw(PLACES)],
                                .thread = draw(2),
                                .stamp = draw(2)};
    t->dropped = draw(3) == 0;
    t->spinning = draw(3) == 0;
}

/* A probe that leaves its loop ends. The rounds that were asked for are
 * explored like any code, if the probe did not find its round; the others only
 * count, and a run may have some more of them than were asked for. */
static void
check_leave(void)
{
    struct engine *e = &sim_engine;
    struct thread *t = sim_self();
    struct round *r = &t->round;
    struct sim_run run = {.bounded = draw(2) == 1};
    const uint32_t asked = 1 + draw(6);
    const uint32_t real = draw(asked + 2);
    const uint32_t left = draw(asked + 3);
    const bool bounded = run.bounded;
    bool explored;

    e->run = &run;
    e->last_round = false;
    e->options.unroll = asked;
    t->probing = true;
    r->count = draw(3);
    r->bracketed = draw(2) == 1;
    r->real = real;
    r->left = left;
    explored = !r->bracketed && real < asked;
    sim_wait_leave();
    assert_false(t->probing);
    assert_int_equal(r->count, 0);
    assert_int_equal(r->real, real + explored);
    assert_int_equal(r->left, left + !explored);
    assert_int_equal(run.bounded, bounded || !explored);
}

static void
try_loops(void)
{
    struct engine *e = &sim_engine;

    for (uint32_t i = 0; i < CASES; i++) {
        uint32_t next = THREADS;

        draw_places();
        for (uint32_t k = 0; k < STORES; k++)
            assert_ptr_equal(sim_wait_origin(&places[0], k),
                             &stores[0][origin(stores[0], k)]);
        e->threads_count = 1 + draw(THREADS);
        for (uint32_t t = THREADS; t-- > 0;) {
            const struct round *r = &e->threads[t].round;

            draw_round(&e->threads[t]);
            assert_ptr_equal(sim_wait_change(t), first_new(r));
            if (t < e->threads_count && first_new(r) != NULL &&
                (e->threads[t].dropped || e->threads[t].spinning))
                next = t;
        }
        e->last_round = false;
        assert_int_equal(sim_wait_last_round(), next);
        assert_int_equal(e->last_round, next < THREADS);
        e->options.unroll = draw(3);
        assert_int_equal(sim_wait_unroll(),
                         e->options.unroll > 0 ? e->options.unroll : 1);
        e->current = draw(e->threads_count);
        check_leave();
    }
}

/* ---- For an object ---- */

static struct object objects[OBJECTS];

static bool
admits(const struct object *o, uint32_t need)
{
    const bool is_held = o->holder < THREADS;

    return need == SIM_NEED_LOCK   ? !is_held && o->readers == 0
           : need == SIM_NEED_READ ? !is_held
                                   : o->count > 0;
}

static void
draw_waits(void)
{
    static const enum sim_need needs[] = {SIM_NEED_LOCK, SIM_NEED_READ,
                                          SIM_NEED_COUNT};

    for (uint32_t i = 0; i < OBJECTS; i++)
        objects[i] = (struct object){
            .holder = draw(2) * THREADS, .readers = draw(2), .count = draw(3)};
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &sim_engine.threads[i];

        t->finished = draw(4) == 0;
        t->waits_on = draw(2) == 0 ? &objects[draw(OBJECTS)] : NULL;
        t->need = (uint8_t)needs[draw(3)];
        t->timed = draw(2) == 0;
        t->timed_out = false;
        t->sleeps_for = draw(2) == 0 ? &objects[draw(OBJECTS)] : NULL;
        t->relock = draw(2) == 0 ? &objects[draw(OBJECTS)] : NULL;
    }
}

/* Who waits on the object is ready if it is admitted, and others as before. */
static void
check_settle(void)
{
    struct engine *e = &sim_engine;
    uint32_t ready = draw(1U << THREADS);

    e->ready = ready;
    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];
        const uint32_t bit = 1U << i;

        if (t->waits_on == &objects[0] && !t->finished)
            ready = admits(&objects[0], t->need) ? ready | bit : ready & ~bit;
    }
    sim_object_settle(&objects[0]);
    assert_int_equal(e->ready, ready);
}

/* All that wait for a time continue, but for those that sleep and want a lock
 * that they cannot have yet. */
static void
check_time_out(void)
{
    struct engine *e = &sim_engine;
    bool late[THREADS] = {false};
    uint32_t ready = 0;

    for (uint32_t i = 0; i < e->threads_count; i++) {
        const struct thread *t = &e->threads[i];
        const bool locks = t->sleeps_for != NULL && t->relock != NULL;

        late[i] = t->timed && !t->finished;
        if (late[i] && (!locks || admits(t->relock, SIM_NEED_LOCK)))
            ready |= 1U << i;
    }
    /* Nobody is ready, so no thread that waits is admitted. */
    for (uint32_t i = 0; i < THREADS; i++)
        e->threads[i].waits_on = NULL;
    e->ready = 0;
    assert_int_equal(sim_object_time_out(), ready != 0);
    assert_int_equal(e->ready, ready);
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct thread *t = &e->threads[i];

        assert_int_equal(t->timed_out, late[i]);
        if (late[i] && t->sleeps_for != NULL && t->relock != NULL) {
            assert_ptr_equal(t->waits_on, t->relock);
            assert_int_equal(t->need, SIM_NEED_LOCK);
        }
    }
}

static void
try_objects(void)
{
    struct engine *e = &sim_engine;

    for (uint32_t i = 0; i < CASES; i++) {
        e->threads_count = 1 + draw(THREADS);
        draw_waits();
        check_settle();
        check_time_out();
    }
}

void
blocked_model_try(void)
{
    static struct engine kept;

    kept = sim_engine;
    try_loops();
    try_objects();
    sim_engine = kept;
}
