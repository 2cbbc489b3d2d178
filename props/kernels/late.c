/*
 * late.c -- kernels of the running world: the cycle advances in the middle of a
 * free, and objects are freed after prof_heap_next_cycle() was refused.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

enum { OTHER_PROC = 1 };

static prof_bucket born; /* made before the threads begin */

/* ---- The slot of a late free is published in the very next cycle ---- */

/* Make two objects of a cycle that has ended; one of them has been swept. */
static void
one_of_two_swept(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .buckets_max = 1, .world = PROF_WORLD_RUNNING, .procs_max = 2});
    born = kernel_alloc(0, 0);
    kernel_alloc(0, 0);
    kernel_advance_alone();
    prof_heap_free(prof_proc_at(kernel_prof, 1), born);
}

static void
sweep_born(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
}

static void
advance_and_flush(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_next_cycle(kernel_prof) == PROF_OK)
        kernel_flush();
}

static void
two_lives(void *context)
{
    (void)context;
    kernel_drain_and_check(2, 2);
}

const struct sim_kernel props_kernel_late_free = {
    .name = "advance-late-free",
    .about = "a free that the next cycle overtakes is counted before its slot "
             "is published",
    .setup = one_of_two_swept,
    .finish = two_lives,
    .threads = {{"sweeper", sweep_born, NULL},
                {"collector", advance_and_flush, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- the same if one thread advances and another one publishes ---- */

static void
advance_only(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_next_cycle(kernel_prof) == PROF_OK)
        return; /* PROF_ERR_BUSY is allowed, too */
}

static void
flush_only(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_flush(kernel_prof) == PROF_OK)
        return; /* PROF_ERR_BUSY is allowed: the next flush publishes the
                 * free */
}

const struct sim_kernel props_kernel_late_flush = {
    .name = "advance-beside-flush",
    .about = "a cycle that begins while another thread flushes leaves no free "
             "behind",
    .setup = one_of_two_swept,
    .finish = two_lives,
    .threads = {{"sweeper", sweep_born, NULL},
                {"collector", advance_only, NULL},
                {"publisher", flush_only, NULL}},
    .threads_count = 3,
    .barriers = true,
};

/* ---- the same for a late allocation, after a quick sweep ---- */

static bool swept; /* by the collector; read by the final check */

/* One allocation is in the slot already, so there is something to publish. */
static void
one_alive(void *context)
{
    (void)context;
    swept = false;
    kernel_new_instance((struct prof_config){
        .buckets_max = 1, .world = PROF_WORLD_RUNNING, .procs_max = 2});
    kernel_alloc(1, 0);
}

static void
allocate(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 0);
}

static void
advance_and_sweep(void *context, uint32_t thread)
{
    advance_and_flush(context, thread);
    /* PROF_ERR_BUSY is allowed: then the next cycle publishes the sweep. */
    swept = prof_heap_post_sweep(kernel_prof) == PROF_OK;
}

static uint64_t
allocs_published(void)
{
    return prof_heap_totals(kernel_prof).allocs_published;
}

/* The post-sweep published the slot that the next flush would, so that flush
 * must find nothing new. */
static void
two_alive(void *context)
{
    const uint64_t published = allocs_published();

    (void)context;
    if (swept) {
        kernel_advance_alone();
        sim_explore_check(allocs_published() == published,
                          "the flush finds what the post-sweep overlooked");
    }
    kernel_drain_and_check(2, 0);
}

