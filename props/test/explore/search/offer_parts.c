/* offer_parts.c -- see offer_parts.h. */
#include "offer_parts.h"

#include <string.h>

#include "engine.h"
#include "frontier.h"
#include "futile.h"
#include "played_stop.h"
#include "unit_test.h"

/* ---- The explorer around the parts, played ---- */

static struct engine kept;
static uint64_t drawn;

static uint32_t
draw(uint32_t bound)
{
    return (uint32_t)(sim_mix64(++drawn) % bound);
}

static struct clock
draw_clock(void)
{
    struct clock c;

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        c.at[i] = draw(20);
    return c;
}

static void
begin(void)
{
    sim_reduce_begin();
    kept = sim_engine;
    memset(&sim_engine, 0, sizeof sim_engine);
    drawn = 0;
}

static void
end(void)
{
    sim_engine = kept;
}

/* ---- Futile reads ---- */

enum { SOME = 6 };

static void
check_known(bool known[SOME][SOME])
{
    for (uint64_t name = 0; name < SOME; name++) {
        for (uint64_t value = 0; value < SOME; value++)
            assert_true(sim_futile_knows(name, value) == known[name][value]);
    }
}

/* A pair is new once. A name of 0 is none. */
static void
check_learned(void)
{
    bool known[SOME][SOME] = {{false}};

    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t name = draw(SOME);
        const uint32_t value = draw(SOME);

        assert_true(sim_futile_learn(name, value) ==
                    (name != 0 && !known[name][value]));
        known[name][value] = name != 0;
        check_known(known);
    }
}

static void
check_names(void)
{
    enum { EACH = 4 };
    uint64_t names[EACH * EACH * EACH];
    uint32_t count = 0;

    for (uint32_t i = 0; i < EACH * EACH * EACH; i++) {
        const struct location l = {.address = 0x1000 * (1 + i % EACH)};

        sim_self()->last_site = 0x10 * (1 + i / EACH % EACH);
        sim_self()->entry_state = 0;
        assert_int_equal(sim_futile_name(&l), 0);
        sim_self()->entry_state = 1 + i / EACH / EACH;
        names[count] = sim_futile_name(&l);
        assert_true(names[count] != 0);
        for (uint32_t k = 0; k < count; k++)
            assert_true(names[k] != names[count]);
        count++;
    }
}

void
offer_parts_futile(void)
{
    bool none[SOME][SOME] = {{false}};

    begin();
    sim_futile_forget();
    check_known(none);
    check_learned();
    sim_futile_forget();
    check_known(none);
    assert_true(sim_futile_learn(5, 5));
    sim_futile_forget();
    check_known(none);
    check_names();
    end();
}

/* The first of the threads that await a change and have not finished. */
void
offer_parts_released(void)
{
    enum { COUNT = 4, SETS = 1 << (COUNT + 1) };
    static struct chain chain;

    begin();
    sim_engine.threads_count = COUNT;
    for (uint32_t i = 0; i < SETS * SETS; i++) {
        const uint32_t could = i % SETS & ~(i / SETS) & ((1U << COUNT) - 1);
        const uint32_t first =
            could != 0 ? (uint32_t)__builtin_ctz(could) : SIM_THREADS_MAX;

        for (uint32_t k = 0; k <= COUNT; k++) {
            struct thread *t = &sim_engine.threads[k];

            t->awaits = (i % SETS >> k & 1) != 0 ? &chain : NULL;
            t->finished = (i / SETS >> k & 1) != 0;
            t->released = false;
        }
        assert_int_equal(sim_futile_release(), first);
        for (uint32_t k = 0; k <= COUNT; k++)
            assert_true(sim_engine.threads[k].released == (k == first));
    }
    end();
}

static void
check_mark(struct sim_choices *choices, uint32_t at, uint32_t sources,
           uint32_t answer)
{
    const uint64_t before = UINT64_C(1) << 7;
    const bool marks = choices->backend == SIM_ODOMETER && at < 4 &&
                       at == sim_self()->question && answer < sources &&
                       answer < 64 && (answer != 0 || sources == 1);
    struct sim_question *q = sim_reduce_question(at < 4 ? at : 0);

    q->sources = sources;
    q->futile = before;
    choices->list[at < 4 ? at : 0].value = answer;
    sim_self()->offered = at;
    sim_engine.choices = choices;
    sim_engine.cut = false;
    played_stop = SIM_END_COMPLETE;
    assert_true(played_stops(sim_futile_mark) == marks);
    assert_true(q->futile == (marks ? before | UINT64_C(1) << answer : before));
    assert_true(sim_engine.cut == marks);
    assert_true((played_stop == SIM_END_BLOCKED) == marks);
}

/* A source that is not the last store, or the only one. */
void
offer_parts_marked(void)
{
    static const enum sim_backend backends[] = {SIM_ODOMETER, SIM_RANDOM,
                                                SIM_REPLAY};
    static const uint32_t places[] = {0, 3, UINT32_MAX};
    static const uint32_t sources[] = {0, 1, 2, 3, 64, 65, 70};
    struct sim_choice list[4];
    struct sim_choices choices = {.list = list};

    begin();
    for (uint32_t i = 0; i < 3 * 3 * 7; i++) {
        choices.backend = backends[i % 3];
        for (uint32_t answer = 0; answer < 72; answer++) {
            sim_self()->question = places[i / 3 % 3];
            check_mark(&choices, places[i / 3 % 3], sources[i / 9], answer);
            sim_self()->question = 1;
            check_mark(&choices, places[i / 3 % 3], sources[i / 9], answer);
        }
    }
    end();
}

