/* sources_parts.c -- see sources_parts.h. */
#include "sources_parts.h"

#include <string.h>

#include "engine.h"
#include "frontier.h"
#include "futile.h"
#include "trace.h"
#include "unit_test.h"

/* ---- The explorer around, played ---- */

enum { STORES = 7, FULL = 600 };

static bool playing;
static uint64_t drawn;
static struct engine kept;
static struct sim_run run;
static struct store stores[FULL];
static struct location place = {.stores = stores};

static struct asked_for {
    uint32_t count;
    uint16_t label;
    enum sim_kind kind;
    uint64_t futile;
    uint32_t times;
    uint32_t stays; /* so many times it stays blocked first */
    uint32_t answer;
    bool could_take;
    uint32_t located;
    const uint32_t *found; /* by a script */
    bool writes;
} asked;

static uint32_t
draw(uint32_t bound)
{
    return (uint32_t)(sim_mix64(++drawn) % bound);
}

uint32_t __real_sim_engine_ask(uint32_t bound, enum sim_kind kind,
                               uint16_t label);
uint32_t __wrap_sim_engine_ask(uint32_t bound, enum sim_kind kind,
                               uint16_t label);

uint32_t
__wrap_sim_engine_ask(uint32_t bound, enum sim_kind kind, uint16_t label)
{
    if (!playing)
        return __real_sim_engine_ask(bound, kind, label);
    asked.count = bound;
    asked.kind = kind;
    asked.label = label;
    asked.times++;
    return asked.answer < bound ? asked.answer : 0;
}

/* NONE: it has waited, and takes what was just written. */
uint32_t __real_sim_reduce_read(struct chain *chain, uint32_t sources,
                                uint64_t futile);
uint32_t __wrap_sim_reduce_read(struct chain *chain, uint32_t sources,
                                uint64_t futile);

uint32_t
__wrap_sim_reduce_read(struct chain *chain, uint32_t sources, uint64_t futile)
{
    struct thread *t = sim_self();

    if (!playing)
        return __real_sim_reduce_read(chain, sources, futile);
    assert_ptr_equal(chain, &place.chain);
    assert_false(t->blocks);
    asked.count = sources;
    asked.futile = futile;
    asked.could_take = t->can_take(t->can_take_context);
    if (asked.times++ < asked.stays)
        return SIM_STAYED;
    return asked.answer < sources ? asked.answer : UINT32_MAX;
}

struct location *__real_sim_location_of(uintptr_t address, uint32_t bytes,
                                        uintptr_t site);
struct location *__wrap_sim_location_of(uintptr_t address, uint32_t bytes,
                                        uintptr_t site);

struct location *
__wrap_sim_location_of(uintptr_t address, uint32_t bytes, uintptr_t site)
{
    if (!playing)
        return __real_sim_location_of(address, bytes, site);
    assert_int_equal(address, place.address);
    assert_int_equal(bytes, place.bytes);
    assert_int_equal(site, sim_self()->next_site);
    asked.located++;
    return &place;
}

/* Any function of its arguments will do. */
bool __real_sim_seq_cst_allows(const struct location *l, uint32_t from,
                               uint32_t position, bool seq_cst,
                               const struct clock *now);
bool __wrap_sim_seq_cst_allows(const struct location *l, uint32_t from,
                               uint32_t position, bool seq_cst,
                               const struct clock *now);

bool
__wrap_sim_seq_cst_allows(const struct location *l, uint32_t from,
                          uint32_t position, bool seq_cst,
                          const struct clock *now)
{
    uint64_t hash = sim_mix64(from ^ (uint64_t)position << 32) + seq_cst;

    if (!playing)
        return __real_sim_seq_cst_allows(l, from, position, seq_cst, now);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        hash = sim_mix64(hash ^ now->at[i]);
    return hash % 4 != 0;
}

uint32_t __real_sim_script_choose(const struct location *l,
                                  const uint32_t *found, uint32_t count,
                                  bool writes);
uint32_t __wrap_sim_script_choose(const struct location *l,
                                  const uint32_t *found, uint32_t count,
                                  bool writes);

