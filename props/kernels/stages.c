/*
 * stages.c -- kernels of older rule sets: the two stages of Go 1.5, counts that
 * are doubles, rates that change.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"
#include "prof/rules.h"

static prof_bucket born; /* made before the threads begin */

/* ---- The first snapshot of the stages ---- */

static void
new_stages(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .rules = &prof_rules_go1_5, .buckets_max = 1, .procs_max = 2});
}

static void
one_life(void *context, uint32_t thread)
{
    (void)context;
    /* On another processor, whose counters are other words. */
    prof_heap_free_explicit(prof_proc_at(kernel_prof, 1),
                            kernel_alloc(thread, 0));
}

static void
one_alloc_one_free(void *context)
{
    (void)context;
    kernel_check_totals(1, 1);
}

const struct sim_kernel props_kernel_stages_first = {
    .name = "stages-first-snapshot",
    .about =
        "a first snapshot of two stages shows no free without its allocation",
    .setup = new_stages,
    .finish = one_alloc_one_free,
    .threads = {{"mutator", one_life, NULL}, {"reader", kernel_snapshot, NULL}},
    .threads_count = 2,
};

/* ---- the stages rotate while events arrive ---- */

static void
one_cycle_old(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .rules = &prof_rules_go1_6_late, .buckets_max = 1, .procs_max = 2});
    born = kernel_alloc(0, 0);
    sim_explore_check(prof_heap_next_cycle(kernel_prof) == PROF_OK, "advance");
}

static void
sweep_and_allocate(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_free(prof_proc_at(kernel_prof, thread), born);
    kernel_alloc(thread, 0);
}

static void
flush_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(prof_heap_flush(kernel_prof) == PROF_OK, "flush");
}

static void
two_allocs_one_free(void *context)
{
    (void)context;
    kernel_check_totals(2, 1);
}

const struct sim_kernel props_kernel_stages_flush = {
    .name = "stages-flush",
    .about = "events recorded while the stages move are neither lost nor torn",
    .setup = one_cycle_old,
    .finish = two_allocs_one_free,
    .threads = {{"mutator", sweep_and_allocate, NULL},
                {"collector", flush_once, NULL}},
    .threads_count = 2,
};

/* ---- Counts that are doubles ---- */

static void
new_for_doubles(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .rules = &prof_rules_go1_17, .buckets_max = 2, .procs_max = 2});
    prof_block_rate_set(kernel_prof, 1);
}

static void
block_twice(void *context, uint32_t thread)
{
    (void)context;
    for (int i = 0; i < 2; i++)
        kernel_block(thread, 0);
}

static void
four_events(void *context)
{
    (void)context;
    kernel_check_blocks(4);
}

const struct sim_kernel props_kernel_doubles = {
    .name = "contention-doubles",
    .about = "counts kept as doubles lose no event",
    .setup = new_for_doubles,
    .finish = four_events,
    .threads = {{"first", block_twice, NULL}, {"second", block_twice, NULL}},
    .threads_count = 2,
};

/* ---- the rate changes between two allocations ---- */

enum { LARGE_BYTES = 1 << 20 }; /* many times the rates, so always sampled */

static const int64_t rates[] = {1000, 2000};

static void
new_for_rates(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4, .procs_max = 2});
}

static void
set_and_sample(void *context, uint32_t thread)
{
    struct prof_proc *proc = prof_proc_at(kernel_prof, thread);

    (void)context;
    prof_heap_rate_set(kernel_prof, rates[thread]);
    for (int i = 0; i < 2; i++) {
        if (prof_heap_sample(proc, LARGE_BYTES))
            kernel_alloc(thread, 0);
    }
}

static void
each_of_one_rate(void *context)
{
    struct prof_heap_record records[KERNEL_RECORDS];
    size_t count = 0;
    uint64_t allocs = 0;

    (void)context;
    sim_explore_check(prof_heap_snapshot(kernel_prof, PROF_SELECT_ALL, records,
                                         KERNEL_RECORDS, &count) == PROF_OK,
                      "snapshot");
    for (size_t i = 0; i < count; i++) {
        sim_explore_check(records[i].rate_bytes == rates[0] ||
                              records[i].rate_bytes == rates[1] ||
                              records[i].rate_bytes == PROF_HEAP_RATE_DEFAULT,
                          "a bucket has a rate that was never set");
        for (size_t j = 0; j < i; j++)
            sim_explore_check(records[i].rate_bytes != records[j].rate_bytes,
                              "two buckets of one rate");
        allocs += records[i].allocs;
    }
    kernel_check_totals(allocs, 0);
}

const struct sim_kernel props_kernel_rates = {
    .name = "sampler-rates",
    .about = "each rate has exactly one bucket, and each bucket one rate",
    .setup = new_for_rates,
    .finish = each_of_one_rate,
    .threads = {{"first", set_and_sample, NULL},
                {"second", set_and_sample, NULL}},
    .threads_count = 2,
};

/* ---- two rates are used for the first time, at once ---- */

static void
set_and_draw(void *context, uint32_t thread)
{
    (void)context;
    prof_heap_rate_set(kernel_prof, rates[thread]);
    (void)prof_heap_sample(prof_proc_at(kernel_prof, thread), 1);
}

/* returns: how many allocations were sampled at this rate, after all are
 * published */
static uint64_t
allocs_of_rate(int64_t rate_bytes)
{
    struct prof_heap_record records[KERNEL_RECORDS];
    size_t count = 0;
    uint64_t allocs = 0;

    for (int i = 0; i < 2; i++)
        kernel_advance_alone();
    sim_explore_check(prof_heap_snapshot(kernel_prof, PROF_SELECT_ALL, records,
                                         KERNEL_RECORDS, &count) == PROF_OK,
                      "snapshot");
    for (size_t i = 0; i < count; i++)
        allocs += records[i].rate_bytes == rate_bytes ? records[i].allocs : 0;
    return allocs;
}

/* What the processor samples next must be sampled at the new rate. */
static void
check_next(uint32_t proc, int64_t rate_bytes)
{
    const uint64_t before = allocs_of_rate(rate_bytes);

    prof_heap_rate_set(kernel_prof, rate_bytes);
    sim_explore_check(
        prof_heap_sample(prof_proc_at(kernel_prof, proc), LARGE_BYTES),
        "a large allocation is not sampled");
    kernel_alloc(proc, 0);
    sim_explore_check(allocs_of_rate(rate_bytes) == before + 1,
                      "a sample is in the bucket of another rate");
}

static void
next_of_its_rate(void *context)
{
    (void)context;
    for (uint32_t proc = 0; proc < 2; proc++) {
        check_next(proc, rates[proc]);
        check_next(proc, rates[1 - proc]);
    }
}

const struct sim_kernel props_kernel_new_rates = {
    .name = "sampler-new-rates",
    .about = "of two new rates each has its own buckets",
    .setup = new_for_rates,
    .finish = next_of_its_rate,
    .threads = {{"first", set_and_draw, NULL}, {"second", set_and_draw, NULL}},
    .threads_count = 2,
};