/* ---- Offers ---- */

void
offer_parts_later(void)
{
    begin();
    for (uint32_t i = 0; i < 200; i++) {
        const bool changed = draw(2) != 0;
        const uint32_t count = draw(3);
        struct chain chain = {.causal = draw_clock()};
        const struct clock before = chain.causal;
        struct clock own;
        struct thread *t;

        sim_engine.current = draw(SIM_THREADS_MAX);
        t = sim_self();
        t->now = draw_clock();
        t->causal = own = draw_clock();
        t->offers_count = count;
        sim_offer_later(&chain, changed);
        if (changed)
            sim_clock_join(&own, &t->now);
        assert_memory_equal(&t->causal, &own, sizeof own);
        assert_memory_equal(&chain.causal, changed ? &own : &before,
                            sizeof own);
        assert_int_equal(t->offers_count, count + 1);
        assert_ptr_equal(t->offers[count].chain, &chain);
        assert_int_equal(t->offers[count].stamp, t->now.at[sim_engine.current]);
        assert_true(t->offers[count].changed == changed);
    }
    end();
}

enum { CHAINS = 3 };

static struct log {
    struct chain *offered[CHAINS];
    uint32_t stamps[CHAINS];
    bool looks[CHAINS];
    uint32_t offers;
    uint32_t opened; /* from that question on, + 1; or 0 */
    uint32_t ready;
} found;

static struct chain chains[CHAINS];
static struct round_read changes[SIM_THREADS_MAX];
static bool has_change[SIM_THREADS_MAX];

void __real_sim_reduce_offer(struct chain *chain, bool look);
void __wrap_sim_reduce_offer(struct chain *chain, bool look);

void
__wrap_sim_reduce_offer(struct chain *chain, bool look)
{
    if (!playing()) {
        __real_sim_reduce_offer(chain, look);
        return;
    }
    assert_true(found.offers < CHAINS);
    found.offered[found.offers] = chain;
    found.stamps[found.offers] = sim_self()->offered_stamp;
    found.looks[found.offers++] = look;
}

void __real_sim_reduce_open(uint32_t from);
void __wrap_sim_reduce_open(uint32_t from);

void
__wrap_sim_reduce_open(uint32_t from)
{
    if (!playing()) {
        __real_sim_reduce_open(from);
        return;
    }
    assert_int_equal(found.opened, 0);
    found.opened = from + 1;
}

const struct round_read *__real_sim_wait_change(uint32_t thread);
const struct round_read *__wrap_sim_wait_change(uint32_t thread);

const struct round_read *
__wrap_sim_wait_change(uint32_t thread)
{
    if (!playing())
        return __real_sim_wait_change(thread);
    return has_change[thread] ? &changes[thread] : NULL;
}

static void
draw_threads(void)
{
    sim_engine.threads_count = 1 + draw(SIM_THREADS_MAX - 1);
    sim_engine.current = draw(sim_engine.threads_count);
    sim_engine.ready = draw(256);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        const uint32_t which = draw(CHAINS + 2);

        sim_engine.threads[i].awaits = which < CHAINS ? &chains[which] : NULL;
        sim_engine.threads[i].dropped = draw(3) == 0;
        has_change[i] = draw(3) == 0;
        changes[i].question = draw(9);
    }
}

/* returns: whether the run ends there */
static bool
settle_in_model(const struct offer *offer, struct log *log)
{
    log->offered[log->offers] = offer->chain;
    log->stamps[log->offers] = offer->stamp;
    log->looks[log->offers++] = !offer->changed;
    for (uint32_t i = 0; offer->changed && i < sim_engine.threads_count; i++) {
        if (sim_engine.threads[i].awaits == offer->chain)
            log->ready |= 1U << i;
    }
    for (uint32_t i = 0; offer->changed && i < sim_engine.threads_count; i++) {
        if (sim_engine.threads[i].dropped && has_change[i]) {
            log->opened = changes[i].question + 2;
            return true;
        }
    }
    return false;
}

/* One after the other; those that await a change are woken, and a change for
 * which a thread waits that was left in its loop ends the run. */
void
offer_parts_settled(void)
{
    begin();
    for (uint32_t i = 0; i < 2000; i++) {
        struct offer offers[CHAINS];
        const uint32_t count = draw(CHAINS + 1);
        struct log wanted;
        uint32_t at = 0;
        bool ends = false;

        draw_threads();
        memset(&found, 0, sizeof found);
        memset(&wanted, 0, sizeof wanted);
        wanted.ready = sim_engine.ready;
        for (uint32_t k = 0; k < count; k++) {
            offers[k] =
                (struct offer){&chains[draw(CHAINS)], draw(50), draw(2) != 0};
            sim_self()->offers[k] = offers[k];
        }
        sim_self()->offers_count = count;
        while (at < count && !ends)
            ends = settle_in_model(&offers[at++], &wanted);
        played_stop = SIM_END_COMPLETE;
        assert_true(played_stops(sim_offer_settle) == ends);
        assert_int_equal(played_stop,
                         ends ? SIM_END_BLOCKED : SIM_END_COMPLETE);
        assert_int_equal(sim_self()->offers_count, count - at);
        found.ready = sim_engine.ready;
        assert_memory_equal(&found, &wanted, sizeof found);
    }
    end();
}
