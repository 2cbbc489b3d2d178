/*
 * test_model_fault.c -- the oracle on logs of collectors that break a rule, and
 * on accounting schemes known to be wrong: when the heap is unknown, when it is
 * known again, and where the two oracles must contradict each other.
 */
#include <stdarg.h>
#include <stddef.h>
#include "log_builder.h"
#include "unit_test.h"

#define ROOM TRUTH_ROOM_ENOUGH

static void
what_a_missed_flush_left_comes_three_cycles_later(void **state)
{
    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    log_alloc('A'); /* final in cycle 2 */
    log_gc_and_flush();
    log_alloc('B'); /* final in 3 */
    log_gc();       /* cycle 2, not flushed */
    log_alloc('C'); /* final in 4 */
    log_gc_and_flush();
    log_shows("H 1/0 B 1/0", "unknown");
    log_gc_and_flush();
    log_shows("H 1/0 B 1/0 C 1/0", "unknown");
    log_gc();
    log_flush(); /* cycle 5 */
    log_shows("H 1/0 A 1/0 B 1/0 C 1/0", "k=4: H 1/0 A 1/0 B 1/0 C 1/0");
}

static void
a_post_sweep_pays_what_the_next_cycle_owes(void **state)
{
    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    log_alloc('A');
    log_gc_and_flush();
    log_gc(); /* cycle 2, not flushed */
    log_gc_and_flush();
    log_gc_and_flush(); /* cycle 4 */
    log_shows("H 1/0", "unknown");
    log_post_sweep(); /* publishes the data of 5, and so that of 2 */
    log_shows("H 1/0 A 1/0", "k=4: H 1/0 A 1/0");
}

static void
a_flush_missed_twice_costs_six_cycles(void **state)
{
    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    log_alloc('A');
    log_gc_and_flush();
    log_gc(); /* cycle 2 */
    log_gc_and_flush();
    log_gc_and_flush();
    log_gc(); /* cycle 5 */
    log_gc_and_flush();
    log_shows("H 1/0", "unknown");
    log_gc_and_flush();
    log_gc_and_flush(); /* cycle 8 */
    log_shows("H 1/0 A 1/0", "k=7: H 1/0 A 1/0");
}

static void
a_flush_missed_with_nothing_to_publish_breaks_nothing(void **state)
{
    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    log_gc_and_flush();
    log_alloc('A');
    log_gc(); /* cycle 2, not flushed; nothing was allocated since cycle 0 */
    log_gc_and_flush();
    log_shows("H 1/0 A 1/0", "k=2: H 1/0 A 1/0");
    log_alloc('B');
    log_gc_and_flush();
    log_post_sweep();
    log_gc(); /* cycle 5, not flushed: post_sweep has published before */
    log_gc_and_flush();
    log_shows("H 1/0 A 1/0 B 1/0", "k=5: H 1/0 A 1/0 B 1/0");
}

static void
a_free_after_post_sweep_is_missing_until_the_next_collection(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = log_alloc('A');
    b = log_alloc('B');
    log_dead(a);
    log_dead(b);
    log_gc_and_flush();
    log_sweep(a);
    log_post_sweep();
    log_shows("A 1/1 B 1/0", "unknown");
    log_sweep(b);
    log_shows("A 1/1 B 1/0", "unknown");
    log_gc();
    log_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_second_post_sweep_after_the_late_free_heals_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = log_alloc('A');
    log_dead(a);
    log_gc_and_flush();
    log_post_sweep();
    log_sweep(a);
    log_shows("A 1/0", "unknown");
    log_post_sweep();
    log_shows("A 1/1", "k=1: A 1/1");
}

static void
an_object_swept_a_collection_late_is_missing_for_a_cycle(void **state)
{
    uint32_t a;

    (void)state;
    a = log_alloc('A');
    log_dead(a);
    log_gc_and_flush();
    log_gc_and_flush(); /* it should have been swept before this */
    log_shows("A 1/0", "unknown");
    log_sweep(a);
    log_shows("A 1/0", "unknown");
    log_gc_and_flush();
    log_shows("A 1/1", "k=2: A 1/1");
}

