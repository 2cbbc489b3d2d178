/*
 * rates.c -- kernels: one thread changes the rates of the contention profiles
 * while others record events.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"

enum {
    WAIT_TICKS = 5,
    BLOCK_RATE_TICKS = 10,
    FRACTION = 2,
    MUTEX_FRACTION = 3,
    SLOW_TICKS_PER_SECOND = 1000000, /* a tick is 1,000 ns */
    RATE_BELOW_TICK_NS = 500
};

/* ---- each event follows one rate only ---- */

static void
all_are_recorded(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){.buckets_max = 4, .procs_max = 2});
    prof_block_rate_set(kernel_prof, 1);
    (void)prof_mutex_fraction_set(kernel_prof, 1);
}

static void
wait_twice(void *context, uint32_t thread)
{
    struct prof_proc *proc = prof_proc_at(kernel_prof, thread);

    (void)context;
    prof_contention_event(proc, PROF_BLOCK, kernel_stacks[0], 2, WAIT_TICKS);
    prof_contention_event(proc, PROF_MUTEX, kernel_stacks[0], 2, WAIT_TICKS);
}

/* Here a tick is a nanosecond. */
static void
set_both(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_block_rate_set(kernel_prof, BLOCK_RATE_TICKS);
    sim_explore_check(prof_block_rate_ticks(kernel_prof) == BLOCK_RATE_TICKS,
                      "the rate is not the one that was set");
    sim_explore_check(prof_mutex_fraction_set(kernel_prof, FRACTION) == 1,
                      "the fraction was not the one that was set");
}

/* The event must be left out, as by the first rate, or scaled by the second. */
static void
check_one_rate(enum prof_contention kind, uint64_t scale)
{
    struct prof_contention_record record;
    size_t count = 0;

    sim_explore_check(prof_contention_snapshot(kernel_prof, kind, &record, 1,
                                               &count) == PROF_OK,
                      "snapshot");
    if (count == 0)
        return;
    sim_explore_check(
        (record.count == 1 && record.cycles == WAIT_TICKS) ||
            (record.count == scale && record.cycles == scale * WAIT_TICKS),
        "an event was kept by one rate and scaled by another");
}

static void
each_of_one_rate(void *context)
{
    (void)context;
    check_one_rate(PROF_BLOCK, BLOCK_RATE_TICKS / WAIT_TICKS);
    check_one_rate(PROF_MUTEX, FRACTION);
}

const struct sim_kernel props_kernel_contention_rates = {
    .name = "contention-rates",
    .about = "an event is chosen and scaled by the same rate, even while rates "
             "change",
    .setup = all_are_recorded,
    .finish = each_of_one_rate,
    .threads = {{"waiter", wait_twice, NULL}, {"control", set_both, NULL}},
    .threads_count = 2,
};

/* ---- the same at rates by which events are drawn ---- */

enum {
    DRAWN_RATE_TICKS = 2 * WAIT_TICKS,
    RARE_RATE_TICKS = 20 * WAIT_TICKS,
    RARE_FRACTION = 20,
    SEEDS_MAX = 1000
};

static uint64_t seed; /* with it the first event is kept at the first rates, and
                       * only there */

static void
new_with_rates(int64_t block_ns, int64_t fraction)
{
    kernel_new_instance(
        (struct prof_config){.buckets_max = 4, .procs_max = 2, .seed = seed});
    prof_block_rate_set(kernel_prof, block_ns);
    (void)prof_mutex_fraction_set(kernel_prof, fraction);
}

static void
wait_of(enum prof_contention kind)
{
    /* Each kind has its own processor, so that the draws of one do not change
     * those of the other. */
    prof_contention_event(prof_proc_at(kernel_prof, kind == PROF_MUTEX), kind,
                          kernel_stacks[0], 2, WAIT_TICKS);
}

static size_t
events_of(enum prof_contention kind, struct prof_contention_record *record)
{
    size_t count = 0;

    sim_explore_check(prof_contention_snapshot(kernel_prof, kind, record, 1,
                                               &count) == PROF_OK,
                      "snapshot");
    return count;
}

/* returns: of how many of the two kinds the first event is kept */
static size_t
kept_at(int64_t block_ns, int64_t fraction)
{
    struct prof_contention_record record;

    new_with_rates(block_ns, fraction);
    wait_of(PROF_BLOCK);
    wait_of(PROF_MUTEX);
    return events_of(PROF_BLOCK, &record) + events_of(PROF_MUTEX, &record);
}

static void
some_are_recorded(void *context)
{
    (void)context;
    while (seed < SEEDS_MAX &&
           (kept_at(DRAWN_RATE_TICKS, MUTEX_FRACTION) != 2 ||
            kept_at(RARE_RATE_TICKS, RARE_FRACTION) != 0))
        seed++;
    sim_explore_check(seed < SEEDS_MAX, "no seed tells the rates apart");
    new_with_rates(DRAWN_RATE_TICKS, MUTEX_FRACTION);
}

