/*
 * visited_set.c -- kernels: the explorer's own set of visited states, which
 * several processes share.
 */
#include <sched.h>
#include <stdalign.h>

#include "props/kernels/kernels.h"

/* A thread that waits for a table's lock. */
#define sched_yield() sim_explore_spin_wait()

/* A second copy, which is explored; the explorer itself uses its own. */
#include "explore/search/visited.c"

enum { PAGE = 4096, COUNT_MAX = 16 };

static alignas(PAGE) unsigned char memory[8 * PAGE];
static struct sim_visited set;
static bool was_there[2];

/* Two keys of one table, with the same first slot. */
static const uint64_t keys[2][2] = {{7, 7}, {9, 7}};

/* Make a set as sim_visited_init_shared() does, but at the same address in each
 * run. */
static void
setup(void *context)
{
    struct sim_visited_shared *shared = (struct sim_visited_shared *)memory;

    (void)context;
    memset(memory, 0, sizeof memory);
    shared->bytes = sizeof memory;
    shared->taken = (sizeof *shared + PAGE - 1) / PAGE * PAGE;
    set = (struct sim_visited){.count_max = COUNT_MAX, .shared = shared};
}

static void
insert_own(void *context, uint32_t thread)
{
    (void)context;
    was_there[thread] = sim_visited_insert(&set, keys[thread]);
    sim_explore_check(sim_visited_contains(&set, keys[thread]),
                      "what was inserted is not there");
}

static void
insert_same(void *context, uint32_t thread)
{
    (void)context;
    was_there[thread] = sim_visited_insert(&set, keys[0]);
}

static void
check_counts(uint64_t count)
{
    sim_explore_check(sim_visited_count(&set) == count,
                      "the set counts other keys than it has");
    sim_explore_check(set.shared->tables[0].count == count,
                      "a table counts other keys than it has");
}

static void
both_are_there(void *context)
{
    (void)context;
    sim_explore_check(!was_there[0] && !was_there[1],
                      "a key was there before it came");
    sim_explore_check(sim_visited_contains(&set, keys[0]) &&
                          sim_visited_contains(&set, keys[1]),
                      "a key is lost");
    check_counts(2);
}

static void
one_was_first(void *context)
{
    (void)context;
    sim_explore_check(was_there[0] != was_there[1],
                      "of two that insert a key one is the first");
    check_counts(1);
}

const struct sim_kernel props_kernel_visited = {
    .name = "visited-two-keys",
    .about = "two processes insert and count two keys of one table",
    .setup = setup,
    .finish = both_are_there,
    .threads = {{"first", insert_own, NULL}, {"second", insert_own, NULL}},
    .threads_count = 2,
};

const struct sim_kernel props_kernel_visited_same = {
    .name = "visited-same-key",
    .about =
        "of two processes that insert the same key exactly one finds it new",
    .setup = setup,
    .finish = one_was_first,
    .threads = {{"first", insert_same, NULL}, {"second", insert_same, NULL}},
    .threads_count = 2,
};
