/*
 * test_log_worlds.c -- random calls, reported to the recorder and to a model of
 * its log (log_model.h). Afterwards the log must equal the model's byte for
 * byte, and so must the counts of lost events.
 *
 * One real thread plays all threads: its identity changes from call to call.
 * Threads, stacks, the disk and the clock are stubs. A world has limits,
 * resizes and waits that overlap, locks that share a slot, unloads, execs, and
 * forks: between calls, and where a call enters and leaves the recorder.
 */
#include "log_world.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "recorder.h"
#include "seeds.h"
#include "unit_test.h"

enum { WORLDS = 1500, CALLS = 80, BEGUN_MAX = 5 };

static struct log_model *const model = &log_world.model;
static struct sim_rng *const rng = &log_world.rng;
static struct embed_self threads[MODEL_THREADS];

static struct {
    struct model_begun want;
    struct embed_wait wait;
    uint64_t token, address;
    uint32_t lock;
    bool is_wait, is_used;
} begun[BEGUN_MAX];

static uint64_t locks[MODEL_LOCKS];

/* ---- calls ---- */

/* Choose values just below and above the widths of fields. */
static uint64_t
some_bytes(void)
{
    static const uint64_t sizes[] = {
        0,          1,           40,         (1 << 14) - 1,
        1 << 14,    UINT32_MAX,  1ull << 32, (1ull << 32) + 40,
        1ull << 47, SIZE_MAX / 2};

    return sizes[sim_rng_below(rng, sizeof sizes / sizeof *sizes)];
}

static uint64_t
some_address(void)
{
    const uint64_t cell = 1 + sim_rng_below(rng, 50);

    switch (sim_rng_below(rng, 6)) {
    case 0:
        return 16 * cell + 8;
    case 1:
        return 1ull << 48 | 16 * cell;
    case 2:
        return (1ull << 48) - 16 * cell;
    default:
        return 16 * cell;
    }
}

static void
pass_time(void)
{
    static const uint64_t steps[] = {
        0, 1, 1000, 4000000, (1 << 24) - 1, 1 << 24, 1ull << 32};

    log_world.now.ticks +=
        steps[sim_rng_below(rng, sizeof steps / sizeof *steps)];
    log_world.now.coarse_ticks =
        log_world.now.ticks -
        sim_rng_below(rng, sim_rng_below(rng, 2) == 0 ? 2 : 4000000);
    log_world.now.stack = sim_rng_below(rng, MODEL_STACKS);
    log_world.now.thread = sim_rng_below(rng, MODEL_THREADS);
}

static void *
as_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t
usable(void)
{
    log_world.usable_bytes = some_bytes();
    return embed_config.asks_usable ? log_world.usable_bytes : UINT64_MAX;
}

