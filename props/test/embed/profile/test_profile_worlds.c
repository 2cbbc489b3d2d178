/*
 * test_profile_worlds.c -- random calls of the malloc profiler's hooks for
 * samples and waits, compared with a model of what each must record.
 *
 * The library is a stub: it decides which allocation is sampled, numbers the
 * samples, and notes the calls that it gets. Resizes and waits overlap, some
 * waits end without the lock, threads own or borrow their processors, locks
 * share slots, and handlers fork in between. Before a thread takes the lock
 * that guards the waits, and after it has released it, another one may come
 * first.
 */
#include "profile_waits.h"
#include "profile_world.h"

#include <errno.h>
#include <string.h>

#include "probes.h"
#include "table.h"
#include "seeds.h"
#include "told.h"
#include "unit_test.h"

enum {
    WORLDS = 1000,
    CALLS = 100,
    ADDRESSES = 24,
    BEGUN_MAX = 5,
    OFF_BYTES = 65536
};

static struct profile_world *const world = &profile_world;

/* ---- the model ---- */

static struct block {
    bool is_known, is_probed;
    prof_bucket bucket;
} blocks[ADDRESSES];

/* Resizes. */
static struct {
    bool is_used;
    int at;
    uint64_t token;
    struct block block;
} begun[BEGUN_MAX];

static uint64_t unseen, early, untracked;

static void *
block_at(int at)
{
    return (void *)(uintptr_t)(4096 + 16 * (uint64_t)at);
}

static void
want_free(struct block *block, int at)
{
    profile_world_want('f', block->bucket);
    if (block->is_probed && otel_memory_free_semaphore != 0)
        profile_world_want('q', (uintptr_t)block_at(at));
    block->is_known = false;
}

/* The stub decides whether the thread had a processor. */
static void
want_thread(bool had_none, uint64_t until)
{
    if (had_none)
        profile_world_want('t', 0);
    if (until != 0)
        profile_world_want('u', until);
}

static void
want_sample(int at, uint64_t bytes)
{
    profile_world_want('a', bytes);
    if (world->next_bucket == PROF_BUCKET_NONE)
        return;
    if (blocks[at].is_known) {
        want_free(&blocks[at], at);
        unseen++;
    }
    blocks[at].is_known = true;
    blocks[at].bucket = world->next_bucket;
    blocks[at].is_probed = otel_memory_alloc_semaphore != 0;
    if (blocks[at].is_probed)
        profile_world_want('p', (uintptr_t)block_at(at));
    profile_world_want('g', 0);
}

static uint64_t
some_bytes(void)
{
    static const uint64_t sizes[] = {0, 1, 512, 70000, UINT32_MAX, 1ull << 33};

    return sizes[sim_rng_below(&world->rng, 6)];
}

static void
want_alloc(int at, uint64_t bytes, bool had_none, uint64_t until)
{
    if (embed_inside)
        return;
    if (!world->begins) {
        early++;
        return;
    }
    want_thread(had_none, until);
    profile_world_want('s', bytes);
    if (world->samples && at >= 0)
        want_sample(at, bytes);
    until = profile_thread.proc != NULL ? world->next_until : 0;
    assert_int_equal(profile_thread.is_off, until == 0 && world->rate <= 0);
    assert_int_equal(embed_until_bytes,
                     until == 0 && world->rate <= 0 ? OFF_BYTES : until);
}

static bool
has_none(void)
{
    return profile_thread.proc == NULL && !profile_thread.is_surplus;
}

static uint64_t
left(void)
{
    return profile_thread.is_off ? 0 : embed_until_bytes;
}

static void
allocate(void)
{
    const int at = (int)sim_rng_below(&world->rng, ADDRESSES + 1) - 1;
    const uint64_t bytes = some_bytes();
    const bool had_none = has_none();
    const uint64_t until = left();

    embed_on_alloc(at >= 0 ? block_at(at) : NULL,
                   (struct embed_request){.bytes = bytes},
                   profile_world_frame());
    want_alloc(at, bytes, had_none, until);
}

static void
release(void)
{
    const int at = (int)sim_rng_below(&world->rng, ADDRESSES);
    const bool inside = embed_inside;

    embed_on_free(block_at(at));
    if (blocks[at].is_known && !inside)
        want_free(&blocks[at], at);
}

