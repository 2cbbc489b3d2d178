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

#include "log_builder.h"
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

int
main(void)
{
    return tests_run(NULL, NULL);
}
