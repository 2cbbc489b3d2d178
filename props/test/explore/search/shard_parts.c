/* shard_parts.c -- see shard_parts.h. */
#include "shard_parts.h"

#include <string.h>

#include "engine.h"
#include "futile.h"
#include "played_stop.h"
#include "search.h"
#include "shard_plan.h"
#include "unit_test.h"

static uint64_t drawn;

static uint32_t
draw(uint32_t bound)
{
    return (uint32_t)(sim_mix64(++drawn) % bound);
}

/* ---- Lists ---- */

enum { ANSWERS = 8 };

static struct sim_choice list[ANSWERS];
static struct sim_choices choices = {.list = list};

static void
draw_list(void)
{
    choices.count = draw(ANSWERS + 1);
    for (uint32_t i = 0; i < ANSWERS; i++)
        list[i] = (struct sim_choice){.bound = 4, .value = draw(4)};
}

static uint32_t
owner_of(uint32_t count, uint32_t depth)
{
    struct sim_shard shard = {.count = count, .depth = depth};
    uint32_t owner = 0;

    for (shard.index = 1; shard.index <= count; shard.index++) {
        if (!sim_shard_owns(&shard, &choices))
            continue;
        assert_int_equal(owner, 0);
        owner = shard.index;
    }
    assert_true(owner != 0);
    return owner;
}

/* Each list has one owner, and its first answers, or its end, say which. Of
 * 4,096 shards two that are drawn are hardly ever the same one. */
static void
check_owner(void)
{
    enum { MANY = 1 << 12 };
    const uint32_t depth = 1 + draw(ANSWERS);
    const uint32_t whole = choices.count;
    const uint32_t owner = owner_of(MANY, depth);

    (void)owner_of(1 + draw(9), depth);
    for (uint32_t i = 0; i < ANSWERS; i++) {
        list[i].value ^= 1;
        if (i < depth && i < whole)
            assert_int_not_equal(owner_of(MANY, depth), owner);
        else
            assert_int_equal(owner_of(MANY, depth), owner);
        list[i].value ^= 1;
    }
    for (choices.count = 0; choices.count <= ANSWERS; choices.count++) {
        const bool same = choices.count == whole ||
                          (choices.count >= depth && whole >= depth);

        assert_true((owner_of(MANY, depth) == owner) == same);
    }
}

void
shard_parts_owned(void)
{
    struct sim_shard shard = {.depth = 0};

    drawn = 0;
    for (uint32_t i = 0; i < 4; i++) {
        draw_list();
        check_owner();
    }
    for (shard.count = 0; shard.count < 4; shard.count++) {
        for (shard.index = 0; shard.index < 5; shard.index++) {
            shard.depth = 0;
            assert_true(sim_shard_owns(&shard, &choices));
            shard.depth = shard.count == 0 ? 3 : 0;
            assert_true(sim_shard_owns(&shard, &choices));
        }
    }
}

static uint32_t entered_at;
static uint32_t entered_threads;

static void
enter(void)
{
    entered_threads = sim_shard_enter(entered_at);
}

/* Before the depth all threads that go on may be waited for. From there on the
 * list has one owner. */
static void
check_enter(void)
{
    struct engine *e = &sim_engine;
    const bool was_owned = draw(3) == 0;
    uint32_t going_on = 0;
    bool owned;

    draw_list();
    entered_at = choices.count;
    e->choices = &choices;
    e->shard = (struct sim_shard){.count = 3, .depth = draw(ANSWERS)};
    e->shard.index = 1 + draw(3);
    e->threads_count = 1 + draw(SIM_THREADS_MAX);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        e->threads[i].finished = draw(2) != 0;
        if (i < e->threads_count && !e->threads[i].finished)
            going_on |= 1U << i;
    }
    e->owned = was_owned;
    e->foreign = e->cut = false;
    owned = was_owned || sim_shard_owns(&e->shard, &choices);
    played_stop = SIM_END_COMPLETE;
    if (entered_at < e->shard.depth) {
        assert_false(played_stops(enter));
        assert_int_equal(entered_threads, going_on);
        assert_true(e->owned == was_owned && !e->foreign && !e->cut);
        return;
    }
    assert_true(played_stops(enter) == !owned);
    assert_true(e->owned == owned);
    assert_true(e->foreign == !owned && e->cut == !owned);
    if (owned)
        assert_int_equal(entered_threads, 0);
    else
        assert_int_equal(played_stop, SIM_END_PRUNED);
}

