/* attach.c -- consumers that attach and detach, interruptions, libraries loaded
 * later. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "subjects/conform/exercise.h"

enum { BYTES = 65536, SAMPLES = 600 };

/* ---- Interruptions ---- */

/* Volatile: as in exercise.c. */
static volatile uint32_t nested_allocs;
static volatile uint32_t nested_runs;
static __thread bool is_nested;

/* Runs in the middle of the producer's code. */
static void
allocate_inside(void)
{
    const struct seen outer = seen_end();

    if (is_nested)
        return;
    is_nested = true;
    nested_runs++;
    seen_begin();
    for (int i = 0; i < 4; i++)
        free(malloc(1 << 20));
    nested_allocs += seen_end().allocs;
    is_nested = false;
    seen_resume(outer);
}

static void
allocate_at_event(const struct watch_event *event)
{
    (void)event;
    allocate_inside();
}

/* After interruptions, blocks are sampled as before. */
static double
judge_afterwards(void)
{
    const double chance = chance_of(BYTES);
    const uint64_t trials = trials_for(SAMPLES, chance);
    uint64_t count = 0;

    for (uint64_t i = 0; i < trials; i++) {
        struct seen seen;

        free(seen_malloc(BYTES, &seen));
        count += seen.allocs > 0;
    }
    return judge_count("blocks afterwards", trials, chance, count);
}

void
check_reentry(void)
{
    double noticed;

    on_event = allocate_at_event;
    for (int i = 0; i < 2000; i++)
        free(malloc(1 << 20));
    on_event = NULL;
    if (nested_runs == 0)
        not_tried("no block was sampled");
    if (nested_allocs > 0)
        broken("of %u allocations inside the producer %u were sampled",
               nested_runs * 4, nested_allocs);
    noticed = judge_afterwards();
    holds("%u times inside the producer; a deviation of %.0f %% afterwards "
          "would be noticed",
          nested_runs, noticed * 100);
}

static void
on_signal(int number)
{
    (void)number;
    allocate_inside();
}

/* Send a signal. Its handler runs when the handler of the breakpoint returns:
 * at the nop, in the middle of an allocation. */
static void
send_signal(const struct watch_event *event)
{
    (void)event;
    if (!is_nested)
        raise(SIGUSR1);
}

void
check_signals(void)
{
    double noticed;

    signal(SIGUSR1, on_signal);
    on_event = send_signal;
    for (int i = 0; i < 2000; i++)
        free(malloc(1 << 20));
    on_event = NULL;
    if (nested_runs == 0)
        not_tried("no block was sampled");
    noticed = judge_afterwards();
    holds("%u handlers at a probe, 4 blocks each, %u of which were sampled; a "
          "deviation of %.0f %% afterwards would be noticed",
          nested_runs, nested_allocs, noticed * 100);
}

/* --------------------------------------------------------------------
 * consumers */

static void
needs_semaphores(void)
{
    if (watch_semaphores() == 0)
        not_applicable("its probes have no semaphore");
}

/* Allocate while no consumer is attached; then attach one. returns: whether the
 * first block after that is sampled */
static bool
is_first_sampled(void)
{
    struct seen seen;

    watch_detach();
    seen_begin();
    for (int i = 0; i < 64; i++)
        free(malloc(1 << 20));
    if (seen_end().allocs > 0 || seen_end().frees > 0)
        broken("without a consumer %u allocs and %u frees fired",
               seen_end().allocs, seen_end().frees);
    watch_attach();
    free(seen_malloc(BYTES, &seen));
    return seen.allocs > 0;
}

/* Blocks that are freed while no consumer is attached must not fire a free once
 * one is attached again. */
static void
judge_deaths_unseen(void)
{
    for (int i = 0; i < 200; i++) {
        void *const old = sampled_block(100000);
        struct seen seen;
        void *block;

        watch_detach();
        free(old);
        block = malloc(100000);
        watch_attach();
        seen_free(block, &seen);
        if (seen.frees > 0)
            broken("a block that was allocated without a consumer fires a free "
                   "(%s where a sampled one was)",
                   block == old ? "it lies" : "it does not lie");
    }
    for (int i = 0; i < 200; i++) {
        void *const block = sampled_block(100000);
        struct seen seen;

        watch_detach();
        free(malloc(100000));
        watch_attach();
        seen_free(block, &seen);
        if (seen.frees != 1)
            broken("a block that was sampled before a consumer left and came "
                   "fires %u frees",
                   seen.frees);
    }
}

void
check_detached(void)
{
    double chance;
    uint64_t trials;
    uint64_t count = 0;
    double noticed;

    needs_semaphores();
    chance = chance_of(BYTES);
    trials = trials_for(SAMPLES, chance);
    for (uint64_t i = 0; i < trials; i++)
        count += is_first_sampled();
    noticed = judge_count("first blocks after 64 MiB without a consumer",
                          trials, chance, count);
    judge_deaths_unseen();
    holds("%ju times; a deviation of %.0f %% would be noticed",
          (uintmax_t)trials, noticed * 100);
}