uint32_t
__wrap_sim_script_choose(const struct location *l, const uint32_t *found,
                         uint32_t count, bool writes)
{
    if (!playing)
        return __real_sim_script_choose(l, found, count, writes);
    asked.count = count;
    asked.writes = writes;
    asked.times++;
    return found[asked.answer < count ? asked.answer : 0];
}

static jmp_buf back;

_Noreturn void __real_sim_engine_refuse(enum sim_failure_kind kind,
                                        uintptr_t site, uintptr_t other_site,
                                        const char *text);
_Noreturn void __wrap_sim_engine_refuse(enum sim_failure_kind kind,
                                        uintptr_t site, uintptr_t other_site,
                                        const char *text);

_Noreturn void
__wrap_sim_engine_refuse(enum sim_failure_kind kind, uintptr_t site,
                         uintptr_t other_site, const char *text)
{
    if (!playing)
        __real_sim_engine_refuse(kind, site, other_site, text);
    assert_int_equal(kind, SIM_FAIL_LIMIT);
    assert_int_equal(other_site, 0);
    assert_non_null(strstr(text, "512"));
    longjmp(back, 1);
}

/* ---- A location, drawn ---- */

static struct clock
draw_clock(uint32_t most)
{
    struct clock c;

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        c.at[i] = draw(most);
    return c;
}

static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
                             __ATOMIC_SEQ_CST, __ATOMIC_RELEASE};

static void
draw_place(bool reduced)
{
    struct thread *t;

    sim_engine.current = draw(SIM_THREADS_MAX);
    sim_engine.reduced = reduced;
    sim_engine.run = &run;
    sim_engine.seq_cst_fences = draw(3) == 0;
    sim_engine.seq_cst_accesses = draw(3) == 0;
    t = sim_self();
    t->now = draw_clock(10);
    t->entry_state = draw(4) != 0 ? 5 : 0;
    t->last_site = 7;
    t->next_site = 9;
    t->blocks = true;
    t->read_name = 1;
    place.address = 0x4000;
    place.bytes = 4;
    place.stores_count = 1 + draw(STORES);
    place.least.at[sim_engine.current] = draw(place.stores_count);
    for (uint32_t i = 0; i < place.stores_count; i++) {
        stores[i] = (struct store){.value = draw(3),
                                   .thread = draw(SIM_THREADS_MAX),
                                   .stamp = 5 + draw(60),
                                   .sync = draw_clock(12),
                                   .is_rmw = i > 0 && draw(4) == 0};
        for (uint32_t k = 0; k < SIM_THREADS_MAX; k++)
            stores[i].seen.at[k] = draw(60) == 0 ? draw(10) : STAMP_NEVER;
    }
    memset(&asked, 0, sizeof asked);
    asked.answer = draw(STORES + 2);
}

static bool
is_known(const struct clock *now, const struct store *s)
{
    bool known = now->at[s->thread] >= s->stamp;

    for (uint32_t k = 0; k < SIM_THREADS_MAX; k++)
        known |= s->seen.at[k] != STAMP_NEVER && now->at[k] >= s->seen.at[k];
    return known;
}

static bool
fits(uint32_t from, uint32_t position, int order, bool seq_cst,
     struct clock now)
{
    if (sim_engine.seq_cst_fences == 0 && sim_engine.seq_cst_accesses == 0)
        return true;
    now.at[sim_engine.current]++;
    if (from != UINT32_MAX &&
        (order == __ATOMIC_ACQUIRE || order == __ATOMIC_SEQ_CST))
        sim_clock_join(&now, &stores[from].sync);
    return sim_seq_cst_allows(&place, from, position, seq_cst, &now);
}

static bool
may_read(const struct reading *r, uint32_t i, const struct clock *now)
{
    const bool takes =
        r->writes && (r->expected == NULL || *r->expected == stores[i].value);
    const int order = takes || !r->writes ? r->order : r->order_failure;

    if (takes && stores[i + 1].is_rmw)
        return false;
    return fits(i, takes ? i + 1 : UINT32_MAX, order,
                r->told != NULL || order == __ATOMIC_SEQ_CST, *now);
}

