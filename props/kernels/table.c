/* table.c -- kernels: threads insert buckets while others insert and look up.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

/* ---- two threads insert one stack ---- */

static void
new_table(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.hash = PROF_HASH_GO_64});
}

static void
alloc_stack_0(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, 0);
}

static void
one_bucket_two_allocs(void *context)
{
    (void)context;
    kernel_check_totals(2, 0);
    kernel_check_listing(1);
}

const struct sim_kernel props_kernel_same_stack = {
    .name = "table-same-stack",
    .about = "two threads that insert the same stack share one bucket",
    .setup = new_table,
    .finish = one_bucket_two_allocs,
    .threads = {{"first", alloc_stack_0, NULL},
                {"second", alloc_stack_0, NULL}},
    .threads_count = 2,
};

/* ---- stacks that collide in all 64 bits of the hash ---- */

static void
alloc_own_stack(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, thread);
}

static void
two_buckets_two_allocs(void *context)
{
    (void)context;
    kernel_check_totals(2, 0);
    kernel_check_listing(2);
}

const struct sim_kernel props_kernel_other_stacks = {
    .name = "table-collision",
    .about = "two stacks with the same hash, inserted at the same time, get a "
             "bucket each",
    .setup = new_table,
    .finish = two_buckets_two_allocs,
    .threads = {{"first", alloc_own_stack, NULL},
                {"second", alloc_own_stack, NULL}},
    .threads_count = 2,
};

/* ---- three threads ---- */

static void
alloc_0_or_1(void *context, uint32_t thread)
{
    (void)context;
    kernel_alloc(thread, thread == 2 ? 0 : thread);
}

static void
two_buckets_three_allocs(void *context)
{
    (void)context;
    kernel_check_totals(3, 0);
    kernel_check_listing(2);
}

const struct sim_kernel props_kernel_three_inserters = {
    .name = "table-three",
    .about = "two stacks with the same hash, inserted by three threads, get a "
             "bucket each",
    .setup = new_table,
    .finish = two_buckets_three_allocs,
    .threads = {{"first", alloc_0_or_1, NULL},
                {"second", alloc_0_or_1, NULL},
                {"third", alloc_0_or_1, NULL}},
    .threads_count = 3,
};

/* ---- a thread that has recorded an event finds it in the profile ---- */

static void
find_stack_2(void *context, const struct prof_heap_record *record)
{
    bool *found = context;

    if (record->stack[0] == kernel_stacks[2][0])
        *found = true;
}

static void
alloc_and_look(void *context, uint32_t thread)
{
    bool found = false;

    (void)context;
    if (kernel_alloc(thread, 2) == PROF_BUCKET_NONE)
        return;
    prof_heap_iterate(kernel_prof, find_stack_2, &found);
    sim_explore_check(found, "a bucket is counted in, but not listed");
}

static void
one_bucket(void *context)
{
    (void)context;
    kernel_check_listing(1);
}

const struct sim_kernel props_kernel_own_event_is_listed = {
    .name = "table-own-event",
    .about = "a thread that has recorded an event finds its bucket listed",
    .setup = new_table,
    .finish = one_bucket,
    .threads = {{"first", alloc_and_look, NULL},
                {"second", alloc_and_look, NULL}},
    .threads_count = 2,
};

/* ---- one bucket is left ---- */

static void
new_tiny_table(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 1});
}

static void
recorded_or_dropped(void *context)
{
    const struct prof_drops drops = prof_drops(kernel_prof);

    (void)context;
    sim_explore_check(drops.no_bucket == 1, "a drop is not counted once");
    kernel_check_totals(1, 0);
    kernel_check_listing(1);
}

const struct sim_kernel props_kernel_no_room = {
    .name = "table-no-room",
    .about = "of two stacks one gets the last bucket, and the other is dropped",
    .setup = new_tiny_table,
    .finish = recorded_or_dropped,
    .threads = {{"first", alloc_own_stack, NULL},
                {"second", alloc_own_stack, NULL}},
    .threads_count = 2,
};

/* ---- room for one stack's frames is left ---- */

static void
new_short_table(void *context)
{
    (void)context;
    kernel_new_instance(
        (struct prof_config){.buckets_max = 2, .frames_max = 2});
}

static void
recorded_or_no_frames(void *context)
{
    const struct prof_drops drops = prof_drops(kernel_prof);

    (void)context;
    sim_explore_check(drops.no_frames == 1 && drops.no_bucket == 0,
                      "a drop is not counted once");
    kernel_check_totals(1, 0);
    kernel_check_listing(1);
}

const struct sim_kernel props_kernel_no_frames = {
    .name = "table-no-frames",
    .about = "of two stacks one gets the last frames, and the other is dropped",
    .setup = new_short_table,
    .finish = recorded_or_no_frames,
    .threads = {{"first", alloc_own_stack, NULL},
                {"second", alloc_own_stack, NULL}},
    .threads_count = 2,
};