static uint32_t
slot_of(uint32_t lock)
{
    return (uint32_t)(locks[lock] * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

static void
allocate(void)
{
    const uint64_t address = some_address();
    const struct embed_request request = {
        .bytes = some_bytes(),
        .alignment = sim_rng_below(rng, 3) == 0 ? sim_rng_below(rng, 60) : 0,
        .zeroed = sim_rng_below(rng, 4) == 0};

    if (!log_world.is_barred)
        log_model_alloc(model, &log_world.now, address, request, usable());
    embed_on_alloc(as_pointer(address), request, log_world_frame());
    embed_on_alloc(NULL, request, log_world_frame()); /* malloc() failed */
}

static void
release(void)
{
    const uint64_t address = some_address();

    if (!log_world.is_barred)
        log_model_free(model, &log_world.now, address);
    embed_on_free(as_pointer(address));
}

static void
begin_call(size_t i)
{
    begun[i].is_wait = sim_rng_below(rng, 2) == 0;
    begun[i].lock = sim_rng_below(rng, MODEL_LOCKS);
    begun[i].address = begun[i].is_wait ? locks[begun[i].lock] : some_address();
    begun[i].is_used = true;
    if (begun[i].is_wait) {
        const bool has_releaser = sim_rng_below(rng, 4) != 0;

        if (!log_world.is_barred)
            begun[i].want =
                log_model_wait(model, &log_world.now, begun[i].lock,
                               slot_of(begun[i].lock), has_releaser);
        begun[i].is_used =
            embed_on_wait(&begun[i].wait, as_pointer(begun[i].address),
                          has_releaser, log_world_frame());
        assert_int_equal(begun[i].is_used, !log_world.is_barred);
        return;
    }
    begun[i].want = (struct model_begun){.image = model->image};
    if (!log_world.is_barred)
        begun[i].want =
            log_model_resize(model, &log_world.now, begun[i].address);
    begun[i].token = embed_on_resize(as_pointer(begun[i].address));
}

static void
end_wait(size_t i)
{
    static const int statuses[] = {0, EOWNERDEAD, ETIMEDOUT, EINVAL, -1};
    const int status = statuses[sim_rng_below(rng, 5)];
    const uint32_t kind = sim_rng_below(rng, 5);
    const bool is_had = status == 0 || status == EOWNERDEAD;

    if (!log_world.is_barred)
        log_model_waited(model, &log_world.now, &begun[i].want,
                         begun[i].address, slot_of(begun[i].lock),
                         kind | (is_had ? 0 : 0x80));
    embed_on_waited(&begun[i].wait, (enum embed_lock_kind)kind, status,
                    log_world_frame());
}

static void
end_call(size_t i)
{
    const bool succeeds = sim_rng_below(rng, 3) != 0;
    const uint64_t address = succeeds ? some_address() : 0;
    const uint64_t bytes = some_bytes();

    begun[i].is_used = false;
    if (begun[i].is_wait) {
        end_wait(i);
        return;
    }
    if (!log_world.is_barred)
        log_model_resized(model, &log_world.now, &begun[i].want, address, bytes,
                          usable());
    embed_on_resized(begun[i].token, as_pointer(begun[i].address),
                     as_pointer(address), bytes, log_world_frame());
}

static void
unlock(void)
{
    const uint32_t lock = sim_rng_below(rng, MODEL_LOCKS);
    const enum embed_lock_kind kind =
        sim_rng_below(rng, 2) == 0 ? EMBED_LOCK_MUTEX : EMBED_LOCK_READ;

    embed_inside = sim_rng_below(rng, 8) == 0;
    if (!log_world.is_barred && !embed_inside)
        log_model_release(model, &log_world.now, lock, slot_of(lock),
                          locks[lock], kind);
    assert_int_equal(
        embed_on_release(as_pointer(locks[lock]), kind, log_world_frame()), 0);
    embed_inside = false;
}

static void
name_threads(void)
{
    const uint32_t length = 1 + sim_rng_below(rng, 15);

    memset(model->name, 0, sizeof model->name);
    for (uint32_t i = 0; i < length; i++)
        model->name[i] = (char)(1 + sim_rng_below(rng, 255));
    prctl(PR_SET_NAME, model->name);
    atomic_fetch_add(&embed_names, 1);
    model->names++;
}

/* An unlock asks before it enters who waits, and that is the parent's log. */
static void
fork_soon(bool is_unlock)
{
    if (sim_rng_below(rng, 16) != 0)
        return;
    log_world_fork(is_unlock || sim_rng_below(rng, 2) == 0
                       ? LOG_WORLD_AT_LEAVE
                       : LOG_WORLD_AT_ENTER);
}

static void
call(void)
{
    const size_t i = sim_rng_below(rng, BEGUN_MAX);
    const uint32_t which = sim_rng_below(rng, 8);

    log_world.is_barred = sim_rng_below(rng, 20) == 0;
    fork_soon(which > 5);
    switch (which) {
    case 0:
    case 1:
        allocate();
        break;
    case 2:
        release();
        break;
    case 3:
    case 4:
    case 5:
        begun[i].is_used ? end_call(i) : begin_call(i);
        break;
    default:
        unlock();
    }
    log_world.is_barred = false;
    log_world_settle();
}

/* Make calls that are rare in real programs. */
static void
call_rarely(void)
{
    const int before = errno;
    uint64_t forgotten;

    switch (sim_rng_below(rng, 5)) {
    case 0:
        log_world.is_barred = sim_rng_below(rng, 4) == 0;
        if (!log_world.is_barred)
            log_model_unload(model, &log_world.now);
        forgotten = log_world.forgotten;
        errno = before;
        embed_on_unload();
        assert_true(log_world.is_barred || errno == before);
        assert_int_equal(log_world.forgotten, forgotten + 1);
        log_world.is_barred = false;
        break;
    case 1:
        log_world_execute();
        break;
    case 2:
        name_threads();
        break;
    case 3:
        model->dropped[EMBED_DROP_EARLY]++;
        embed_on_early();
        break;
    default:
        log_world_end_image();
        log_world_begin_image();
    }
}

static void
run_world(uint64_t number)
{
    rng->state = sim_mix64(number);
    embed_config.asks_usable = sim_rng_below(rng, 4) == 0;
    memset(begun, 0, sizeof begun);
    memset(threads, 0, sizeof threads);
    log_world.is_protected = number % 16 == 0;
    log_world.now.ticks = 5000000000;
    log_world_begin_image();
    for (int i = 0; i < CALLS; i++) {
        const bool is_rare = sim_rng_below(rng, 8) == 0;

        pass_time();
        embed_self = threads[log_world.now.thread];
        errno = 1000 + i;
        if (is_rare)
            call_rarely();
        else
            call();
        assert_true(is_rare || errno == 1000 + i);
        threads[log_world.now.thread] = embed_self;
        log_world_check();
    }
    log_world_end_image();
}

/* Six locks; twice, two of them share a slot. */
static int
choose_locks(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MODEL_LOCKS; i++) {
        locks[i] = 0x1000 + 0x100000 * i;
        if (i % 3 == 1)
            for (locks[i] = 0x2000; slot_of(i) != slot_of(i - 1);)
                locks[i] += 8;
        if (i == 2) /* in the slot beside theirs */
            for (locks[i] = 0x3000; slot_of(i) != (slot_of(0) ^ 1);)
                locks[i] += 8;
    }
    name_threads();
    return 0;
}

/* ---- another thread comes first ---- */

static struct embed_wait own_wait, other_wait;
static uint32_t other_lock;

static void
wait_by_another(void)
{
    assert_true(embed_on_wait(&other_wait, as_pointer(locks[other_lock]), true,
                              log_world_frame()));
}

static void
expect_waiters(uint32_t slots, uint64_t not_registered)
{
    assert_int_equal(atomic_load(&embed_awaited), slots);
    assert_int_equal(atomic_load(&embed_header()->dropped[EMBED_DROP_WAITERS]),
                     not_registered);
    assert_null(log_world.before_lock.run);
    assert_null(log_world.after_lock.run);
}

/* The lock is taken for the stack, and then for the table of waiters. */
TEST(who_takes_the_lock_first_gets_the_slot)
{
    const struct log_world_act in_between = {wait_by_another, 1};

    (void)state;
    rng->state = 1;
    log_world.is_protected = false;
    log_world_begin_image();
    other_lock = 1; /* in the slot of lock 0 */
    log_world.before_lock = in_between;
    assert_true(embed_on_wait(&own_wait, as_pointer(locks[0]), true,
                              log_world_frame()));
    assert_true(other_wait.registered);
    assert_false(own_wait.registered);
    expect_waiters(1, 1);
    embed_on_waited(&own_wait, EMBED_LOCK_MUTEX, 0, log_world_frame());
    expect_waiters(1, 1);
    /* The last one leaves, and another comes. */
    own_wait = other_wait;
    log_world.after_lock = (struct log_world_act){wait_by_another, 0};
    embed_on_waited(&own_wait, EMBED_LOCK_MUTEX, 0, log_world_frame());
    assert_true(other_wait.registered);
    expect_waiters(1, 1);
    embed_on_waited(&other_wait, EMBED_LOCK_MUTEX, 0, log_world_frame());
    expect_waiters(0, 1);
}

TEST_WITH(NULL, seeds_tell, what_was_told_is_in_the_log_byte_for_byte)
{
    seeds_run(WORLDS, run_world);
}

int
main(void)
{
    return tests_run(choose_locks, NULL);
}
