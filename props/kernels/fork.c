/*
 * fork.c -- kernels of fork(): one thread is inside a call on the heap profile,
 * before any one of its memory accesses, when another thread forks. The child
 * has only the thread that forked, and must be able to use the instance in the
 * state that the other thread left.
 *
 * Here a thread's signal function plays the child, so the interrupted thread is
 * one that the child does not have.
 */
#include "prof/core/instance.h"

#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"
#include "prof/fork.h"

static prof_bucket born; /* made before the threads begin */
static uint64_t recorded_before;

static uint64_t
allocs_recorded(void)
{
    const struct prof_heap_totals totals = prof_heap_totals(kernel_prof);

    return totals.allocs_published + totals.allocs_pending;
}

static uint64_t
frees_recorded(void)
{
    const struct prof_heap_totals totals = prof_heap_totals(kernel_prof);

    return totals.frees_published + totals.frees_pending;
}

/* Repair the instance in the child, and check its counts. in: *allocs, *frees,
 * the most that they may be. out: *allocs, *frees, what they are */
static void
mend(uint64_t *allocs, uint64_t *frees)
{
    const uint64_t allocs_max = *allocs;
    const uint64_t frees_max = *frees;

    prof_after_fork_child(kernel_prof);
    sim_explore_check(prof_check(kernel_prof) == NULL,
                      "an invariant of the core is broken in the child");
    *allocs = allocs_recorded();
    *frees = frees_recorded();
    sim_explore_check(*allocs >= recorded_before && *allocs <= allocs_max &&
                          *frees <= frees_max,
                      "the child has lost events from before, or has too many");
}

/* Check that the child waits for no thread, and that events are published in
 * their cycle. */
static void
mend_and_check(uint64_t allocs, uint64_t frees)
{
    mend(&allocs, &frees);
    kernel_look(NULL, 0);
    /* Record on the lost thread's processor, with stacks that it may have
     * inserted. */
    kernel_alloc(0, 0);
    kernel_alloc(0, 1);
    kernel_block(0, 2);
    kernel_drain_and_check(allocs + 2, frees);
    kernel_look(NULL, 0);
    kernel_check_listing(2);
}

/* ---- a fork inside a record call ---- */

static void
one_old(struct prof_config config)
{
    config.buckets_max = 5;
    config.procs_max = 2;
    kernel_new_instance(config);
    born = kernel_alloc(0, 0);
    recorded_before = 1;
}

static void
one_old_running(void *context)
{
    (void)context;
    one_old((struct prof_config){.world = PROF_WORLD_RUNNING});
    kernel_advance_alone();
}

static void
record(void *context, uint32_t thread)
{
    (void)context;
    kernel_block(thread, 2);
    kernel_alloc(thread, 1);
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
}

static void
child_of_record(void)
{
    mend_and_check(2, 1);
}

static void
fork_in_record(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_record);
}

const struct sim_kernel props_kernel_fork_record = {
    .name = "fork-record",
    .about =
        "a fork inside a record call loses at most that event in the child",
    .setup = one_old_running,
    .threads = {{"mutator", record, fork_in_record}},
    .threads_count = 1,
};

/* ---- a fork inside a record call that carries ---- */

enum { EDGE_ALLOCS_SLOT = 2, EDGE_FREES_SLOT = 1 }; /* in every third cycle */

/* Set what processor 0 has counted. in: carried, how often the counter has
 * wrapped */
static void
set_counted(uint32_t slot, enum half half, uint32_t carried)
{
    const uint64_t word =
        half == ALLOCS ? UINT32_MAX : (uint64_t)UINT32_MAX << 32;

    store_relaxed(&kernel_prof->procs[0].columns.slots[slot][born], word);
    store_relaxed(&kernel_prof->counters.carried[slot][born * HALVES + half],
                  carried);
    if (carried != 0)
        store_relaxed(&kernel_prof->counters.carries, 1);
}

/* Fill the counters of allocations and frees: one more event overflows either.
 * All earlier events are published. */
static void
edge_after(uint32_t carried)
{
    one_old((struct prof_config){0});
    set_counted(EDGE_ALLOCS_SLOT, ALLOCS, carried);
    set_counted(EDGE_FREES_SLOT, FREES, carried);
    recorded_before = ((uint64_t)carried << 32) + UINT32_MAX;
    for (int cycle = 0; cycle < COUNTER_SLOTS; cycle++)
        kernel_advance_alone();
    kernel_check_totals(recorded_before, recorded_before);
}

static void
first_edge(void *context)
{
    (void)context;
    edge_after(0);
}

static void
third_edge(void *context)
{
    (void)context;
    edge_after(2);
}

static void
alloc_and_free(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    kernel_alloc(0, 0);
    prof_heap_free(prof_proc_at(kernel_prof, 0), born);
}

/* The interrupted event is counted once or not at all, and none of the 2^32
 * others is lost or counted twice. */