void
shard_parts_entered(void)
{
    static struct engine kept;

    kept = sim_engine;
    memset(&sim_engine, 0, sizeof sim_engine);
    drawn = 0;
    for (uint32_t i = 0; i < 500; i++)
        check_enter();
    for (uint32_t depth = 0; depth < 3; depth++) {
        sim_engine.shard = (struct sim_shard){.depth = depth};
        sim_engine.learned = false;
        sim_shard_sleeps();
        assert_true(sim_engine.shard.whole == (depth > 0));
        assert_true(sim_engine.learned == (depth > 0));
    }
    sim_engine = kept;
}

/* ---- The depth ---- */

/* A search whose prefixes are known; at first the search learns something. */
static struct {
    bool used;
    uint32_t each;    /* so many times as many at each depth */
    uint32_t end;     /* none go on below this depth */
    uint32_t learned; /* so many times more, at depth 2 */
    bool gives_up;    /* then it is not reduced any more */
    bool sleeps;      /* ... or not split */
} plan;

bool __real_sim_search_prefixes(struct sim_search *s, uint64_t *prefixes);
bool __wrap_sim_search_prefixes(struct sim_search *s, uint64_t *prefixes);

static uint64_t
prefixes_at(uint32_t depth)
{
    uint64_t prefixes = 1;

    for (uint32_t i = 0; i < depth && prefixes < 1 << 20 && plan.each > 1; i++)
        prefixes *= plan.each;
    return depth > plan.end ? 0 : prefixes;
}

bool
__wrap_sim_search_prefixes(struct sim_search *s, uint64_t *prefixes)
{
    if (!plan.used)
        return __real_sim_search_prefixes(s, prefixes);
    assert_int_equal(s->shard.index, 0);
    assert_false(sim_engine.learned);
    assert_true(s->shard.depth > 0);
    assert_true(sim_futile_knows(9, 9) == (s->shard.depth > 1));
    sim_futile_learn(9, 9);
    *prefixes = prefixes_at(s->shard.depth);
    if (plan.learned == 0 || s->shard.depth < 2)
        return true;
    sim_engine.learned = true;
    s->reduced = s->reduced && (--plan.learned > 0 || !plan.gives_up);
    s->shard.whole = plan.learned == 0 && plan.sleeps;
    return false;
}

static uint32_t
depth_in_model(uint32_t shards)
{
    uint32_t depth = 1;

    while (depth < 1024 && prefixes_at(depth) != 0 &&
           prefixes_at(depth) < 32 * shards)
        depth++;
    return depth;
}

static void
check_plan(uint32_t shards, uint32_t index, bool reduced, bool whole)
{
    struct sim_exhaust_result result = {.shard_depth = 77};
    struct sim_search s = {.result = &result, .reduced = reduced};
    const bool learns = depth_in_model(shards) > 1 && plan.learned > 0;
    uint32_t depth = depth_in_model(shards);
    bool planned;

    s.shard = (struct sim_shard){
        .count = shards, .index = index, .whole = whole, .depth = 55};
    sim_engine.learned = false;
    plan.used = true;
    sim_futile_learn(9, 9);
    planned = sim_shard_plan(&s);
    plan.used = false;
    assert_int_equal(s.shard.index, index);
    if (shards == 0) {
        assert_true(planned);
        assert_int_equal(result.shard_depth, 77);
        return;
    }
    if (!reduced || whole || (learns && (plan.gives_up || plan.sleeps)))
        depth = 0;
    assert_int_equal(s.shard.depth, depth);
    assert_int_equal(result.shard_depth, depth);
    assert_true(planned == (depth > 0 || index == 1));
    assert_false(sim_engine.learned);
    assert_false(sim_futile_knows(9, 9));
}

/* The least depth with 32 prefixes for each shard, or with all there are. */
void
shard_parts_planned(void)
{
    const bool learned = sim_engine.learned;

    sim_futile_forget();
    for (uint32_t i = 0; i < 3 * 4 * 16; i++) {
        const uint32_t shards = draw(5);

        plan.each = i / 3 % 4 == 0 ? 32 : i / 3 % 4;
        plan.end = i % 7 == 0 ? 3 : 2000;
        for (uint32_t k = 0; k < 8; k++) {
            plan.learned = i % 3;
            plan.gives_up = (k & 3) == 1;
            plan.sleeps = (k & 3) == 2;
            check_plan(shards, 1 + k / 4, i / 12 % 4 != 1, i / 12 % 4 == 2);
        }
    }
    sim_engine.learned = learned;
}