static void
stages_turned_after_the_restart_free_too_early(void **state)
{
    uint32_t a;

    (void)state;
    log_alloc('B');
    log_gc();
    log_gc();
    log_shows("B 1/0", "k=1: B 1/0");
    a = log_alloc('A');
    log_dead(a);
    props_log_call(&built_log, TRUTH_TERMINATE);
    log_sweep(a); /* the world runs again already */
    props_log_call(&built_log, TRUTH_NEXT_CYCLE);
    log_shows("B 1/0 A 0/1", "k=2: B 1/0"); /* the oracles disagree */
    log_gc();
    log_shows("B 1/0 A 1/1", "k=3: B 1/0 A 1/1");
}

static void
stages_turned_once_more_instead_of_post_sweep_show_too_much(void **state)
{
    uint32_t g;

    (void)state;
    log_alloc('B');
    log_gc();
    log_alloc('A');
    log_gc();
    g = log_alloc('G');
    props_log_call(&built_log, TRUTH_NEXT_CYCLE); /* in place of post_sweep */
    assert_string_equal(props_log_published(&built_log), "B 1/0 A 1/0");
    log_dead(g);
    log_gc();
    /* The oracles disagree: G was allocated after MT_2. */
    log_shows("B 1/0 A 1/0 G 1/0", "k=2: B 1/0 A 1/0");
}

static void
a_ring_has_post_sweep_and_shows_no_more(void **state)
{
    uint32_t g;

    (void)state;
    log_alloc('B');
    log_gc_and_flush();
    log_alloc('A');
    log_gc_and_flush();
    g = log_alloc('G');
    log_post_sweep();
    log_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
    log_dead(g);
    log_gc();
    log_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
}

static void
an_object_swept_two_collections_late_is_missing_for_two_cycles(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = log_alloc('A');
    b = log_alloc('B');
    log_dead(a);
    log_gc_and_flush();
    log_dead(b);
    log_gc_and_flush();
    log_sweep(b);
    log_gc_and_flush(); /* B was swept in time, A still was not */
    log_shows("A 1/0 B 1/1", "unknown");
    log_sweep(a);
    log_post_sweep();
    log_shows("A 1/1 B 1/1", "k=3: A 1/1 B 1/1");
}

static void
a_first_snapshot_settles_all_debts(void **state)
{
    uint32_t a;

    (void)state;
    a = log_alloc('A');
    log_dead(a);
    log_gc();
    log_gc(); /* cycle 2, not flushed, and A is not swept */
    log_gc();
    log_alloc('B');
    log_sweep(a);
    /* By cycle 3 nothing had been published, so now everything is. */
    log_shows("A 1/1 B 1/0", "k=2: A 1/1 B 1/0");
    assert_true(model_heap_answer(built_log.model).first);
    log_gc_and_flush();
    log_gc_and_flush();
    log_shows("A 1/1 B 1/0", "k=4: A 1/1 B 1/0");
}

static void
a_first_snapshot_shows_no_free_that_is_still_to_come(void **state)
{
    uint32_t a;

    (void)state;
    a = log_alloc('A');
    log_dead(a);
    log_gc();
    log_gc();
    log_gc();
    log_shows("A 1/0", "unknown"); /* MT_1 found A dead */
    assert_true(model_heap_answer(built_log.model).first);
    log_sweep(a);
    log_shows("A 1/0", "unknown");
    log_gc();
    log_shows("A 1/1", "k=3: A 1/1");
}

#define RING(test) cmocka_unit_test_setup_teardown(test, log_of_ring, log_end)
#define STAGES(test) \
    cmocka_unit_test_setup_teardown(test, log_of_stages, log_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        RING(what_a_missed_flush_left_comes_three_cycles_later),
        RING(a_post_sweep_pays_what_the_next_cycle_owes),
        RING(a_flush_missed_twice_costs_six_cycles),
        RING(a_flush_missed_with_nothing_to_publish_breaks_nothing),
        RING(a_free_after_post_sweep_is_missing_until_the_next_collection),
        RING(a_second_post_sweep_after_the_late_free_heals_at_once),
        RING(an_object_swept_a_collection_late_is_missing_for_a_cycle),
        STAGES(an_object_swept_a_collection_late_is_missing_for_a_cycle),
        RING(an_object_swept_two_collections_late_is_missing_for_two_cycles),
        RING(a_first_snapshot_settles_all_debts),
        RING(a_first_snapshot_shows_no_free_that_is_still_to_come),
        STAGES(stages_turned_after_the_restart_free_too_early),
        STAGES(stages_turned_once_more_instead_of_post_sweep_show_too_much),
        RING(a_ring_has_post_sweep_and_shows_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