static void
child_at_edge(void)
{
    uint64_t allocs = recorded_before + 1;
    uint64_t frees = recorded_before + 1;

    mend(&allocs, &frees);
    sim_explore_check(frees >= recorded_before && frees <= allocs,
                      "the child has lost frees from before");
    kernel_drain_and_check(allocs, frees);
    kernel_look(NULL, 0);
}

static void
fork_at_edge(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_at_edge);
}

const struct sim_kernel props_kernel_fork_carry = {
    .name = "fork-carry",
    .about = "a fork while counts pass 2^32 loses at most one event",
    .setup = first_edge,
    .threads = {{"mutator", alloc_and_free, fork_at_edge}},
    .threads_count = 1,
};

const struct sim_kernel props_kernel_fork_later_carry = {
    .name = "fork-later-carry",
    .about = "a fork while counts pass 3 * 2^32 loses at most one event",
    .setup = third_edge,
    .threads = {{"mutator", alloc_and_free, fork_at_edge}},
    .threads_count = 1,
};

/* ---- a fork inside a control call, while another thread records ---- */

static void
advance_and_publish(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (prof_heap_next_cycle(kernel_prof) == PROF_OK)
        (void)!prof_heap_flush(kernel_prof);
}

static void
alloc_other(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 1);
}

static void
child_of_control(void)
{
    uint64_t allocs = 2;
    uint64_t frees = 0;

    mend(&allocs, &frees);
    kernel_advance_alone();
    kernel_drain_and_check(allocs, frees);
}

static void
fork_in_control(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_control);
}

const struct sim_kernel props_kernel_fork_control = {
    .name = "fork-control",
    .about = "after a fork inside a control call no lock and no grace period "
             "is left pending in the child",
    .setup = one_old_running,
    .threads = {{"collector", advance_and_publish, fork_in_control},
                {"mutator", alloc_other, NULL}},
    .threads_count = 2,
};

/* ---- a fork inside a flush ---- */

static void
one_due(const struct prof_rules *rules)
{
    one_old((struct prof_config){.rules = rules});
    kernel_advance_alone();
}

static void
due_in_ring(void *context)
{
    (void)context;
    one_due(NULL);
}

static void
due_in_stages(void *context)
{
    (void)context;
    one_due(&prof_rules_go1_6_late);
}

/* The cycle is flushed if not by the parent's thread, then by the child. */
static void
child_of_flush(void)
{
    uint64_t allocs = 1;
    uint64_t frees = 0;

    mend(&allocs, &frees);
    if (prof_heap_phase(kernel_prof).cycle == 2) {
        sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK,
                          "a flush is refused in the child");
        sim_explore_check(prof_heap_totals(kernel_prof).allocs_published == 1,
                          "a flush that was cut short is never made up for");
    }
    kernel_drain_and_check(1, 0);
}

static void
fork_in_flush(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_flush);
}

const struct sim_kernel props_kernel_fork_flush = {
    .name = "fork-flush",
    .about = "a flush that a fork cuts short is made up for in the child",
    .setup = due_in_ring,
    .threads = {{"collector", advance_and_publish, fork_in_flush}},
    .threads_count = 1,
};

const struct sim_kernel props_kernel_fork_stages_flush = {
    .name = "fork-stages-flush",
    .about = "a flush that rotates stages and that a fork cuts short is made "
             "up for in the child",
    .setup = due_in_stages,
    .threads = {{"collector", advance_and_publish, fork_in_flush}},
    .threads_count = 1,
};

/* ---- a fork inside the first snapshot ---- */

static void
three_old(const struct prof_rules *rules)
{
    one_old((struct prof_config){.rules = rules});
    kernel_alloc(0, 1);
    kernel_advance_alone();
    kernel_alloc(1, 0);
    prof_heap_free(prof_proc_at(kernel_prof, 1), born);
    recorded_before = 3;
}

static void
first_of_ring(void *context)
{
    (void)context;
    three_old(NULL);
}

static void
first_of_stages(void *context)
{
    (void)context;
    three_old(&prof_rules_go1_6_late);
}

static void
child_of_first(void)
{
    struct prof_heap_totals totals;

    prof_after_fork_child(kernel_prof);
    kernel_snapshot(NULL, 0);
    totals = prof_heap_totals(kernel_prof);
    sim_explore_check(
        totals.allocs_published == 3 && totals.frees_published == 1 &&
            totals.allocs_pending == 0 && totals.frees_pending == 0,
        "half of a first snapshot is published in the child");
    mend_and_check(3, 1); /* as after a second fork */
}

static void
fork_in_first(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_first);
}

const struct sim_kernel props_kernel_fork_first = {
    .name = "fork-first",
    .about = "a first snapshot that a fork cuts short shows all in the child",
    .setup = first_of_ring,
    .threads = {{"reader", kernel_snapshot, fork_in_first}},
    .threads_count = 1,
};

const struct sim_kernel props_kernel_fork_stages = {
    .name = "fork-stages",
    .about = "a first snapshot of two stages that a fork cuts short shows all "
             "in the child",
    .setup = first_of_stages,
    .threads = {{"reader", kernel_snapshot, fork_in_first}},
    .threads_count = 1,
};
