/*
 * test_model_fault.c -- the oracle on logs of collectors that break a rule, and
 * on schemes known to be wrong: when the heap is unknown, when it heals, and
 * that the two oracles contradict each other where they should.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "truth_story.h"

#define ROOM TRUTH_ROOM_ENOUGH

static void
what_a_missed_flush_left_comes_three_cycles_later(void **state)
{
    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    story_alloc('A'); /* final in cycle 2 */
    story_gc_and_flush();
    story_alloc('B'); /* final in 3 */
    story_gc();       /* cycle 2, not flushed */
    story_alloc('C'); /* final in 4 */
    story_gc_and_flush();
    story_shows("H 1/0 B 1/0", "unknown");
    story_gc_and_flush();
    story_shows("H 1/0 B 1/0 C 1/0", "unknown");
    story_gc();
    story_flush(); /* cycle 5 */
    story_shows("H 1/0 A 1/0 B 1/0 C 1/0", "k=4: H 1/0 A 1/0 B 1/0 C 1/0");
}

static void
a_post_sweep_pays_what_the_next_cycle_owes(void **state)
{
    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    story_alloc('A');
    story_gc_and_flush();
    story_gc(); /* cycle 2, not flushed */
    story_gc_and_flush();
    story_gc_and_flush(); /* cycle 4 */
    story_shows("H 1/0", "unknown");
    story_post_sweep(); /* publishes the data of 5, and so that of 2 */
    story_shows("H 1/0 A 1/0", "k=4: H 1/0 A 1/0");
}

static void
a_flush_missed_twice_costs_six_cycles(void **state)
{
    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    story_alloc('A');
    story_gc_and_flush();
    story_gc(); /* cycle 2 */
    story_gc_and_flush();
    story_gc_and_flush();
    story_gc(); /* cycle 5 */
    story_gc_and_flush();
    story_shows("H 1/0", "unknown");
    story_gc_and_flush();
    story_gc_and_flush(); /* cycle 8 */
    story_shows("H 1/0 A 1/0", "k=7: H 1/0 A 1/0");
}

static void
a_flush_missed_with_nothing_to_publish_breaks_nothing(void **state)
{
    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    story_gc_and_flush();
    story_alloc('A');
    story_gc(); /* cycle 2, not flushed: nothing was born in cycle 0 since */
    story_gc_and_flush();
    story_shows("H 1/0 A 1/0", "k=2: H 1/0 A 1/0");
    story_alloc('B');
    story_gc_and_flush();
    story_post_sweep();
    story_gc(); /* cycle 5, not flushed: post_sweep did it before */
    story_gc_and_flush();
    story_shows("H 1/0 A 1/0 B 1/0", "k=5: H 1/0 A 1/0 B 1/0");
}

static void
a_free_after_post_sweep_is_missing_until_the_next_collection(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = story_alloc('A');
    b = story_alloc('B');
    story_dead(a);
    story_dead(b);
    story_gc_and_flush();
    story_sweep(a);
    story_post_sweep();
    story_shows("A 1/1 B 1/0", "unknown");
    story_sweep(b);
    story_shows("A 1/1 B 1/0", "unknown");
    story_gc();
    story_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_second_post_sweep_after_the_late_free_heals_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = story_alloc('A');
    story_dead(a);
    story_gc_and_flush();
    story_post_sweep();
    story_sweep(a);
    story_shows("A 1/0", "unknown");
    story_post_sweep();
    story_shows("A 1/1", "k=1: A 1/1");
}

static void
an_object_swept_a_collection_late_is_missing_for_a_cycle(void **state)
{
    uint32_t a;

    (void)state;
    a = story_alloc('A');
    story_dead(a);
    story_gc_and_flush();
    story_gc_and_flush(); /* should have been swept before */
    story_shows("A 1/0", "unknown");
    story_sweep(a);
    story_shows("A 1/0", "unknown");
    story_gc_and_flush();
    story_shows("A 1/1", "k=2: A 1/1");
}

static void
stages_turned_after_the_restart_free_too_early(void **state)
{
    uint32_t a;

    (void)state;
    story_alloc('B');
    story_gc();
    story_gc();
    story_shows("B 1/0", "k=1: B 1/0");
    a = story_alloc('A');
    story_dead(a);
    props_story_call(&story_told, TRUTH_TERMINATE);
    story_sweep(a); /* the world runs already */
    props_story_call(&story_told, TRUTH_NEXT_CYCLE);
    story_shows("B 1/0 A 0/1", "k=2: B 1/0"); /* the oracles disagree */
    story_gc();
    story_shows("B 1/0 A 1/1", "k=3: B 1/0 A 1/1");
}

static void
stages_turned_once_more_instead_of_post_sweep_show_too_much(void **state)
{
    uint32_t g;

    (void)state;
    story_alloc('B');
    story_gc();
    story_alloc('A');
    story_gc();
    g = story_alloc('G');
    props_story_call(&story_told,
                     TRUTH_NEXT_CYCLE); /* as if it were post_sweep */
    assert_string_equal(props_story_published(&story_told), "B 1/0 A 1/0");
    story_dead(g);
    story_gc();
    /* The oracles disagree: G is younger than MT_2. */
    story_shows("B 1/0 A 1/0 G 1/0", "k=2: B 1/0 A 1/0");
}

static void
a_ring_has_post_sweep_and_shows_no_more(void **state)
{
    uint32_t g;

    (void)state;
    story_alloc('B');
    story_gc_and_flush();
    story_alloc('A');
    story_gc_and_flush();
    g = story_alloc('G');
    story_post_sweep();
    story_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
    story_dead(g);
    story_gc();
    story_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
}

static void
an_object_swept_two_collections_late_is_missing_for_two_cycles(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = story_alloc('A');
    b = story_alloc('B');
    story_dead(a);
    story_gc_and_flush();
    story_dead(b);
    story_gc_and_flush();
    story_sweep(b);
    story_gc_and_flush(); /* B was in time, A still is not */
    story_shows("A 1/0 B 1/1", "unknown");
    story_sweep(a);
    story_post_sweep();
    story_shows("A 1/1 B 1/1", "k=3: A 1/1 B 1/1");
}

static void
a_first_snapshot_settles_all_debts(void **state)
{
    uint32_t a;

    (void)state;
    a = story_alloc('A');
    story_dead(a);
    story_gc();
    story_gc(); /* cycle 2, not flushed, and A is not swept */
    story_gc();
    story_alloc('B');
    story_sweep(a);
    /* Nothing was published by cycle 3, so now all is. */
    story_shows("A 1/1 B 1/0", "k=2: A 1/1 B 1/0");
    assert_true(model_heap_answer(story_told.model).first);
    story_gc_and_flush();
    story_gc_and_flush();
    story_shows("A 1/1 B 1/0", "k=4: A 1/1 B 1/0");
}

static void
a_first_snapshot_shows_no_free_that_is_still_to_come(void **state)
{
    uint32_t a;

    (void)state;
    a = story_alloc('A');
    story_dead(a);
    story_gc();
    story_gc();
    story_gc();
    story_shows("A 1/0", "unknown"); /* MT_1 found A dead */
    assert_true(model_heap_answer(story_told.model).first);
    story_sweep(a);
    story_shows("A 1/0", "unknown");
    story_gc();
    story_shows("A 1/1", "k=3: A 1/1");
}

#define RING(test) \
    cmocka_unit_test_setup_teardown(test, story_of_ring, story_end)
#define STAGES(test) \
    cmocka_unit_test_setup_teardown(test, story_of_stages, story_end)

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