static void
begin_resize(size_t i)
{
    const int at = (int)sim_rng_below(&world->rng, ADDRESSES);
    const bool inside = embed_inside;

    begun[i].is_used = true;
    begun[i].at = at;
    begun[i].block = blocks[at];
    begun[i].token = embed_on_resize(block_at(at));
    assert_int_equal(begun[i].token != 0, blocks[at].is_known && !inside);
    if (begun[i].token != 0)
        blocks[at].is_known = false;
}

/* End a resize. If it failed, the block is as it was, and no other block got
 * its address. */
static void
end_resize(size_t i)
{
    const int old = begun[i].at;
    const int at = (int)sim_rng_below(&world->rng, ADDRESSES + 8) - 8;
    const bool had_none = has_none();
    const uint64_t until = left();
    uint64_t bytes = some_bytes();
    bool skips;

    begun[i].is_used = false;
    embed_inside = false;
    if (blocks[old].is_known && at < 0)
        bytes = 0;
    skips = bytes < embed_until_bytes;
    embed_on_resized(begun[i].token, block_at(old),
                     at >= 0 ? block_at(at) : NULL, bytes,
                     profile_world_frame());
    if (begun[i].token != 0 && (at >= 0 || bytes == 0))
        want_free(&begun[i].block, old);
    else if (begun[i].token != 0)
        blocks[old] = begun[i].block;
    if (!skips)
        want_alloc(at, bytes, had_none, until);
}

static void
call(void)
{
    const size_t i = sim_rng_below(&world->rng, BEGUN_MAX);
    const uint32_t which = sim_rng_below(&world->rng, 16);

    if (which < 5)
        allocate();
    else if (which < 8)
        release();
    else if (which < 11)
        begun[i].is_used ? end_resize(i) : begin_resize(i);
    else
        profile_waits_call();
}

static void
expect_all(void)
{
    uint64_t known = 0;

    assert_int_equal(world->noted[world->wanted], '\0');
    for (int i = 0; i < ADDRESSES; i++)
        known += blocks[i].is_known;
    assert_int_equal(table_count(), known);
    profile_waits_check();
    assert_int_equal(atomic_load(&profile.losses.early), early);
    assert_int_equal(atomic_load(&profile.losses.unseen), unseen);
    assert_int_equal(atomic_load(&profile.losses.untracked), untracked);
    assert_true(profile_world_is_quiet());
}

static void
run_world(uint64_t seed)
{
    world->rng.state = sim_mix64(seed);
    profile.config.block_rate_ns = sim_rng_below(&world->rng, 2);
    profile.config.mutex_fraction = sim_rng_below(&world->rng, 4) != 0;
    for (int i = 0; i < CALLS; i++) {
        bool inside;

        profile_world_draw();
        inside = embed_inside;
        errno = 1000 + i;
        call();
        assert_int_equal(errno, 1000 + i);
        assert_true(embed_inside == inside || !embed_inside);
        embed_inside = false;
        expect_all();
    }
}

TEST_WITH(NULL, seeds_tell, what_is_told_is_recorded)
{
    seeds_run(WORLDS, run_world);
}

static int
clear(void **state)
{
    struct table_entry entry;

    (void)state;
    memset(world->noted, 0, sizeof world->noted);
    world->wanted = 0;
    for (int i = 0; i < ADDRESSES; i++)
        (void)table_take_out((uintptr_t)block_at(i), &entry);
    profile_thread = (struct profile_thread){.is_surplus = true};
    embed_until_bytes = 0;
    otel_memory_alloc_semaphore = otel_memory_free_semaphore = 0;
    world->samples = world->begins = true;
    world->next_bucket = 7;
    return 0;
}

/* A sampled block that does not fit into the table is freed in the profile at
 * once: otherwise its free would go unnoticed, and it would stay in use. */
TEST_WITH(clear, NULL, what_finds_no_room_is_freed_and_counted)
{
    struct table_entry entry = {.bucket = 1};
    struct table_entry before;
    uint64_t token;

    embed_on_alloc(block_at(0), (struct embed_request){.bytes = 9},
                   profile_world_frame());
    token = embed_on_resize(block_at(0));
    assert_true(token != 0);
    for (entry.address = 1 << 20; table_count() < TABLE_FULL;)
        assert_true(table_put_in(&entry, &before) && (entry.address += 16));
    clear(state);
    embed_on_alloc(block_at(0), (struct embed_request){.bytes = 9},
                   profile_world_frame());
    profile_world_want('s', 9);
    profile_world_want('a', 9);
    profile_world_want('f', 7);
    untracked++;
    assert_int_equal(world->noted[world->wanted], '\0');
    assert_int_equal(atomic_load(&profile.losses.untracked), untracked);
    clear(state);
    world->samples = false;
    embed_on_resized(token, block_at(0), NULL, 9, profile_world_frame());
    profile_world_want('s', 9);
    assert_int_equal(world->noted[world->wanted], '\0');
    assert_int_equal(atomic_load(&profile.losses.untracked), untracked + 1);
    embed_on_early();
    assert_int_equal(atomic_load(&profile.losses.early), early + 1);
}

