/*
 * signal.c -- kernels of signal handlers: a signal arrives between any two
 * memory accesses of a record call, and its handler records on the same
 * processor. prof/test/test_signals.c does the same between any two
 * instructions of the compiled library; here the explorer also tries every
 * order of memory accesses that C11 allows.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

static prof_bucket kept;
static uint32_t handlings; /* 0 or 1 */

static void
new_world(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4});
    kept = kernel_alloc(0, 0);
    handlings = 0;
}

/* ---- an allocation and its free, inside a free ---- */

static void
free_kept(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free(prof_proc_at(kernel_prof, thread), kept);
}

static void
life(void *context, uint32_t thread)
{
    (void)context;
    handlings++;
    prof_heap_free(prof_proc_at(kernel_prof, thread), kernel_alloc(thread, 0));
}

static void
all_lives(void *context)
{
    (void)context;
    kernel_check_totals(1 + handlings, 1 + handlings);
    kernel_check_listing(1);
}

const struct sim_kernel props_kernel_free_signal = {
    .name = "free-signal",
    .about = "an allocation and a free in a handler that interrupts a free are "
             "counted, and so is that free",
    .setup = new_world,
    .finish = all_lives,
    .threads = {{"sweeper", free_kept, life}},
    .threads_count = 1,
};

/* ---- a wait inside a wait, of a stack that is new to both ---- */

static void
wait_once(void *context, uint32_t thread)
{
    (void)context;
    kernel_block(thread, 1);
}

static void
wait_too(void *context, uint32_t thread)
{
    handlings++;
    wait_once(context, thread);
}

static void
all_waits(void *context)
{
    (void)context;
    kernel_check_blocks(1 + handlings);
}

const struct sim_kernel props_kernel_wait_signal = {
    .name = "wait-signal",
    .about = "two waits of one new stack, one inside the other, share a bucket",
    .setup = new_world,
    .finish = all_waits,
    .threads = {{"waiter", wait_once, wait_too}},
    .threads_count = 1,
};
