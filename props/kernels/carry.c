/*
 * carry.c -- kernels: counters of 32 bits overflow on several processors at
 * once, while other threads add up and publish.
 */
#include "prof/core/instance.h"

#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

enum { EDGE_SLOT = 2 }; /* the slot of the first cycle's allocations */

/* Fill the counters of both processors: one more event overflows either. */
static void
full_counters(void *context)
{
    prof_bucket row;

    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 1, .procs_max = 2});
    row = kernel_alloc(0, 0);
    kernel_alloc(1, 0);
    for (uint32_t i = 0; i < 2; i++)
        store_relaxed(&kernel_prof->procs[i].columns.slots[EDGE_SLOT][row],
                      UINT32_MAX);
}

static void
allocate(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 0);
}

static void
allocate_and_publish(void *context, uint32_t thread)
{
    allocate(context, thread);
    sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK, "flush");
}

static void
two_edges(void *context)
{
    (void)context;
    kernel_check_totals(UINT64_C(1) << 33, 0);
    kernel_drain_and_check(UINT64_C(1) << 33, 0);
}

const struct sim_kernel props_kernel_carry = {
    .name = "heap-carry",
    .about = "counts of two processors that pass 2^32 during a flush are "
             "neither lost nor torn",
    .setup = full_counters,
    .finish = two_edges,
    .threads = {{"first", allocate, NULL},
                {"second", allocate_and_publish, NULL}},
    .threads_count = 2,
};

/* ---- A carry that a cycle overtakes ---- */

static bool swept; /* by the collector; read by the final check */

static void
one_full_counter(void *context)
{
    prof_bucket row;

    (void)context;
    swept = false;
    kernel_new_instance((struct prof_config){
        .buckets_max = 1, .world = PROF_WORLD_RUNNING, .procs_max = 2});
    row = kernel_alloc(0, 0);
    store_relaxed(&kernel_prof->procs[0].columns.slots[EDGE_SLOT][row],
                  UINT32_MAX);
}

static void
advance_and_sweep(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_next_cycle(kernel_prof) == PROF_OK)
        kernel_flush();
    /* PROF_ERR_BUSY is allowed: then the next cycle publishes the sweep. */
    swept = prof_heap_post_sweep(kernel_prof) == PROF_OK;
}

static void
one_edge(void *context)
{
    const uint64_t published = prof_heap_totals(kernel_prof).allocs_published;

    (void)context;
    sim_explore_check(!swept || published >= UINT32_MAX,
                      "2^32 allocations are published as none");
    kernel_drain_and_check(UINT64_C(1) << 32, 0);
}

const struct sim_kernel props_kernel_carry_late = {
    .name = "advance-carry",
    .about = "a counter is published with the carry of the call that made it "
             "overflow",
    .setup = one_full_counter,
    .finish = one_edge,
    .threads = {{"mutator", allocate, NULL},
                {"collector", advance_and_sweep, NULL}},
    .threads_count = 2,
    .barriers = true,
};
