/*
 * test_model_random.c -- the two oracles must agree on random logs.
 *
 * One oracle follows the events, the other the objects. On logs of a correct
 * collector they must always agree. On logs of a faulty collector they must
 * agree exactly while the heap oracle claims to know the heap: so the periods
 * in which it does not are neither too short nor too long.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "contention.h"
#include "log_builder.h"
#include "sampling.h"
#include "unit_test.h"

enum life { LIFE_USED, LIFE_DROPPED, LIFE_DEAD, LIFE_GONE };

/* A random program and its collector. */
struct world {
    struct log_builder builder;
    uint64_t random;
    bool faulty;

    enum life life[LOG_OBJECTS_MAX];
    bool born_marked[LOG_OBJECTS_MAX]; /* born during the current marking */
    uint32_t unswept;
    bool marking;
    bool published;  /* flush or snapshot since next_cycle */
    bool sweep_open; /* this cycle may still have its post_sweep */

    /* What the test has met. */
    uint64_t snapshots, firsts, unknown, stopped, posts;
};

static uint32_t
below(struct world *world, uint32_t bound)
{
    /* splitmix64 */
    uint64_t z = (world->random += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (uint32_t)(((z ^ (z >> 31)) >> 32) * bound >> 32);
}

static bool
fault_now(struct world *world)
{
    return world->faulty && below(world, 4) == 0;
}

/* Check that what the model has, published or not, sums up to what was
 * logged. */
static void
nothing_is_lost(struct world *world)
{
    uint64_t allocs = 0;
    uint64_t frees = 0;
    uint32_t count;
    const struct model_bucket *b =
        model_heap_buckets(world->builder.model, &count);
    const struct model_drops drops = model_heap_drops(world->builder.model);

    for (uint32_t i = 0; i < count; i++) {
        allocs += b[i].allocs + b[i].allocs_pending;
        frees += b[i].frees + b[i].frees_pending;
        assert_true(b[i].frees + b[i].frees_pending <=
                    b[i].allocs + b[i].allocs_pending);
    }
    assert_int_equal(allocs + drops.no_bucket + drops.no_frames,
                     world->builder.objects);
    assert_true(frees <= allocs);
}

/* Check that both oracles show the same. */
static bool
agree(struct world *world)
{
    uint32_t count;
    const struct model_bucket *b =
        model_heap_buckets(world->builder.model, &count);

    for (uint32_t i = 0; i < count; i++)
        if (b[i].allocs != b[i].allocs_then || b[i].frees != b[i].frees_then)
            return false;
    return true;
}

/* Is everything recorded so far published? */
static bool
all_published(struct world *world)
{
    uint32_t count;
    const struct model_bucket *b =
        model_heap_buckets(world->builder.model, &count);

    for (uint32_t i = 0; i < count; i++)
        if (b[i].allocs_pending != 0 || b[i].frees_pending != 0)
            return false;
    return true;
}

static void
snapshot(struct world *world)
{
    const uint32_t room =
        below(world, 4) == 0 ? below(world, 4) : TRUTH_ROOM_ENOUGH;
    const struct model_answer answer =
        props_log_snapshot(&world->builder, below(world, 2) == 0, room);
    uint32_t k;
    bool known;

    world->published = true;
    world->snapshots++;
    world->firsts += answer.first;
    assert_int_equal(answer.fits, answer.count <= room);
    if (answer.first)
        assert_true(all_published(world));
    nothing_is_lost(world);

    known = model_heap_at(world->builder.model, &k);
    world->unknown += !known;
    if (!world->faulty)
        assert_true(known);
    assert_int_equal(agree(world), known);
}

static void
sweep_some(struct world *world, uint32_t one_in)
{
    const uint32_t count = world->builder.objects;
    const uint32_t start = count == 0 ? 0 : below(world, count);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t object = (start + i) % count;

        if (world->life[object] != LIFE_DEAD || below(world, one_in) != 0)
            continue;
        props_log_object(&world->builder, TRUTH_SWEEP, object);
        world->life[object] = LIFE_GONE;
        world->unswept--;
    }
}

static void
terminate(struct world *world)
{
    const bool stopped = below(world, 6) == 0;
    struct log_builder *builder = &world->builder;

    if (!world->published && !fault_now(world))
        props_log_call(builder, TRUTH_FLUSH);
    if (!fault_now(world))
        sweep_some(world, 1);
    for (uint32_t i = 0; i < builder->objects; i++) {
        if (world->life[i] != LIFE_DROPPED || world->born_marked[i])
            continue;
        props_log_object(builder, TRUTH_DEAD, i);
        world->life[i] = LIFE_DEAD;
        world->unswept++;
    }
    props_log_tell(builder, &(struct truth_entry){.kind = TRUTH_TERMINATE,
                                                  .flag = stopped});
    if (stopped) {
        sweep_some(world, fault_now(world) ? 2 : 1);
        props_log_call(builder, TRUTH_NEXT_CYCLE);
        if (!fault_now(world) || builder->limits.scheme == MODEL_STAGES)
            props_log_call(builder, TRUTH_FLUSH);
        world->stopped++;
    }
    props_log_call(builder, TRUTH_NEXT_CYCLE);
    world->published = false;
    world->sweep_open = !stopped;
    world->marking = false;
}