/* A child that takes a sample no longer counts as one about to execute a
 * program. */
TEST_WITH(clear, NULL, a_child_that_samples_is_not_idle)
{
    struct table_entry entry = {0};

    atomic_store(&profile.is_idle_child, true);
    world->next_bucket = PROF_BUCKET_NONE;
    embed_on_alloc(block_at(0), (struct embed_request){.bytes = 9},
                   profile_world_frame());
    assert_true(atomic_load(&profile.is_idle_child));
    world->next_bucket = 3;
    for (uintptr_t i = 0; i < TABLE_FULL; i++)
        (void)table_take_out((1 << 20) + 16 * i, &entry);
    assert_int_equal(table_count(), 0);
    clear(state);
    embed_on_alloc(block_at(0), (struct embed_request){.bytes = 9},
                   profile_world_frame());
    assert_false(atomic_load(&profile.is_idle_child));
}

/* A block whose address only looks like a sampled one's is none. */
TEST_WITH(clear, NULL, an_address_that_is_counted_with_another_is_not_sampled)
{
    void *const like = (char *)block_at(0) + (16 << EMBED_FILTER_LOG2);

    (void)state;
    embed_on_alloc(block_at(0), (struct embed_request){.bytes = 9},
                   profile_world_frame());
    assert_true(embed_may_be_told(like));
    memset(world->noted, 0, sizeof world->noted);
    embed_on_free(like);
    assert_int_equal(embed_on_resize(like), 0);
    assert_string_equal(world->noted, "");
    assert_true(embed_on_resize(block_at(0)) != 0);
}

/* A child has none of its parent's waiters, whatever their slots. */
TEST(in_a_child_nobody_waits)
{
    enum { SLOTS_LOG2 = 10 };
    static uintptr_t locks[1u << SLOTS_LOG2];
    struct embed_wait wait;
    uint32_t count = 0;

    (void)state;
    profile.config.mutex_fraction = 1;
    profile.config.block_rate_ns = 0;
    profile_waits_after_fork_child(); /* no world's waiters */
    for (uintptr_t lock = 16; count < 1u << SLOTS_LOG2; lock += 16) {
        const uint64_t hash = lock * UINT64_C(0x9e3779b97f4a7c15);

        if (locks[hash >> (64 - SLOTS_LOG2)] != 0)
            continue;
        locks[hash >> (64 - SLOTS_LOG2)] = lock;
        count++;
        assert_true(embed_on_wait(&wait, (void *)lock, true, NULL));
        assert_true(wait.registered);
    }
    assert_int_equal(atomic_load(&embed_awaited), count);
    profile_waits_after_fork_child();
    assert_int_equal(atomic_load(&embed_awaited), 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(
            embed_on_release((void *)locks[i], EMBED_LOCK_MUTEX, NULL), 0);
        assert_true(embed_on_wait(&wait, (void *)locks[i], true, NULL));
        embed_on_waited(&wait, EMBED_LOCK_MUTEX, 0, NULL);
        assert_int_equal(atomic_load(&embed_awaited), 0);
    }
}

TEST(an_unload_forgets_what_was_learned_of_code)
{
    const int before = world->forgotten;

    (void)state;
    embed_on_unload();
    assert_int_equal(world->forgotten, before + 1);
}

/* Without a block profile, waits of the only thread are not reported to the
 * profiler; with one they are. */
TEST(one_thread_alone_is_told_of_no_mutex)
{
    const int before = world->alone_begun;

    (void)state;
    profile.config.block_rate_ns = 1;
    profile_waits_start();
    assert_int_equal(world->alone_begun, before);
    profile.config.block_rate_ns = 0;
    profile_waits_start();
    assert_int_equal(world->alone_begun, before + 1);
}

static int
begin(void **state)
{
    (void)state;
    profile_waits_choose_locks();
    atomic_store(&profile.phase, PROFILE_ON);
    return 0;
}

int
main(void)
{
    return tests_run(begin, NULL);
}
