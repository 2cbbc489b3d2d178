/*
 * heap.c -- kernels: threads record while others publish and read. The cycle
 * never advances during a record call, as if the world were stopped for it.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

enum { OTHER_PROC = 2 }; /* a processor without a thread */

static prof_bucket born; /* made before the threads begin */

/* ---- publishing while other threads record ---- */

static void
one_cycle_old(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4});
    born = kernel_alloc(0, 0);
    sim_explore_check(prof_heap_next_cycle(kernel_prof) == PROF_OK,
                      "nobody is busy");
}

static void
sweep_and_allocate(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
    kernel_alloc(thread, 1);
}

static void
flush_and_post_sweep(void *context, uint32_t thread)
{
    sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK, "flush");
    sim_explore_check(prof_heap_post_sweep(kernel_prof) == PROF_OK, "sweep");
    kernel_snapshot(context, thread);
}

static void
all_is_counted(void *context)
{
    (void)context;
    kernel_check_totals(2, 1);
    kernel_check_listing(2);
}

const struct sim_kernel props_kernel_record_and_publish = {
    .name = "heap-publish",
    .about = "events recorded while others publish are neither lost nor torn",
    .setup = one_cycle_old,
    .finish = all_is_counted,
    .threads = {{"mutator", sweep_and_allocate, NULL},
                {"collector", flush_and_post_sweep, NULL}},
    .threads_count = 2,
};

/* ---- The first snapshot publishes slots that are in use ---- */

static void
nothing_yet(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4});
    born = kernel_alloc(0, 0);
}

static void
explicit_free_and_again(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free_explicit(prof_proc_at(kernel_prof, thread), born);
    /* On another processor, whose counters are other words. */
    prof_heap_free_explicit(prof_proc_at(kernel_prof, OTHER_PROC),
                            kernel_alloc(thread, 0));
}

static void
two_lives(void *context)
{
    (void)context;
    kernel_check_totals(2, 2);
}

const struct sim_kernel props_kernel_first_snapshot = {
    .name = "heap-first-snapshot",
    .about = "a first snapshot shows no free without its allocation",
    .setup = nothing_yet,
    .finish = two_lives,
    .threads = {{"mutator", explicit_free_and_again, NULL},
                {"reader", kernel_snapshot, NULL}},
    .threads_count = 2,
};

/* ---- next_cycle refuses instead of waiting ---- */

static void
advance_once(void *context, uint32_t thread)
{
    const enum prof_status status = prof_heap_next_cycle(kernel_prof);

    (void)context;
    (void)thread;
    sim_explore_check(status == PROF_OK || status == PROF_ERR_BUSY,
                      "next_cycle returns ok or busy");
}

const struct sim_kernel props_kernel_busy = {
    .name = "heap-busy",
    .about = "the cycle never advances in the middle of a snapshot",
    .setup = nothing_yet,
    .finish = NULL,
    .threads = {{"collector", advance_once, NULL},
                {"reader", kernel_snapshot, NULL}},
    .threads_count = 2,
};

/* ---- a flush does not undo a cycle that has advanced ---- */

static bool turned; /* a next_cycle succeeded */

static void
nothing_turned(void *context)
{
    turned = false;
    nothing_yet(context);
}

static void
try_to_advance(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    turned = prof_heap_next_cycle(kernel_prof) == PROF_OK;
}

static void
flush(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK,
                      "a flush in a stopped world waits for nobody");
}

static void
cycle_is_kept(void *context)
{
    (void)context;
    sim_explore_check(prof_heap_phase(kernel_prof).cycle == turned,
                      "the cycle is not the one that was begun");
}

const struct sim_kernel props_kernel_flush_advance = {
    .name = "heap-flush-advance",
    .about = "a concurrent flush does not undo a cycle that has begun",
    .setup = nothing_turned,
    .finish = cycle_is_kept,
    .threads = {{"world", try_to_advance, NULL}, {"flush", flush, NULL}},
    .threads_count = 2,
};

/* ---- a flush publishes what was counted before its cycle ---- */

static void
sweep_and_advance(void *context, uint32_t thread)
{
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
    try_to_advance(context, thread);
}

static void
sweep_is_published(void *context)
{
    const struct prof_heap_phase phase = prof_heap_phase(kernel_prof);
    const bool is_due = phase.cycle == 2 && phase.flushed;

    (void)context;
    sim_explore_check(prof_heap_totals(kernel_prof).frees_published == is_due,
                      "a flush publishes the sweep that its cycle ended");
}

const struct sim_kernel props_kernel_flush_after = {
    .name = "heap-flush-after",
    .about = "a flush of a new cycle publishes what was freed before the cycle "
             "began",
    .setup = one_cycle_old,
    .finish = sweep_is_published,
    .threads = {{"world", sweep_and_advance, NULL}, {"flush", flush, NULL}},
    .threads_count = 2,
};

/* ---- Two control calls at once ---- */

static void
one_alloc(void *context)
{
    (void)context;
    kernel_check_totals(1, 0);
}

static void
add_up_once(void *context, uint32_t thread)
{
    (void)thread;
    one_alloc(context);
}

const struct sim_kernel props_kernel_heap_readers = {
    .name = "heap-two-readers",
    .about = "totals read during a snapshot include all of what it publishes, "
             "or nothing",
    .setup = nothing_yet,
    .finish = one_alloc,
    .threads = {{"reader", kernel_snapshot, NULL}, {"sums", add_up_once, NULL}},
    .threads_count = 2,
};

/* ---- totals while an event arrives and is published ---- */

/* Two allocations are pending at most, then published, and then another one is
 * pending. */
static void
alloc_and_publish(void *context, uint32_t thread)
{
    kernel_alloc(thread, 1);
    kernel_snapshot(context, thread);
    kernel_alloc(thread, 1);
}