static void
mark(struct world *world)
{
    if (world->marking) {
        terminate(world);
        return;
    }
    world->marking = true;
    for (uint32_t i = 0; i < world->builder.objects; i++)
        world->born_marked[i] = false;
    props_log_call(&world->builder, TRUTH_MARK);
}

static void
post_sweep(struct world *world)
{
    if (!world->sweep_open && !fault_now(world))
        return;
    if (!fault_now(world))
        sweep_some(world, 1);
    props_log_call(&world->builder, TRUTH_POST_SWEEP);
    world->posts++;
}

static void
alloc(struct world *world)
{
    static const uint64_t sizes[] = {8, 8, 16, 0};
    uint32_t object;

    if (world->builder.objects == LOG_OBJECTS_MAX)
        return;
    object = props_log_alloc(&world->builder, (char)('A' + below(world, 4)),
                             sizes[below(world, 4)]);
    world->life[object] = LIFE_USED;
    world->born_marked[object] = world->marking;
}

/* The program drops an object, or frees it itself. */
static void
let_go(struct world *world)
{
    uint32_t object;

    if (world->builder.objects == 0)
        return;
    object = below(world, world->builder.objects);
    if (world->life[object] != LIFE_USED)
        return;
    if (below(world, 4) == 0) {
        props_log_object(&world->builder, TRUTH_FREE_EXPLICIT, object);
        world->life[object] = LIFE_GONE;
    } else {
        props_log_object(&world->builder, TRUTH_DROP, object);
        world->life[object] = LIFE_DROPPED;
    }
}

static void
step(struct world *world)
{
    switch (below(world, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        alloc(world);
        break;
    case 4:
    case 5:
    case 6:
        let_go(world);
        break;
    case 7:
    case 8:
    case 9:
        mark(world);
        break;
    case 10:
        sweep_some(world, 2);
        break;
    case 11:
        post_sweep(world);
        break;
    case 12:
        props_log_call(&world->builder, TRUTH_FLUSH);
        world->published = true;
        break;
    default:
        snapshot(world);
        break;
    }
}

static void
run(struct world *world, uint64_t seed, bool faulty)
{
    struct model_limits *limits = &world->builder.limits;
    uint32_t steps;

    world->random = seed;
    world->faulty = faulty;
    limits->scheme = below(world, 3) == 0 ? MODEL_STAGES : MODEL_RING;
    limits->explicit_free_dropped = below(world, 3) == 0;
    limits->sizing_consumes_first = below(world, 2) == 0;
    limits->depth_max = below(world, 3) == 0 ? 0 : 32;
    limits->buckets_max = below(world, 3) == 0 ? below(world, 5) : 64;
    limits->frames_max = below(world, 3) == 0 ? below(world, 12) : 1000;
    props_log_again(&world->builder);
    world->unswept = 0;
    world->marking = false;
    world->published = true;
    world->sweep_open = false;

    steps = 1 + below(world, 80);
    for (uint32_t i = 0; i < steps; i++)
        step(world);
}

TEST(on_logs_without_faults_the_oracles_always_agree)
{
    static struct world world;

    props_log_begin(&world.builder, MODEL_RING);
    for (uint64_t seed = 0; seed < 200000; seed++)
        run(&world, seed, false);
    /* The random logs have reached what they should test. */
    assert_true(world.snapshots > 1000000);
    assert_true(world.firsts > 50000);
    assert_true(world.stopped > 50000);
    assert_true(world.posts > 50000);
    assert_true(world.unknown == 0);
    props_log_end(&world.builder);
}

TEST(on_faulty_logs_the_oracles_agree_wherever_the_heap_is_known)
{
    static struct world world;

    props_log_begin(&world.builder, MODEL_RING);
    for (uint64_t seed = 0; seed < 100000; seed++)
        run(&world, seed, true);
    assert_true(world.unknown > 10000);
    assert_true(world.unknown < world.snapshots / 2);
    props_log_end(&world.builder);
}

/* ---- draws ---- */

TEST(residues_are_counted_as_one_by_one)
{
    for (uint64_t rate = 1; rate < 7; rate++) {
        for (unsigned place = 0; place < 9 * 14 * 14; place++) {
            const uint64_t most = place % 9;
            const struct model_draws draws = {.first = place / 9 % 14,
                                              .count = place / 9 / 14};
            uint64_t count = 0;

            for (uint64_t i = 0; i < draws.count; i++)
                count += (uint64_t)(draws.first + i) % rate <= most;
            assert_int_equal(model_residues(draws, rate, most), count);
        }
    }
}

/* The number that, times an odd factor, is 1 modulo 2^64. */
static uint64_t
inverse(uint64_t factor)
{
    uint64_t number = factor; /* right in the last 3 bits; each step doubles */

    for (int i = 0; i < 5; i++)
        number *= 2 - factor * number;
    return number;
}

static uint64_t
before_xor(uint64_t z, int shift)
{
    uint64_t x = z;

    for (int i = 0; i < 64 / shift + 1; i++)
        x = z ^ x >> shift;
    return x;
}

/* The state from which splitmix64 draws a number. */
static uint64_t
state_before(uint64_t drawn)
{
    uint64_t z = before_xor(drawn, 31);

    z = before_xor(z * inverse(0x94d049bb133111ebU), 27);
    z = before_xor(z * inverse(0xbf58476d1ce4e5b9U), 30);
    return z - 0x9e3779b97f4a7c15U;
}

/* The draws on both sides of the edge below which they are rejected. */
TEST(a_draw_is_rejected_if_it_is_one_too_many)
{
    static const uint64_t limits[] = {
        3,         5, 1000003, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 63) + 1,
        UINT64_MAX};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t limit = limits[i];
        const uint64_t edge = (0 - limit) % limit; /* 2^64 mod limit */

        for (uint64_t rest = edge - 1; rest != edge + 2; rest++) {
            const uint64_t drawn = rest * inverse(limit);
            const uint64_t first = state_before(drawn);
            uint64_t at = first;
            uint64_t value;

            assert_true(model_draw_below(&at, limit, &value));
            assert_int_equal(at == first + 0x9e3779b97f4a7c15U, rest >= edge);
            if (rest >= edge)
                assert_int_equal(value,
                                 (uint64_t)((model_u128)drawn * limit >> 64));
        }
    }
}