/* M1 to M4 of memory.c. returns: how many */
static uint32_t
sources_in_model(const struct reading *r, uint32_t *found)
{
    struct clock now = sim_self()->now;
    uint32_t i = place.stores_count - 1;
    uint32_t count = 0;

    if (r->told != NULL)
        sim_clock_join(&now, r->told);
    found[count++] = i;
    for (; i > place.least.at[sim_engine.current]; i--) {
        if (is_known(&now, &stores[i]))
            break;
        if (may_read(r, i - 1, &now))
            found[count++] = i - 1;
    }
    return count;
}

static uint64_t
futile_in_model(const uint32_t *found, uint32_t count)
{
    const uint64_t name = sim_futile_name(&place);
    uint64_t futile = 0;
    bool all = true;

    for (uint32_t i = 0; i < count; i++) {
        const bool knows = sim_futile_knows(name, stores[found[i]].value);

        futile |= (uint64_t)knows << i;
        all &= knows;
    }
    return all ? futile : futile & ~UINT64_C(1);
}

/* ---- Reads ---- */

static void
check_plainly(struct reading *r, const uint32_t *found, uint32_t count,
              bool by_script)
{
    const uint32_t picked = asked.answer < count ? asked.answer : 0;

    run.stale = 40;
    sim_script_runs = by_script;
    assert_int_equal(sim_sources_choose(r), found[picked]);
    sim_script_runs = false;
    assert_int_equal(asked.times, by_script || count > 1);
    if (asked.times == 0)
        return;
    assert_int_equal(asked.count, count);
    assert_false(asked.writes);
    if (!by_script) {
        assert_int_equal(asked.kind, SIM_STALE);
        assert_int_equal(asked.label, sim_engine.current);
    }
    assert_int_equal(run.stale, 40 + (!by_script && picked != 0));
}

static void
check_reduced(struct reading *r, const uint32_t *found, uint32_t count)
{
    struct thread *t = sim_self();
    uint32_t written = draw(place.stores_count);
    bool can_take = false;

    asked.stays = draw(3);
    t->waits_for_thread = stores[written].thread;
    sim_engine.threads[t->waits_for_thread].offered_stamp =
        stores[written].stamp;
    for (uint32_t i = written + 1; i < place.stores_count; i++) {
        if (stores[i].thread == stores[written].thread &&
            stores[i].stamp == stores[written].stamp)
            written = i;
    }
    for (uint32_t i = 0; i < count; i++)
        can_take |= found[i] == written;
    assert_int_equal(sim_sources_choose(r),
                     asked.answer < count ? found[asked.answer] : written);
    assert_true(t->read_name == sim_futile_name(&place));
    assert_int_equal(asked.times, asked.stays + 1);
    assert_int_equal(asked.count, count);
    assert_true(asked.futile == futile_in_model(found, count));
    assert_true(asked.could_take == can_take);
    assert_int_equal(asked.located, asked.answer >= count);
}

static void
begin(void)
{
    kept = sim_engine;
    memset(&sim_engine, 0, sizeof sim_engine);
    drawn = 0;
    playing = true;
    sim_futile_forget();
}

static void
end(void)
{
    playing = false;
    sim_engine = kept;
    sim_futile_forget();
}

void
sources_parts_read(void)
{
    begin();
    for (uint32_t i = 0; i < 6000; i++) {
        const bool reduced = i % 2 != 0;
        uint32_t found[STORES];
        const uint64_t expected = draw(3);
        const struct clock told = draw_clock(30);
        struct reading r = {.location = &place};
        struct clock before;
        uint32_t count;

        draw_place(reduced);
        r.writes = draw(2) != 0;
        r.expected = r.writes && draw(2) != 0 ? &expected : NULL;
        r.order = orders[draw(4)];
        r.order_failure = orders[draw(3)];
        r.told = draw(4) == 0 ? &told : NULL;
        before = sim_self()->now;
        count = sources_in_model(&r, found);
        for (uint64_t value = 0; reduced && i % 3 == 0 && value < draw(4);
             value++)
            sim_futile_learn(sim_futile_name(&place), value);
        if (reduced)
            check_reduced(&r, found, count);
        else
            check_plainly(&r, found, count, draw(4) == 0);
        assert_memory_equal(&before, &sim_self()->now, sizeof before);
        if (i % 3 == 0)
            sim_futile_forget();
    }
    end();
}