const struct sim_kernel props_kernel_late_alloc = {
    .name = "advance-late-alloc",
    .about = "an allocation that the next cycle overtakes is counted before a "
             "post-sweep publishes it",
    .setup = one_alive,
    .finish = two_alive,
    .threads = {{"mutator", allocate, NULL},
                {"collector", advance_and_sweep, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- next_cycle was refused: frees wait with their allocations ---- */

/* Use up the rule of the first snapshot. */
static void
publish_something(void)
{
    kernel_new_instance((struct prof_config){
        .buckets_max = 2, .world = PROF_WORLD_RUNNING, .procs_max = 2});
    kernel_alloc(0, 2);
    kernel_advance_alone();
    kernel_advance_alone();
}

static void
not_the_first(void *context)
{
    (void)context;
    publish_something();
    born = kernel_alloc(0, 0);
}

/* A collection sweeps its dead objects even if its next_cycle was refused. */
static void
collect(void *context, uint32_t thread)
{
    (void)context;
    if (prof_heap_next_cycle(kernel_prof) == PROF_ERR_BUSY)
        prof_heap_free(prof_proc_at(kernel_prof, thread), born);
}

static void
look_advance_look(void *context, uint32_t thread)
{
    kernel_look(context, thread);
    if (prof_heap_next_cycle(kernel_prof) != PROF_OK)
        return;
    kernel_flush();
    kernel_look(context, thread);
}

/* How often the cycle has advanced depends on the order; nothing may be
 * lost. */
static void
check_counted(uint64_t allocs)
{
    const struct prof_heap_totals totals = prof_heap_totals(kernel_prof);
    const uint64_t frees = totals.frees_published + totals.frees_pending;

    sim_explore_check(frees <= 1, "a free is counted twice");
    kernel_check_totals(allocs, frees);
    kernel_look(NULL, 0);
}

static void
two_counted(void *context)
{
    (void)context;
    check_counted(2);
}

const struct sim_kernel props_kernel_refused = {
    .name = "advance-refused",
    .about =
        "a free after a refused cycle shows with its allocation, not before",
    .setup = not_the_first,
    .finish = two_counted,
    .threads = {{"collection", collect, NULL},
                {"collector", look_advance_look, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- the same if a flush was the reason for the refusal ---- */

static void
flush_is_due(void *context)
{
    (void)context;
    publish_something();
    if (prof_heap_next_cycle(kernel_prof) != PROF_OK)
        sim_explore_fail("nobody is there, and the cycle does not begin");
}

/* Allocate in the cycle to which the flush belongs, then collect and sweep. */
static void
allocate_collect_sweep(void *context, uint32_t thread)
{
    born = kernel_alloc(thread, 0);
    collect(context, thread);
}

/* The next cycle must publish both events, or neither. */
static void
both_or_none(void *context)
{
    (void)context;
    kernel_advance_alone();
    kernel_look(NULL, 0);
    check_counted(2);
}

const struct sim_kernel props_kernel_refused_by_flush = {
    .name = "advance-refused-by-flush",
    .about = "if a flush makes next_cycle return BUSY, a free is still "
             "published together with its allocation",
    .setup = flush_is_due,
    .finish = both_or_none,
    .threads = {{"collection", allocate_collect_sweep, NULL},
                {"publisher", flush_only, NULL}},
    .threads_count = 2,
    .barriers = true,
};

/* ---- the first snapshot runs during the sweep of a refused cycle ---- */

/* Begin without events: one that was counted already would hide a stale
 * read. */
static void
nothing_at_all(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .buckets_max = 1, .world = PROF_WORLD_RUNNING, .procs_max = 2});
}

static void
allocate_and_collect(void *context, uint32_t thread)
{
    const prof_bucket bucket = kernel_alloc(thread, 0);

    (void)context;
    /* On another processor, whose counters are other words. */
    if (prof_heap_next_cycle(kernel_prof) == PROF_ERR_BUSY)
        prof_heap_free(prof_proc_at(kernel_prof, OTHER_PROC), bucket);
}

static void
one_counted(void *context)
{
    (void)context;
    check_counted(1);
}

const struct sim_kernel props_kernel_first_sweep = {
    .name = "heap-first-sweep",
    .about =
        "a first snapshot during a sweep shows no free without its allocation",
    .setup = nothing_at_all,
    .finish = one_counted,
    .threads = {{"collection", allocate_and_collect, NULL},
                {"reader", kernel_look, NULL}},
    .threads_count = 2,
    .barriers = true,
};