/* Both profiles note a rate above 1, and one that is set after an event. */
TEST(it_is_noted_which_rates_have_been_in_force)
{
    for (int step = 0; step < 4 * 4; step++) {
        static const int64_t rates[] = {0, 1, 2, 1000};
        const int64_t rate = rates[step % 4];
        const bool block = step / 4 % 2 != 0;
        const bool late = step / 8 != 0;
        struct model_contention model;

        model_contention_reset(&model, MODEL_EXACT, 1, 1000000000);
        if (late)
            (void)model_contention_block(&model, 0, 5);
        if (block)
            model_contention_block_rate(&model, rate);
        else
            model_contention_mutex_fraction(&model, rate);
        assert_int_equal(model.sampled, rate > 1);
        assert_int_equal(model.changed, late);
    }
}

/* Of less than one block event one is shown; of a mutex event none. */
TEST(a_part_of_an_event_is_cut_off_but_for_the_only_block_event)
{
    const struct model_charge half = {.kept = true, .events = 0.5};
    struct model_contention model;

    model_contention_reset(&model, MODEL_GO_1_17, 1, 1000000000);
    for (int block = 0; block < 2; block++) {
        double events = 0;

        assert_int_equal(
            model_contention_count(&model, block, &half, 7, &events), block);
        for (uint64_t halves = 2; halves < 9; halves++)
            assert_int_equal(
                model_contention_count(&model, block, &half, 7, &events),
                halves / 2);
        events = 0x1p63;
        assert_int_equal(
            model_contention_count(&model, block, &half, 7, &events),
            UINT64_C(1) << 63);
    }
}

/* Under exact rules whole rounds are drawn; else as many as there are. */
TEST(draws_are_taken_in_whole_rounds_under_exact_rules)
{
    for (unsigned place = 0; place < 30 * 7 * 7; place++) {
        const struct model_draws draws = {.count = place % 30};
        const uint64_t cycles = 1 + place / 30 % 7;
        const uint64_t rate = 1 + place / 30 / 7;
        const struct model_sums exact =
            model_block_sums(MODEL_EXACT, draws, cycles, rate);
        const struct model_sums go =
            model_block_sums(MODEL_GO_1_10, draws, cycles, rate);

        assert_int_equal(exact.draws, cycles >= rate
                                          ? draws.count
                                          : draws.count / rate * rate);
        assert_true(exact.cycles * exact.count_bottom ==
                    exact.draws * cycles * exact.count_bottom);
        assert_int_equal(exact.count_top, exact.draws * exact.count_bottom);
        assert_int_equal(go.draws, draws.count);
    }
}

TEST(each_allocation_counts_as_it_is_if_all_are_recorded)
{
    static const enum model_era eras[] = {MODEL_EXACT, MODEL_GO_1_10,
                                          MODEL_GO_1_17};

    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
        for (uint64_t rate = 0; rate < 3; rate++) {
            const struct model_heap_sampling sampling =
                model_heap_sampling(eras[i], rate < 2 ? 64 : 0, rate);

            assert_true(sampling.chance >= 1 && sampling.chance <= 1);
            assert_true(sampling.factor >= 1 && sampling.factor <= 1);
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
