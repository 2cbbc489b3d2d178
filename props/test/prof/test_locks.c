/*
 * test_locks.c -- what a lock guards is read only while the lock is held. The
 * linker redirects taking and releasing a lock to this file. Just before the
 * lock is granted, or just after it was released, a whole call of "another
 * thread" is made here. So code that reads the data before it has the lock, or
 * after it has released it, finds the data changed.
 */
#include <stdalign.h>
#include <string.h>

#include "pprof_case.h"
#include "prof/cpu.h"
#include "prof/port.h"
#include "prof/registry.h"
#include "unit_test.h"

void __real_prof_port_lock_take(struct prof_port_lock *lock);
void __wrap_prof_port_lock_take(struct prof_port_lock *lock);
void __real_prof_port_lock_release(struct prof_port_lock *lock);
void __wrap_prof_port_lock_release(struct prof_port_lock *lock);
void __real_prof_cpu_count(struct prof_cpu *profile, const uintptr_t *stack,
                           size_t depth, const struct prof_label_set *labels,
                           uint64_t ticks);
void __wrap_prof_cpu_count(struct prof_cpu *profile, const uintptr_t *stack,
                           size_t depth, const struct prof_label_set *labels,
                           uint64_t ticks);
void __real_prof_cpu_count_lost(struct prof_cpu *profile, uint64_t ticks);
void __wrap_prof_cpu_count_lost(struct prof_cpu *profile, uint64_t ticks);

static bool held;
static uint32_t takes;
static void (*before)(void); /* called by the next take only */
static void (*after)(void);  /* called by the next release only */

static void
run_once(void (**call)(void))
{
    void (*const chosen)(void) = *call;

    *call = NULL;
    if (chosen != NULL)
        chosen();
}

void
__wrap_prof_port_lock_take(struct prof_port_lock *lock)
{
    assert_false(held);
    run_once(&before);
    __real_prof_port_lock_take(lock);
    held = true;
    takes++;
}

void
__wrap_prof_port_lock_release(struct prof_port_lock *lock)
{
    assert_true(held);
    held = false;
    __real_prof_port_lock_release(lock);
    run_once(&after);
}

static struct case_run run;
static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 16];

static int
nobody_else(void **state)
{
    (void)state;
    memset(block, 0, sizeof block);
    held = false;
    takes = 0;
    before = after = NULL;
    return 0;
}

/* ---- CPU profile ---- */

enum { TICKS_MAX = 8 };

static struct prof_cpu *cpu;
static uint64_t seen_ticks;

static void
a_cpu_profile(void)
{
    const struct prof_cpu_config config = {
        .ticks_max = TICKS_MAX, .stacks_max = 8, .depth_max = 2};

    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
}

static void
start(void)
{
    assert_int_equal(prof_cpu_start(cpu, PROF_CPU_HZ), PROF_OK);
}

static void
tick(void)
{
    static const uintptr_t stack[] = {CASE_WORK, CASE_MAIN};

    prof_cpu_tick(cpu, stack, 2, NULL);
}

static void
look(void)
{
    seen_ticks = prof_cpu_totals(cpu).recorded;
}

static bool ticks_meanwhile; /* each count causes a tick */
static uint32_t counted;

void
__wrap_prof_cpu_count(struct prof_cpu *profile, const uintptr_t *stack,
                      size_t depth, const struct prof_label_set *labels,
                      uint64_t ticks)
{
    __real_prof_cpu_count(profile, stack, depth, labels, ticks);
    counted++;
    if (ticks_meanwhile && counted < 4 * TICKS_MAX)
        tick();
}

void
__wrap_prof_cpu_count_lost(struct prof_cpu *profile, uint64_t ticks)
{
    __real_prof_cpu_count_lost(profile, ticks);
    if (ticks_meanwhile)
        tick();
}

/* Ticks that arrive during a drain stay in the ring until the next drain. */
TEST_WITH(nobody_else, NULL, a_drain_takes_as_many_ticks_as_the_ring_holds)
{
    a_cpu_profile();
    start();
    for (uint32_t i = 0; i < TICKS_MAX; i++)
        tick();
    counted = 0;
    ticks_meanwhile = true;
    prof_cpu_drain(cpu);
    ticks_meanwhile = false;
    assert_int_equal(counted, TICKS_MAX);
}

/* A handler that runs after a stop has emptied the ring finds the profile
 * ended. */
TEST_WITH(nobody_else, NULL, after_a_stop_no_tick_is_left_in_the_ring)
{
    a_cpu_profile();
    start();
    for (uint32_t i = 0; i <= TICKS_MAX; i++)
        tick(); /* the ring is full: the last tick is lost */
    ticks_meanwhile = true;
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    ticks_meanwhile = false;
    look();
    assert_int_equal(seen_ticks, TICKS_MAX);
    prof_cpu_drain(cpu);
    look();
    assert_int_equal(seen_ticks, TICKS_MAX);
}

TEST_WITH(nobody_else, NULL, each_control_call_of_a_cpu_profile_locks_once)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 2, CASE_WORK};

    a_cpu_profile();
    start();
    assert_int_equal(takes, 1);
    tick();
    assert_int_equal(takes, 1); /* a handler never takes it */
    prof_cpu_drain(cpu);
    assert_int_equal(takes, 2);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(takes, 3);
    look();
    assert_int_equal(takes, 4);
    case_begin(&run);
    assert_int_equal(prof_cpu_write(cpu, &run.output, 1), PROF_OK);
    assert_int_equal(takes, 5);
    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    assert_int_equal(takes, 6);
    assert_false(held);
}

