/*
 * recorder_lock.c -- kernel: the lock of the recorder's log.
 *
 * Its source is included whole. As in lock.c, the explorer wakes all sleepers.
 */
#include "props/kernels/kernel_futex.h"

#include "record/preload/append.c"

#include "props/kernels/kernels.h"

static struct embed_state state_of_log;
struct embed_state *embed_state = &state_of_log;
static uint32_t counter; /* guarded by the lock */

/* A stub of spool.c, which append.c calls for room. */
bool
embed_reserve(uint64_t bytes)
{
    (void)bytes;
    return false;
}

static void
setup(void *context)
{
    (void)context;
    atomic_store_explicit(&state_of_log.lock, 0, memory_order_relaxed);
    counter = 0;
}

static void
count(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    embed_lock();
    counter++;
    embed_unlock();
}

static void
all_counted(void *context)
{
    (void)context;
    sim_explore_check(counter == 2, "two threads held the lock at once");
}

const struct sim_kernel props_kernel_recorder_lock = {
    .name = "recorder-lock",
    .about =
        "one thread at a time is in the recorder's log; sleepers are woken",
    .setup = setup,
    .finish = all_counted,
    .threads = {{"first", count, NULL}, {"second", count, NULL}},
    .threads_count = 2,
};