static atomic_uint times_gone;
static atomic_bool is_over;
static volatile uint32_t weightless;

static void *
come_and_go(void *unused)
{
    while (!atomic_load(&is_over)) {
        watch_detach();
        sched_yield();
        watch_attach();
        sched_yield();
        atomic_fetch_add(&times_gone, 1);
    }
    return unused;
}

static void
look_for_weight(const struct watch_event *event)
{
    weightless +=
        event->kind == WATCH_ALLOC && event->weight_bytes < event->bytes;
}

/* Detach the consumer while an allocation is under way. */
static void
detach_inside(const struct watch_event *event)
{
    if (event->kind == WATCH_ALLOC)
        watch_detach();
}

static void
judge_detached_inside(void)
{
    enum { TRIES = 1000 };

    for (int i = 0; i < 100; i++) {
        struct seen seen = {0};

        on_event = detach_inside;
        for (int j = 0; j < TRIES && seen.allocs == 0; j++)
            free(seen_malloc(1 << 20, &seen));
        on_event = NULL;
        if (seen.allocs == 0)
            broken("after a consumer left in the middle of an allocation, of "
                   "%d blocks of 1 MiB none is sampled",
                   (int)TRIES);
        watch_attach();
    }
}

/*
 * Allocate blocks while another thread attaches and detaches. On a busy machine
 * the other thread may not run at all during 100,000 allocations, so the check
 * ends only when that thread has attached and detached often enough.
 */
void
check_attach_anywhere(void)
{
    enum { BLOCKS_MAX = 100000000, TURN = 1000, ENOUGH = 100 };
    pthread_t other;
    uint32_t sampled = 0, blocks = 0;
    double noticed;

    needs_semaphores();
    (void)chance_of(BYTES);
    on_event = look_for_weight;
    if (pthread_create(&other, NULL, come_and_go, NULL) != 0)
        not_tried("a thread cannot be created");
    while (blocks < 100 * TURN ||
           ((atomic_load(&times_gone) < ENOUGH || sampled < ENOUGH) &&
            blocks < BLOCKS_MAX)) {
        struct seen seen;

        free(seen_malloc(1 << 20, &seen));
        sampled += seen.allocs > 0;
        if (seen.allocs > 1)
            broken("one block fires %u allocs", seen.allocs);
        if (++blocks % TURN == 0)
            sched_yield();
    }
    atomic_store(&is_over, true);
    pthread_join(other, NULL);
    on_event = NULL;
    if (weightless > 0 && !weighing()->is_by_crossings)
        broken("%u events weigh less than their size", weightless);
    judge_detached_inside();
    noticed = judge_afterwards();
    if (sampled == 0 || atomic_load(&times_gone) == 0)
        not_tried("of %u blocks %u were sampled, while another thread attached "
                  "and detached %u times",
                  blocks, sampled, atomic_load(&times_gone));
    holds("%u of %u blocks were sampled while another thread attached and "
          "detached %u times; a deviation of %.0f %% afterwards would be "
          "noticed",
          sampled, blocks, atomic_load(&times_gone), noticed * 100);
}

/* ---- Libraries ---- */

/* Loads the C++ library, whose `operator new` allocates. */
void
check_loaded_later(void)
{
    void *const library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    void *(*allocate)(size_t);
    void (*release)(void *);
    uint32_t sampled = 0;

    if (library == NULL)
        not_tried("libstdc++.so.6 is not there");
    *(void **)&allocate = dlsym(library, "_Znwm");
    *(void **)&release = dlsym(library, "_ZdlPv");
    if (allocate == NULL || release == NULL)
        not_tried("libstdc++.so.6 has no operator new");
    for (int i = 0; i < 500; i++) {
        struct seen born;
        struct seen died;
        void *block;

        seen_begin();
        block = allocate(1 << 20);
        born = seen_end();
        seen_begin();
        release(block);
        died = seen_end();
        sampled += born.allocs;
        if (born.allocs > 0 && born.alloc.address != (uintptr_t)block)
            broken("operator new returns %p, its alloc says %#jx", block,
                   (uintmax_t)born.alloc.address);
        if (died.frees != born.allocs)
            broken("a block of operator new was %ssampled, and its delete "
                   "fires %u frees",
                   born.allocs > 0 ? "" : "not ", died.frees);
    }
    if (sampled == 0)
        broken("of 500 blocks of 1 MiB of a library loaded later none was "
               "sampled");
    dlclose(library);
    holds("%u of 500 blocks of 1 MiB of operator new were sampled", sampled);
}
