/*
 * advance.c -- kernels of the running world: one thread advances the cycle
 * while others record.
 *
 * What can go wrong: a record call reads the cycle; the cycle advances; the
 * call adds to a slot that is being published, or that now belongs to a later
 * cycle. That shows in two ways: a free is published before its allocation, or
 * an event is still pending two cycles after it was recorded.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

static void
new_world(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .buckets_max = 2,
        .world = PROF_WORLD_RUNNING,
        .cycle_first =
            PROF_CYCLE_WRAP - 1, /* the cycle numbers cross the wrap */
    });
}

/* Advance the cycle and flush until the library refuses to advance. */
static void
advance(uint32_t cycles)
{
    for (uint32_t i = 0; i < cycles; i++) {
        if (prof_heap_next_cycle(kernel_prof) != PROF_OK)
            return;
        kernel_flush();
    }
}

/* ---- An allocation is overtaken ---- */

static void
alloc_once(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 0);
}

static void
advance_twice(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    advance(2);
}

static void
one_alloc(void *context)
{
    (void)context;
    kernel_drain_and_check(1, 0);
}

const struct sim_kernel props_kernel_advance_alloc = {
    .name = "advance-alloc",
    .about = "an allocation overtaken by cycles is published in time",
    .setup = new_world,
    .finish = one_alloc,
    .threads = {{"mutator", alloc_once, NULL},
                {"collector", advance_twice, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- The program frees, and is overtaken ---- */

static prof_bucket born; /* made before the threads begin */

static void
new_world_with_one(void *context)
{
    new_world(context);
    born = kernel_alloc(0, 0);
}

static void
free_explicit_once(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free_explicit(prof_proc_at(kernel_prof, thread), born);
}

static void
one_life(void *context)
{
    (void)context;
    kernel_drain_and_check(1, 1);
}

const struct sim_kernel props_kernel_advance_explicit = {
    .name = "advance-explicit",
    .about = "an explicit free overtaken by cycles is published in time",
    .setup = new_world_with_one,
    .finish = one_life,
    .threads = {{"mutator", free_explicit_once, NULL},
                {"collector", advance_twice, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- Two control calls, one of which advances ---- */

static void
advance_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    advance(1);
}

const struct sim_kernel props_kernel_advance_busy = {
    .name = "advance-busy",
    .about = "control calls exclude each other even while the world runs",
    .setup = new_world_with_one,
    .finish = NULL,
    .threads = {{"collector", advance_once, NULL},
                {"reader", kernel_look, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- A free comes a cycle later, as of a collector ---- */

static void
alloc_then_free(void *context, uint32_t thread)
{
    const prof_bucket bucket = kernel_alloc(thread, 0);
    const uint32_t cycle = prof_heap_phase(kernel_prof).cycle;
    struct prof_proc *proc = prof_proc_at(kernel_prof, thread);

    (void)context;
    if (prof_heap_phase(kernel_prof).cycle != cycle)
        prof_heap_free(proc, bucket); /* a free in a later cycle, as by a
                                       * sweep */
    else
        prof_heap_free_explicit(proc, bucket);
}

static void
advance_and_look(void *context, uint32_t thread)
{
    advance(1);
    kernel_look(context, thread);
    advance(1);
    kernel_look(context, thread);
}

const struct sim_kernel props_kernel_advance_free = {
    .name = "advance-free",
    .about = "no snapshot shows a free before its allocation, whenever cycles "
             "advance",
    .setup = new_world,
    .finish = one_life,
    .threads = {{"mutator", alloc_then_free, NULL},
                {"collector", advance_and_look, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- A signal handler records on the processor it interrupts ---- */

static void
alloc_in_signal(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 1);
}

static void
two_at_most(void *context)
{
    const struct prof_heap_totals totals = prof_heap_totals(kernel_prof);
    const uint64_t allocs = totals.allocs_published + totals.allocs_pending;

    (void)context;
    sim_explore_check(allocs == 1 || allocs == 2, "an allocation is lost");
    kernel_drain_and_check(allocs, 0);
}

const struct sim_kernel props_kernel_advance_in_signal = {
    .name = "advance-signal",
    .about = "a cycle also waits for a record call that a handler makes inside "
             "another one",
    .setup = new_world,
    .finish = two_at_most,
    .threads = {{"mutator", alloc_once, alloc_in_signal},
                {"collector", advance_twice, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- A signal handler records in the middle of a publication ---- */

static prof_bucket kept;   /* made by the thread, for its handler */
static uint32_t handlings; /* 0 or 1 */
static uint32_t frees;     /* 0 or 1: the handler may run before there is
                            * anything to free */

static void
life_in_signal(void *context, uint32_t thread)
{
    struct prof_proc *proc = prof_proc_at(kernel_prof, thread);

    (void)context;
    handlings++;
    frees += kept != PROF_BUCKET_NONE;
    kernel_alloc(thread, 1);
    prof_heap_free(proc, kept);
}

static void
new_world_unhandled(void *context)
{
    new_world(context);
    kept = PROF_BUCKET_NONE;
    handlings = 0;
    frees = 0;
}

static void
alloc_and_advance(void *context, uint32_t thread)
{
    kept = kernel_alloc(thread, 0);
    advance(3);
    kernel_look(context, thread);
}

static void
one_or_two(void *context)
{
    (void)context;
    kernel_drain_and_check(1 + handlings, frees);
}

const struct sim_kernel props_kernel_flush_signal = {
    .name = "advance-in-flush",
    .about =
        "a handler that records never waits for the call that it interrupts",
    .setup = new_world_unhandled,
    .finish = one_or_two,
    .threads = {{"collector", alloc_and_advance, life_in_signal}},
    .threads_count = 1,
    .barriers = true,
};

/* ---- A thread stalls between reading the cycle and adding ---- */

static void
advance_four_times(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    advance(4);
}

const struct sim_kernel props_kernel_advance_stalled = {
    .name = "advance-stalled",
    .about = "while a record call stalls cycles are refused, and its event is "
             "published in time",
    .setup = new_world,
    .finish = one_alloc,
    .threads = {{"mutator", alloc_once, NULL},
                {"collector", advance_four_times, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- A world of one processor ---- */

static prof_bucket only; /* an object that a sweep may find dead */

static void
one_processor(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .buckets_max = 1, .world = PROF_WORLD_RUNNING, .procs_max = 1});
    only = kernel_alloc(0, 0);
    kernel_advance_alone();
}

/* With one processor sums are copied, not added up. */
static void
free_and_alloc(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_heap_free(prof_proc_at(kernel_prof, 0), only);
    kernel_alloc(0, 0);
}

static void
advance_sweep_and_look(void *context, uint32_t thread)
{
    advance(1);
    kernel_look(context, thread);
    /* PROF_ERR_BUSY is allowed: then the next cycle publishes the free. */
    if (prof_heap_post_sweep(kernel_prof) == PROF_OK)
        kernel_look(context, thread);
}

static void
two_allocs_one_free(void *context)
{
    (void)context;
    kernel_drain_and_check(2, 1);
}

const struct sim_kernel props_kernel_advance_one = {
    .name = "advance-one-processor",
    .about = "all counts of one processor are published, and in their cycle",
    .setup = one_processor,
    .finish = two_allocs_one_free,
    .threads = {{"mutator", free_and_alloc, NULL},
                {"collector", advance_sweep_and_look, NULL}},
    .threads_count = 2,
    .barriers = true,
};
