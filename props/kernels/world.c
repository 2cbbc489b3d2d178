/*
 * world.c -- kernels of a stopped world, and of everything at once.
 *
 * A lock simulates stopping the world: a mutator holds it during a record call,
 * the collector during next_cycle. So no record call is in flight during
 * next_cycle, and each thread sees what happened before it.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"
#include "prof/port.h"

static struct prof_port_lock world;
static prof_bucket born; /* made before the threads begin */

/* Make an object of a cycle that has ended. */
static void
new_old(enum prof_world kind)
{
    kernel_new_instance(
        (struct prof_config){.buckets_max = 2, .procs_max = 2, .world = kind});
    born = kernel_alloc(0, 0);
    kernel_advance_alone();
}

/* ---- A stopped world ---- */

static void
one_cycle_old(void *context)
{
    (void)context;
    new_old(PROF_WORLD_STOPPED);
}

static prof_bucket
alloc_between_stops(uint32_t proc, uint32_t stack)
{
    prof_bucket bucket;

    prof_port_lock_take(&world);
    bucket = kernel_alloc(proc, stack);
    prof_port_lock_release(&world);
    return bucket;
}

static void
free_between_stops(uint32_t proc, prof_bucket bucket)
{
    prof_port_lock_take(&world);
    prof_heap_free(prof_proc_at(kernel_prof, proc), bucket);
    prof_port_lock_release(&world);
}

static void
live_between_stops(void *context, uint32_t thread)
{
    (void)context;
    free_between_stops(thread, born);
    alloc_between_stops(thread, 1);
}

static enum prof_status
advance_stopped(void)
{
    enum prof_status status;

    prof_port_lock_take(&world);
    status = prof_heap_next_cycle(kernel_prof);
    prof_port_lock_release(&world);
    return status;
}

static void
collect_twice(void *context, uint32_t thread)
{
    for (int i = 0; i < 2; i++) {
        if (advance_stopped() == PROF_OK)
            sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK,
                              "busy, though the world was stopped");
        kernel_look(context, thread);
    }
}

static void
two_allocs_one_free(void *context)
{
    (void)context;
    kernel_drain_and_check(2, 1);
}

const struct sim_kernel props_kernel_stopped_world = {
    .name = "heap-stopped-world",
    .about = "if a lock stops the world, every event is published in its cycle",
    .setup = one_cycle_old,
    .finish = two_allocs_one_free,
    .threads = {{"mutator", live_between_stops, NULL},
                {"collector", collect_twice, NULL}},
    .threads_count = 2,
};

/* ---- Everything at once, in a stopped world ---- */

static void
one_advance(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (advance_stopped() == PROF_OK && prof_heap_flush(kernel_prof) == PROF_OK)
        sim_explore_check(prof_heap_post_sweep(kernel_prof) == PROF_OK,
                          "busy, though the world was stopped");
}

const struct sim_kernel props_kernel_everything = {
    .name = "heap-everything",
    .about = "a snapshot, records, a cycle, a flush and a post-sweep at once "
             "lose and tear nothing",
    .setup = one_cycle_old,
    .finish = two_allocs_one_free,
    .threads = {{"mutator", live_between_stops, NULL},
                {"collector", one_advance, NULL},
                {"reader", kernel_look, NULL}},
    .threads_count = 3,
    .barriers = true,
};

/* ---- the same in a running world ---- */

static void
one_cycle_old_running(void *context)
{
    (void)context;
    new_old(PROF_WORLD_RUNNING);
}

static void
live_running(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
    kernel_alloc(thread, 1);
}

static void
one_advance_running(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_next_cycle(kernel_prof) != PROF_OK)
        return;
    /* PROF_ERR_BUSY is allowed: then the next cycle publishes the sweep. */
    if (prof_heap_flush(kernel_prof) == PROF_OK &&
        prof_heap_post_sweep(kernel_prof) == PROF_OK)
        return;
}

static void
all_is_counted(void *context)
{
    (void)context;
    kernel_check_totals(2, 1);
    kernel_look(NULL, 0);
}

const struct sim_kernel props_kernel_everything_running = {
    .name = "advance-everything",
    .about = "a snapshot, records and a cycle at once in a running world lose "
             "and tear nothing",
    .setup = one_cycle_old_running,
    .finish = all_is_counted,
    .threads = {{"mutator", live_running, NULL},
                {"collector", one_advance_running, NULL},
                {"reader", kernel_look, NULL}},
    .threads_count = 3,
    .barriers = true,
};