static void
none_is_owed(void *context, uint32_t thread)
{
    const struct prof_heap_totals t = prof_heap_totals(kernel_prof);

    (void)context;
    (void)thread;
    sim_explore_check(t.allocs_published == 0
                          ? t.allocs_pending <= 2
                          : t.allocs_published == 2 && t.allocs_pending <= 1,
                      "totals are of no one moment");
}

const struct sim_kernel props_kernel_heap_totals_owed = {
    .name = "heap-totals-published",
    .about = "totals are those of a moment: no event is counted as published "
             "and as pending, or as neither",
    .setup = nothing_yet,
    .threads = {{"mutator", alloc_and_publish, NULL},
                {"sums", none_is_owed, NULL}},
    .threads_count = 2,
};

/* ---- totals while an object is allocated and freed ---- */

static void
frees_have_allocs(void *context, uint32_t thread)
{
    const struct prof_heap_totals t = prof_heap_totals(kernel_prof);

    (void)context;
    (void)thread;
    sim_explore_check(t.frees_published + t.frees_pending <=
                          t.allocs_published + t.allocs_pending,
                      "totals have a free without its allocation");
}

static void
life_on_two(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free_explicit(prof_proc_at(kernel_prof, 1),
                            kernel_alloc(thread, 0));
}

static void
one_life_of_two(void *context)
{
    kernel_new_instance((struct prof_config){.buckets_max = 1, .procs_max = 2});
    life_on_two(context, 0);
}

const struct sim_kernel props_kernel_heap_totals = {
    .name = "heap-totals",
    .about = "totals read while an object is allocated and freed never have "
             "more frees than allocations",
    .setup = one_life_of_two,
    .finish = two_lives,
    .threads = {{"mutator", life_on_two, NULL},
                {"sums", frees_have_allocs, NULL}},
    .threads_count = 2,
};

/* ---- a bucket is added while a snapshot counts and lists ---- */

static void
one_is_published(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 2, .procs_max = 1});
    kernel_alloc(0, 0);
    kernel_snapshot(context, 0);
}

static void
alloc_another(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 1);
}

static void
two_allocs(void *context)
{
    (void)context;
    kernel_check_totals(2, 0);
}

/* What must hold of every snapshot: PROF_ERR_SHORT if and only if there are
 * more records than room. */
static void
check_room(enum prof_status status, size_t count, size_t room)
{
    sim_explore_check(status == PROF_OK || status == PROF_ERR_SHORT,
                      "a snapshot returns ok or short");
    sim_explore_check((status == PROF_OK) == (count <= room),
                      "it is short if there is no room, and only then");
}

/* Check record i of a snapshot with room for `listed` records; depth 0: not
 * written. */
static void
check_written(size_t i, uint32_t depth, size_t listed)
{
    sim_explore_check((depth != 0) == (i < listed),
                      "a record is missing, or one too many");
}

static void
list_heap(void *context, uint32_t thread)
{
    struct prof_heap_record records[2] = {{.depth = 0}, {.depth = 0}};
    size_t count = 0;
    const enum prof_status status =
        prof_heap_snapshot(kernel_prof, PROF_SELECT_ALL, records, 1, &count);

    (void)context;
    (void)thread;
    check_room(status, count, 1);
    if (status == PROF_OK)
        check_written(0, records[0].depth, count);
    check_written(1, records[1].depth, 1);
}

const struct sim_kernel props_kernel_heap_arrival = {
    .name = "heap-arrival",
    .about = "a snapshot during which a bucket is added shows it, or reports "
             "that the buffer is too short",
    .setup = one_is_published,
    .finish = two_allocs,
    .threads = {{"mutator", alloc_another, NULL}, {"reader", list_heap, NULL}},
    .threads_count = 2,
};

/* ---- Contention ---- */

static void
new_for_contention(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4});
}

static void
block_event(void *context, uint32_t thread)
{
    (void)context;
    kernel_block(thread, 0);
}

static void
read_contention(void *context, uint32_t thread)
{
    struct prof_contention_record records[KERNEL_RECORDS];
    size_t count = 0;

    (void)context;
    (void)thread;
    sim_explore_check(prof_contention_snapshot(kernel_prof, PROF_BLOCK, records,
                                               KERNEL_RECORDS,
                                               &count) == PROF_OK,
                      "snapshot");
    sim_explore_check(count <= 1, "one stack, one bucket");
}

static void
two_events(void *context)
{
    (void)context;
    kernel_check_blocks(2);
}

const struct sim_kernel props_kernel_contention = {
    .name = "contention",
    .about = "block events of the same stack all count during a snapshot",
    .setup = new_for_contention,
    .finish = two_events,
    .threads = {{"first", block_event, NULL},
                {"second", block_event, NULL},
                {"reader", read_contention, NULL}},
    .threads_count = 3,
};

static void
list_contention(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (size_t room = 0; room < 2; room++) {
        struct prof_contention_record records[2] = {{.depth = 0}, {.depth = 0}};
        size_t count = 0;
        const enum prof_status status = prof_contention_snapshot(
            kernel_prof, PROF_BLOCK, records, room, &count);

        check_room(status, count, room);
        for (size_t i = 0; i < 2; i++)
            check_written(i, records[i].depth, count < room ? count : room);
    }
}

const struct sim_kernel props_kernel_contention_arrival = {
    .name = "contention-arrival",
    .about = "a contention snapshot during which a bucket is added shows it, "
             "or reports that the buffer is too short",
    .setup = new_for_contention,
    .finish = NULL,
    .threads = {{"waiter", block_event, NULL},
                {"reader", list_contention, NULL}},
    .threads_count = 2,
};
