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

static struct story story;

static int
a_ring(void **state)
{
    (void)state;
    props_story_begin(&story, MODEL_RING);
    return 0;
}

static int
two_stages(void **state)
{
    (void)state;
    props_story_begin(&story, MODEL_STAGES);
    return 0;
}

static int
the_end(void **state)
{
    (void)state;
    props_story_end(&story);
    return 0;
}

static uint32_t
alloc(char stack)
{
    return props_story_alloc(&story, stack, 8);
}

static void
dead(uint32_t object)
{
    props_story_object(&story, TRUTH_DEAD, object);
}

static void
sweep(uint32_t object)
{
    props_story_object(&story, TRUTH_SWEEP, object);
}

static void
flush(void)
{
    props_story_call(&story, TRUTH_FLUSH);
}

static void
post_sweep(void)
{
    props_story_call(&story, TRUTH_POST_SWEEP);
}

static void
gc(void)
{
    props_story_gc(&story);
}

/* A whole background collection in which nothing dies. */
static void
gc_and_flush(void)
{
    gc();
    flush();
}

/* What a snapshot taken now shows, and what the heap oracle says of it. */
static void
snapshot_shows(const char *published, const char *heap)
{
    props_story_snapshot(&story, true, ROOM);
    assert_string_equal(props_story_published(&story), published);
    assert_string_equal(props_story_heap(&story), heap);
}

static void
what_a_missed_flush_left_comes_three_cycles_later(void **state)
{
    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    alloc('A'); /* final in cycle 2 */
    gc_and_flush();
    alloc('B'); /* final in 3 */
    gc();       /* cycle 2, not flushed */
    alloc('C'); /* final in 4 */
    gc_and_flush();
    snapshot_shows("H 1/0 B 1/0", "unknown");
    gc_and_flush();
    snapshot_shows("H 1/0 B 1/0 C 1/0", "unknown");
    gc();
    flush(); /* cycle 5 */
    snapshot_shows("H 1/0 A 1/0 B 1/0 C 1/0", "k=4: H 1/0 A 1/0 B 1/0 C 1/0");
}

static void
a_post_sweep_pays_what_the_next_cycle_owes(void **state)
{
    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    alloc('A');
    gc_and_flush();
    gc(); /* cycle 2, not flushed */
    gc_and_flush();
    gc_and_flush(); /* cycle 4 */
    snapshot_shows("H 1/0", "unknown");
    post_sweep(); /* publishes the data of 5, and so that of 2 */
    snapshot_shows("H 1/0 A 1/0", "k=4: H 1/0 A 1/0");
}

static void
a_flush_missed_twice_costs_six_cycles(void **state)
{
    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    alloc('A');
    gc_and_flush();
    gc(); /* cycle 2 */
    gc_and_flush();
    gc_and_flush();
    gc(); /* cycle 5 */
    gc_and_flush();
    snapshot_shows("H 1/0", "unknown");
    gc_and_flush();
    gc_and_flush(); /* cycle 8 */
    snapshot_shows("H 1/0 A 1/0", "k=7: H 1/0 A 1/0");
}

static void
a_flush_missed_with_nothing_to_publish_breaks_nothing(void **state)
{
    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    gc_and_flush();
    alloc('A');
    gc(); /* cycle 2, not flushed: nothing was born in cycle 0 since */
    gc_and_flush();
    snapshot_shows("H 1/0 A 1/0", "k=2: H 1/0 A 1/0");
    alloc('B');
    gc_and_flush();
    post_sweep();
    gc(); /* cycle 5, not flushed: post_sweep did it before */
    gc_and_flush();
    snapshot_shows("H 1/0 A 1/0 B 1/0", "k=5: H 1/0 A 1/0 B 1/0");
}

static void
a_free_after_post_sweep_is_missing_until_the_next_collection(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = alloc('A');
    b = alloc('B');
    dead(a);
    dead(b);
    gc_and_flush();
    sweep(a);
    post_sweep();
    snapshot_shows("A 1/1 B 1/0", "unknown");
    sweep(b);
    snapshot_shows("A 1/1 B 1/0", "unknown");
    gc();
    snapshot_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_second_post_sweep_after_the_late_free_heals_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = alloc('A');
    dead(a);
    gc_and_flush();
    post_sweep();
    sweep(a);
    snapshot_shows("A 1/0", "unknown");
    post_sweep();
    snapshot_shows("A 1/1", "k=1: A 1/1");
}