/* ---- Stores ---- */

void
sources_parts_stored(void)
{
    begin();
    for (uint32_t i = 0; i < 3000; i++) {
        const int order = orders[draw(4)];
        const bool by_script = draw(4) == 0;
        uint32_t found[STORES + 1];
        uint32_t count = 0;
        uint32_t picked;

        draw_place(false);
        found[count++] = place.stores_count;
        for (uint32_t k = place.stores_count - 1;
             k > place.least.at[sim_engine.current] &&
             !is_known(&sim_self()->now, &stores[k]);
             k--) {
            if (!stores[k].is_rmw &&
                fits(UINT32_MAX, k, order, order == __ATOMIC_SEQ_CST,
                     sim_self()->now))
                found[count++] = k;
        }
        picked = asked.answer < count ? asked.answer : 0;
        run.stale = 40;
        sim_script_runs = by_script;
        assert_int_equal(sim_sources_position(&place, order), found[picked]);
        sim_script_runs = false;
        assert_int_equal(run.stale, 40);
        assert_int_equal(asked.times, by_script || count > 1);
        if (asked.times == 0)
            continue;
        assert_int_equal(asked.count, count);
        assert_true(asked.writes == by_script);
        if (!by_script)
            assert_int_equal(asked.label, SIM_LABEL_STORE | sim_engine.current);
    }
    end();
}

/* ---- Many stores ---- */

static void
fill_place(uint32_t count)
{
    memset(stores, 0, sizeof stores);
    memset(&place.least, 0, sizeof place.least);
    place.stores_count = count;
    for (uint32_t i = 0; i < count; i++) {
        stores[i].stamp = 1;
        for (uint32_t k = 0; k < SIM_THREADS_MAX; k++)
            stores[i].seen.at[k] = STAMP_NEVER;
    }
}

/* Of 64 sources and more it is not known that all are futile. */
static void
check_futile(uint32_t count, bool first_only, uint64_t futile)
{
    struct reading r = {.location = &place, .order = __ATOMIC_RELAXED};

    fill_place(count);
    memset(&asked, 0, sizeof asked);
    sim_engine.reduced = true;
    sim_self()->entry_state = 5;
    stores[count - 1].value = 1;
    sim_futile_forget();
    sim_futile_learn(sim_futile_name(&place), 1);
    if (!first_only)
        sim_futile_learn(sim_futile_name(&place), 0);
    assert_int_equal(sim_sources_choose(&r), count - 1);
    assert_int_equal(asked.count, count);
    assert_true(asked.futile == futile);
    sim_engine.reduced = false;
}

/* returns: whether it is refused */
static bool
is_refused(uint32_t count, bool stores_it)
{
    struct reading r = {.location = &place, .order = __ATOMIC_RELAXED};

    fill_place(count);
    if (setjmp(back) != 0)
        return true;
    if (stores_it)
        (void)sim_sources_position(&place, __ATOMIC_RELAXED);
    else
        (void)sim_sources_choose(&r);
    assert_int_equal(asked.count, count);
    return false;
}

void
sources_parts_full(void)
{
    begin();
    sim_engine.run = &run;
    for (uint32_t i = 0; i < 2; i++) {
        assert_false(is_refused(512, i != 0));
        assert_true(is_refused(513, i != 0));
        assert_true(is_refused(FULL, i != 0));
    }
    check_futile(1, false, 1);
    check_futile(62, false, UINT64_MAX >> 2);
    check_futile(63, false, UINT64_MAX >> 1);
    check_futile(64, false, UINT64_MAX - 1);
    check_futile(65, false, UINT64_MAX - 1);
    check_futile(63, true, 0);
    check_futile(64, true, 0);
    end();
}