static void
wait_by_chance(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    wait_of(PROF_BLOCK);
    wait_of(PROF_MUTEX);
}

/* Set rates that keep neither event, then turn profiling off. */
static void
set_rare_and_off(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_block_rate_set(kernel_prof, RARE_RATE_TICKS);
    (void)prof_mutex_fraction_set(kernel_prof, RARE_FRACTION);
    prof_block_rate_set(kernel_prof, 0);
    (void)prof_mutex_fraction_set(kernel_prof, 0);
}

static void
check_first_rate(enum prof_contention kind, uint64_t scale)
{
    struct prof_contention_record record;

    sim_explore_check(
        events_of(kind, &record) == 0 ||
            (record.count == scale && record.cycles == scale * WAIT_TICKS),
        "an event was drawn by one rate and scaled by another");
}

static void
each_of_the_first_rate(void *context)
{
    (void)context;
    check_first_rate(PROF_BLOCK, DRAWN_RATE_TICKS / WAIT_TICKS);
    check_first_rate(PROF_MUTEX, MUTEX_FRACTION);
}

const struct sim_kernel props_kernel_drawn_rates = {
    .name = "contention-drawn-rates",
    .about = "an event is scaled by the rate that sampled it, whatever is set "
             "afterwards",
    .setup = some_are_recorded,
    .finish = each_of_the_first_rate,
    .threads = {{"waiter", wait_by_chance, NULL},
                {"control", set_rare_and_off, NULL}},
    .threads_count = 2,
};

/* ---- a rate of less than a tick does not turn profiling off ---- */

static void
slow_clock(void *context)
{
    (void)context;
    kernel_new_instance(
        (struct prof_config){.buckets_max = 4,
                             .procs_max = 2,
                             .ticks_per_second = SLOW_TICKS_PER_SECOND});
    prof_block_rate_set(kernel_prof, 1);
    (void)prof_mutex_fraction_set(kernel_prof, 1);
}

/* At these rates, too, every event is recorded. */
static void
set_again(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_block_rate_set(kernel_prof, RATE_BELOW_TICK_NS);
    (void)prof_mutex_fraction_set(kernel_prof, 1);
}

static void
check_is_recorded(enum prof_contention kind)
{
    struct prof_contention_record record;
    size_t count = 0;

    sim_explore_check(prof_contention_snapshot(kernel_prof, kind, &record, 1,
                                               &count) == PROF_OK &&
                          count == 1 && record.count == 1 &&
                          record.cycles == WAIT_TICKS,
                      "an event is lost while one rate replaces another");
}

static void
both_are_recorded(void *context)
{
    (void)context;
    check_is_recorded(PROF_BLOCK);
    check_is_recorded(PROF_MUTEX);
}

const struct sim_kernel props_kernel_short_rate = {
    .name = "contention-short-rate",
    .about = "no event is lost while a rate that records all is set again",
    .setup = slow_clock,
    .finish = both_are_recorded,
    .threads = {{"waiter", wait_twice, NULL}, {"control", set_again, NULL}},
    .threads_count = 2,
};

/* ---- setting the fraction returns the last one ---- */

static int64_t before[2];

static void
fraction_of_one(void *context)
{
    (void)context;
    kernel_new_instance((struct prof_config){
        .rules = &prof_rules_go1_10, .buckets_max = 2, .procs_max = 2});
    (void)prof_mutex_fraction_set(kernel_prof, 1);
}

static void
set_fraction(void *context, uint32_t thread)
{
    (void)context;
    before[thread] =
        prof_mutex_fraction_set(kernel_prof, thread == 0 ? MUTEX_FRACTION : 0);
}

static void
some_order(void *context)
{
    const int64_t now = prof_mutex_fraction_set(kernel_prof, -1);

    (void)context;
    sim_explore_check(
        (before[0] == 1 && before[1] == MUTEX_FRACTION && now == 0) ||
            (before[1] == 1 && before[0] == 0 && now == MUTEX_FRACTION),
        "no order of the two calls explains what they returned");
    sim_explore_check(prof_mutex_period(kernel_prof) == MUTEX_FRACTION,
                      "turned off, records are not read by the last fraction");
}

const struct sim_kernel props_kernel_mutex_fraction = {
    .name = "mutex-fraction",
    .about = "of two threads that set the fraction the second gets back the "
             "value that the first set",
    .setup = fraction_of_one,
    .finish = some_order,
    .threads = {{"on", set_fraction, NULL}, {"off", set_fraction, NULL}},
    .threads_count = 2,
};
