/*
 * test_prof_race.c -- what other threads may do in the middle of a reading,
 * done by one thread at a chosen point.
 *
 * heap.c and contention.c are compiled into this file with two of the calls
 * they make led through a hook, which acts as the other thread. So an
 * interleaving is a line of the test and not a matter of luck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "instance.h"
#include "test_prof_make.h"

/* The other thread, and how many hooked calls it waits for. */
static void (*other_thread)(void);
static uint32_t calls_before;

static void
step(void)
{
    void (*const act)(void) = other_thread;

    if (act == NULL || calls_before-- > 0)
        return;
    other_thread = NULL;
    act();
}

static uint64_t
hooked_swap(shared_u64 *shared, uint64_t value)
{
    const uint64_t old = swap_acquire(shared, value);

    step();
    return old;
}

static const struct entry *
hooked_entry(const struct table *table, uint32_t row)
{
    step();
    return prof_table_entry(table, row);
}

#undef swap_acquire
#define swap_acquire     hooked_swap
#define prof_table_entry hooked_entry
#include "heap.c"
#include "contention.c"
#undef prof_table_entry

#define ROOM 8U

static struct prof *prof;

static struct prof *
ruled(const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = ROOM};

    return props_prof_make(&config);
}

static prof_bucket
alloc(uintptr_t frame)
{
    return prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, 8);
}

static void
an_object_is_born_and_freed(void)
{
    prof_heap_free_explicit(prof_proc_at(prof, 0), alloc(1));
}

static void
a_first_snapshot_shows_no_free_before_its_allocation(void **state)
{
    static const struct prof_rules *const sets[] = {&prof_rules_exact,
                                                    &prof_rules_go1_5};

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (uint32_t calls = 0; calls < 8; calls++) {
            struct prof_heap_record record;
            size_t count = 0;

            prof = ruled(sets[i]);
            an_object_is_born_and_freed();
            (void)alloc(1);
            other_thread = an_object_is_born_and_freed;
            calls_before = calls;
            assert_int_equal(
                prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count),
                PROF_OK);
            if (record.frees >= record.allocs)
                fail_msg("%s, call %u: %u allocs, %u frees", sets[i]->name,
                         calls, (unsigned)record.allocs,
                         (unsigned)record.frees);
            other_thread = NULL;
            props_prof_drop(prof);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_snapshot_shows_no_free_before_its_allocation),
    };

    return cmocka_run_group_tests_name("prof race", tests, NULL, NULL);
}