TEST_WITH(nobody_else, NULL, a_ring_is_drained_under_the_lock)
{
    a_cpu_profile();
    start();
    tick();
    seen_ticks = 9;
    before = look;
    prof_cpu_drain(cpu);
    assert_int_equal(seen_ticks, 0); /* not drained before the lock is taken */
    tick();
    after = look;
    prof_cpu_drain(cpu);
    assert_int_equal(seen_ticks, 2); /* not drained after it is released */
}

TEST_WITH(nobody_else, NULL, of_two_that_start_one_is_refused)
{
    a_cpu_profile();
    before = start;
    assert_int_equal(prof_cpu_start(cpu, PROF_CPU_HZ), PROF_ERR_ACTIVE);
}

static void
stop(void)
{
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

static enum prof_status
write_proto(void)
{
    return prof_cpu_write(cpu, &run.output, 1);
}

static enum prof_status
write_text(void)
{
    return prof_cpu_write_text(cpu, &run.output);
}

static enum prof_status
load(void)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 2, CASE_WORK};

    return prof_cpu_load(cpu, words, 7, NULL, 0);
}

/* These calls are refused while a profile is taken. Whether it is must be read
 * under the lock. */
TEST_WITH(nobody_else, NULL, what_is_active_is_asked_under_the_lock)
{
    enum prof_status (*const calls[])(void) = {write_proto, write_text, load};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        nobody_else(state);
        a_cpu_profile();
        case_begin(&run);
        before = start;
        assert_int_equal(calls[i](), PROF_ERR_ACTIVE);
        before = stop;
        assert_int_equal(calls[i](), PROF_OK);
    }
}

TEST_WITH(nobody_else, NULL, a_profile_runs_until_its_stop_has_the_lock)
{
    a_cpu_profile();
    start();
    before = tick;
    after = look;
    seen_ticks = 9;
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(seen_ticks, 1);
}

/* ---- registry ---- */

static struct prof_registry *registry;
static struct prof_profile *own;
static unsigned char other_key;

static void
a_registry(void)
{
    const struct prof_registry_config config = {
        .profiles_max = 2, .entries_max = 2, .depth_max = 1};

    assert_int_equal(
        prof_registry_init(&registry, &config, block, sizeof block), PROF_OK);
    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    takes = 0;
}

static void
add(unsigned char key)
{
    assert_int_equal(prof_profile_add(own, &key, 1, &(uintptr_t){CASE_WORK}, 1),
                     PROF_OK);
}

TEST_WITH(nobody_else, NULL, each_call_of_a_registry_locks_once)
{
    struct prof_profile *profiles[8];
    size_t count;

    a_registry();
    assert_ptr_equal(prof_registry_find(registry, "own"), own);
    assert_int_equal(takes, 1);
    assert_int_equal(prof_registry_list(registry, profiles, 8, &count),
                     PROF_OK);
    assert_int_equal(takes, 2);
    add(1);
    assert_int_equal(takes, 3);
    assert_int_equal(prof_profile_count(own, &count), PROF_OK);
    assert_int_equal(takes, 4);
    case_begin(&run);
    assert_int_equal(prof_profile_write(own, &run.output, 0), PROF_OK);
    assert_int_equal(takes, 5);
    /* The lock is taken even without scratch for what would be read under
     * it. */
    case_begin(&run);
    run.output.scratch_bytes = 0;
    assert_int_equal(prof_profile_write(own, &run.output, 0), PROF_ERR_MEMORY);
    assert_int_equal(takes, 6);
    assert_int_equal(prof_profile_remove(own, "\1", 1), PROF_OK);
    assert_int_equal(takes, 7);
    assert_int_equal(prof_registry_new(registry, "more", &own), PROF_OK);
    assert_int_equal(takes, 8);
    assert_false(held);
}

static void
make_late(void)
{
    struct prof_profile *late;

    assert_int_equal(prof_registry_new(registry, "late", &late), PROF_OK);
}

TEST_WITH(nobody_else, NULL,
          a_profile_is_found_if_it_is_there_once_the_lock_is_ours)
{
    a_registry();
    after = make_late;
    assert_null(prof_registry_find(registry, "late"));
    nobody_else(state);
    a_registry();
    before = make_late;
    assert_non_null(prof_registry_find(registry, "late"));
}

static void
replace(void)
{
    assert_int_equal(prof_profile_remove(own, "\1", 1), PROF_OK);
    add(other_key);
}

/* Another thread replaces our entry. Its key must be found in place of ours, in
 * whichever of the four chains it is. */
TEST_WITH(nobody_else, NULL, an_entry_is_looked_for_under_the_lock)
{
    for (other_key = 2; other_key < 32; other_key++) {
        size_t count;

        nobody_else(state);
        a_registry();
        add(1);
        before = replace;
        assert_int_equal(prof_profile_remove(own, "\1", 1), PROF_OK);
        assert_int_equal(prof_profile_count(own, &count), PROF_OK);
        assert_int_equal(count, 1);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