static void
an_object_swept_a_collection_late_is_missing_for_a_cycle(void **state)
{
    uint32_t a;

    (void)state;
    a = alloc('A');
    dead(a);
    gc_and_flush();
    gc_and_flush(); /* should have been swept before */
    snapshot_shows("A 1/0", "unknown");
    sweep(a);
    snapshot_shows("A 1/0", "unknown");
    gc_and_flush();
    snapshot_shows("A 1/1", "k=2: A 1/1");
}

static void
stages_turned_after_the_restart_free_too_early(void **state)
{
    uint32_t a;

    (void)state;
    alloc('B');
    gc();
    gc();
    snapshot_shows("B 1/0", "k=1: B 1/0");
    a = alloc('A');
    dead(a);
    props_story_call(&story, TRUTH_TERMINATE);
    sweep(a); /* the world runs already */
    props_story_call(&story, TRUTH_NEXT_CYCLE);
    snapshot_shows("B 1/0 A 0/1", "k=2: B 1/0"); /* the oracles disagree */
    gc();
    snapshot_shows("B 1/0 A 1/1", "k=3: B 1/0 A 1/1");
}

static void
stages_turned_once_more_instead_of_post_sweep_show_too_much(void **state)
{
    uint32_t g;

    (void)state;
    alloc('B');
    gc();
    alloc('A');
    gc();
    g = alloc('G');
    props_story_call(&story, TRUTH_NEXT_CYCLE); /* as if it were post_sweep */
    assert_string_equal(props_story_published(&story), "B 1/0 A 1/0");
    dead(g);
    gc();
    /* The oracles disagree: G is younger than MT_2. */
    snapshot_shows("B 1/0 A 1/0 G 1/0", "k=2: B 1/0 A 1/0");
}

static void
a_ring_has_post_sweep_and_shows_no_more(void **state)
{
    uint32_t g;

    (void)state;
    alloc('B');
    gc_and_flush();
    alloc('A');
    gc_and_flush();
    g = alloc('G');
    post_sweep();
    snapshot_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
    dead(g);
    gc();
    snapshot_shows("B 1/0 A 1/0", "k=2: B 1/0 A 1/0");
}

static void
an_object_swept_two_collections_late_is_missing_for_two_cycles(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = alloc('A');
    b = alloc('B');
    dead(a);
    gc_and_flush();
    dead(b);
    gc_and_flush();
    sweep(b);
    gc_and_flush(); /* B was in time, A still is not */
    snapshot_shows("A 1/0 B 1/1", "unknown");
    sweep(a);
    post_sweep();
    snapshot_shows("A 1/1 B 1/1", "k=3: A 1/1 B 1/1");
}

static void
a_first_snapshot_settles_all_debts(void **state)
{
    uint32_t a;

    (void)state;
    a = alloc('A');
    dead(a);
    gc();
    gc(); /* cycle 2, not flushed, and A is not swept */
    gc();
    alloc('B');
    sweep(a);
    /* Nothing was published by cycle 3, so now all is. */
    snapshot_shows("A 1/1 B 1/0", "k=2: A 1/1 B 1/0");
    assert_true(model_heap_answer(story.model).first);
    gc_and_flush();
    gc_and_flush();
    snapshot_shows("A 1/1 B 1/0", "k=4: A 1/1 B 1/0");
}

static void
a_first_snapshot_shows_no_free_that_is_still_to_come(void **state)
{
    uint32_t a;

    (void)state;
    a = alloc('A');
    dead(a);
    gc();
    gc();
    gc();
    snapshot_shows("A 1/0", "unknown"); /* MT_1 found A dead */
    assert_true(model_heap_answer(story.model).first);
    sweep(a);
    snapshot_shows("A 1/0", "unknown");
    gc();
    snapshot_shows("A 1/1", "k=3: A 1/1");
}

#define RING(test)   cmocka_unit_test_setup_teardown(test, a_ring, the_end)
#define STAGES(test) cmocka_unit_test_setup_teardown(test, two_stages, the_end)

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
