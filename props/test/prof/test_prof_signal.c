/*
 * test_prof_signal.c -- a signal handler counts in the same word as the record
 * call that it interrupts, at any instruction (props/test/lib/single_step.h);
 * also when the count passes 2^32.
 */
#include "instance.h"
#include "single_step.h"
#include "test_prof_make.h"
#include "unit_test.h"

#define STEPS_MAX 100000U
#define EACH_STEP 0U
#define TWO_TO_32 (UINT64_C(1) << 32)

static struct prof *prof;
static prof_bucket bucket;

/* ---- the calls ---- */

static void
alloc(void)
{
    const uintptr_t frame = 0x401000;

    bucket = prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, 8);
}

static void
free_swept(void)
{
    prof_heap_free(prof_proc_at(prof, 0), bucket);
}

static void
free_explicit(void)
{
    prof_heap_free_explicit(prof_proc_at(prof, 0), bucket);
}

static void
wait(void)
{
    const uintptr_t frame = 0x401000;

    prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, &frame, 1, 5);
}

/* All that was counted so far. */
struct tally {
    uint64_t allocs;
    uint64_t frees;
    uint64_t waits;
    uint64_t wait_cycles;
};

static struct tally
tally(void)
{
    const struct prof_heap_totals totals = prof_heap_totals(prof);
    struct prof_contention_record record = {0};
    size_t count = 0;

    assert_int_equal(
        prof_contention_snapshot(prof, PROF_BLOCK, &record, 1, &count),
        PROF_OK);
    return (struct tally){
        .allocs = totals.allocs_published + totals.allocs_pending,
        .frees = totals.frees_published + totals.frees_pending,
        .waits = record.count,
        .wait_cycles = record.cycles,
    };
}

static const struct {
    const char *why;
    void (*call)(void);
    void (*handler)(void);
    struct tally of_call;
    struct tally of_handler;
} cases[] = {
    {"a free in a free", free_swept, free_swept, {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"a swept object's free in another",
     free_explicit,
     free_swept,
     {0, 1, 0, 0},
     {0, 1, 0, 0}},
    {"an allocation in another one", alloc, alloc, {1, 0, 0, 0}, {1, 0, 0, 0}},
    {"a free in an allocation",
     alloc,
     free_explicit,
     {1, 0, 0, 0},
     {0, 1, 0, 0}},
    {"an allocation in a free",
     free_explicit,
     alloc,
     {0, 1, 0, 0},
     {1, 0, 0, 0}},
    {"a wait in a wait", wait, wait, {0, 0, 1, 5}, {0, 0, 1, 5}},
};

enum { CASES = sizeof cases / sizeof *cases, FREES_IN_FREES = 2 };

/*
 * Make call number i. Interrupt it after instruction `at`, or after each if 0.
 *
 * returns: instructions that were stepped
 */
static uint32_t
strike(uint32_t i, uint32_t at)
{
    const struct tally *of_call = &cases[i].of_call;
    const struct tally *of_handler = &cases[i].of_handler;
    const struct tally before = tally();
    struct tally after;
    uint64_t strikes;
    uint32_t steps;

    props_step_begin(cases[i].handler, at);
    cases[i].call();
    steps = props_step_end();
    after = tally();
    strikes = at == EACH_STEP ? steps : steps >= at;
    if (after.allocs - before.allocs !=
            of_call->allocs + strikes * of_handler->allocs ||
        after.frees - before.frees !=
            of_call->frees + strikes * of_handler->frees ||
        after.waits - before.waits !=
            of_call->waits + strikes * of_handler->waits ||
        after.wait_cycles - before.wait_cycles !=
            of_call->wait_cycles + strikes * of_handler->wait_cycles)
        fail_msg("%s: one is lost in %u instructions", cases[i].why,
                 (unsigned)steps);
    return steps;
}

/* Make one bucket of each kind, so that no call needs a new one. */
static void
begin(void)
{
    prof = props_prof_make(&(struct prof_config){.buckets_max = 4});
    alloc();
    wait();
}

TEST(a_handler_that_strikes_anywhere_loses_no_event)
{
    if (!PROPS_STEPS)
        skip();
    for (uint32_t i = 0; i < CASES; i++) {
        begin();
        assert_in_range(strike(i, EACH_STEP), 10, STEPS_MAX);
        props_prof_drop(prof);
    }
}

/* Fill the lower halves of both counts, so that the next event carries. */
static void
fill_lower_halves(void)
{
    for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++) {
        store_relaxed(&prof->procs[0].columns.slots[slot][bucket], UINT64_MAX);
        store_relaxed(&prof->counters.carried[slot][2 * bucket], 0);
        store_relaxed(&prof->counters.carried[slot][2 * bucket + 1], 0);
    }
    store_relaxed(&prof->counters.carries, 0);
}

TEST(a_handler_that_strikes_anywhere_loses_no_carry)
{
    if (!PROPS_STEPS)
        skip();
    for (uint32_t i = 0; i < FREES_IN_FREES; i++) {
        uint32_t at = 0;
        uint32_t steps;

        begin();
        do {
            fill_lower_halves();
            steps = strike(i, ++at);
            /* All three slots began with full lower halves: the sum exceeds
             * theirs only if the carry was made. */
            assert_true(tally().frees > 3 * (TWO_TO_32 - 1));
        } while (steps >= at && at < STEPS_MAX);
        assert_in_range(at, 10, STEPS_MAX - 1);
        props_prof_drop(prof);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
