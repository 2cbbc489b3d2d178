/* profile_waits.c -- see profile_waits.h. */
#include "profile_waits.h"

#include <errno.h>
#include <string.h>

#include "profile_world.h"
#include "unit_test.h"

enum { LOCKS = 4, BEGUN_MAX = 4 };

static struct profile_world *const world = &profile_world;

static struct {
    uint32_t waiters;
    uint64_t first_ns, last_ns;
    int lock; /* the lock whose slot it is, while it has waiters */
} slots[LOCKS];

static struct {
    bool is_used;
    int at;
    uint64_t fork;
    struct embed_wait wait;
} begun[BEGUN_MAX];

static uint64_t locks[LOCKS];
static uint64_t forks;
static uint64_t lost_waits;

static int
slot_of(int lock)
{
    return lock / 2; /* the slots that profile_waits_choose_locks() arranged */
}

/* ---- the model changes while the lock that guards the slots is held ---- */

struct step {
    int lock;
    bool is_free;
    uint64_t ticks;
};

static void
register_in_model(void *context)
{
    struct step *const step = context;
    const int slot = slot_of(step->lock);

    step->is_free = slots[slot].waiters == 0 || slots[slot].lock == step->lock;
    lost_waits += !step->is_free;
    if (!step->is_free)
        return;
    slots[slot].lock = step->lock;
    if (slots[slot].waiters++ == 0)
        slots[slot].first_ns = world->clock_ns;
    slots[slot].last_ns = world->clock_ns;
}

static void
unregister_in_model(void *context)
{
    slots[slot_of(((const struct step *)context)->lock)].waiters--;
}

static void
release_in_model(void *context)
{
    struct step *const step = context;
    const int slot = slot_of(step->lock);

    if (slots[slot].waiters == 0 || slots[slot].lock != step->lock)
        return;
    step->ticks = profile_world_charge(world->clock_ns - slots[slot].first_ns,
                                       world->clock_ns - slots[slot].last_ns,
                                       slots[slot].waiters - 1);
    slots[slot].first_ns = slots[slot].last_ns = world->clock_ns;
}

static void
begin_wait(size_t i)
{
    struct step step = {.lock = (int)sim_rng_below(&world->rng, LOCKS)};
    const bool has_releaser = sim_rng_below(&world->rng, 8) != 0;

    embed_inside = false;
    begun[i].is_used = false;
    if (has_releaser)
        world->under_lock = (struct profile_act){register_in_model, &step};
    assert_int_equal(embed_on_wait(&begun[i].wait,
                                   (void *)(uintptr_t)locks[step.lock],
                                   has_releaser, profile_world_frame()),
                     has_releaser);
    if (!has_releaser)
        return;
    assert_null(world->under_lock.run);
    begun[i].is_used = true;
    begun[i].at = step.lock;
    begun[i].fork = forks;
    assert_int_equal(begun[i].wait.registered, step.is_free);
    assert_int_equal(begun[i].wait.start_ticks, world->clock_ns);
}

static void
end_wait(size_t i)
{
    static const int statuses[] = {0, EOWNERDEAD, ETIMEDOUT, EINVAL};
    struct step step = {.lock = begun[i].at};

    begun[i].is_used = embed_inside = false;
    if (begun[i].wait.registered && begun[i].fork == forks)
        world->under_lock = (struct profile_act){unregister_in_model, &step};
    embed_on_waited(&begun[i].wait, EMBED_LOCK_MUTEX,
                    statuses[sim_rng_below(&world->rng, 4)],
                    profile_world_frame());
    assert_null(world->under_lock.run);
    if (profile.config.block_rate_ns > 0)
        profile_world_want('b', world->clock_ns - begun[i].wait.start_ticks);
}

static void
unlock(void)
{
    struct step step = {.lock = (int)sim_rng_below(&world->rng, LOCKS)};
    const int slot = slot_of(step.lock);
    uint64_t token;

    if (slots[slot].waiters > 0 && slots[slot].lock == step.lock &&
        !embed_inside && profile.config.mutex_fraction != 0)
        world->under_lock = (struct profile_act){release_in_model, &step};
    token = embed_on_release((void *)(uintptr_t)locks[step.lock],
                             EMBED_LOCK_MUTEX, profile_world_frame());
    assert_null(world->under_lock.run);
    assert_int_equal(token, step.ticks);
    if (token == 0)
        return;
    embed_on_released(token, profile_world_frame());
    profile_world_want('m', token);
}

static void
act_once(const void *first)
{
    const size_t i = sim_rng_below(&world->rng, BEGUN_MAX);

    if (&begun[i] == first || sim_rng_below(&world->rng, 3) == 0)
        unlock();
    else if (begun[i].is_used)
        end_wait(i);
    else
        begin_wait(i);
}

/* Called when a thread is about to take the lock, or has just released it:
 * other threads may wait and release before it goes on. context: what the
 * thread does */
static void
act_meanwhile(void *context)
{
    const bool inside = embed_inside;

    for (uint32_t i = 1 + sim_rng_below(&world->rng, 3); i > 0; i--) {
        embed_inside = false;
        act_once(context);
    }
    embed_inside = inside;
}

static void
draw_meanwhile(size_t i)
{
    const struct profile_act other = {act_meanwhile, &begun[i]};

    if (sim_rng_below(&world->rng, 3) == 0)
        world->before_lock = other;
    if (sim_rng_below(&world->rng, 3) == 0)
        world->after_lock = other;
}

static void
fork_here(void)
{
    const int before = world->alone_begun;
    const int resets = world->resets;

    profile_waits_after_fork_child();
    assert_int_equal(world->resets, resets + 1); /* another may have held it */
    assert_int_equal(world->alone_begun - before,
                     profile.config.block_rate_ns == 0);
    memset(slots, 0, sizeof slots);
    forks++;
}

void
profile_waits_call(void)
{
    const size_t i = sim_rng_below(&world->rng, BEGUN_MAX);
    const uint32_t which = sim_rng_below(&world->rng, 16);

    draw_meanwhile(i);
    if (which == 0)
        fork_here();
    else if (which < 6)
        unlock();
    else
        begun[i].is_used ? end_wait(i) : begin_wait(i);
    world->before_lock.run = world->after_lock.run = NULL;
}

void
profile_waits_check(void)
{
    uint32_t awaited = 0;

    for (int i = 0; i < LOCKS; i++)
        awaited += slots[i].waiters > 0;
    assert_int_equal(atomic_load(&embed_awaited), awaited);
    assert_int_equal(atomic_load(&profile.losses.waits), lost_waits);
}

/* Choose locks so that the first two share a slot, and the others another
 * one. */
void
profile_waits_choose_locks(void)
{
    for (int i = 0; i < LOCKS; i++) {
        const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

        locks[i] = 0x1000 + 0x100000 * (uint64_t)i;
        while (i % 2 == 1 &&
               locks[i] * factor >> 54 != locks[i - 1] * factor >> 54)
            locks[i] += 8;
    }
}
