/*
 * test_model_heap.c -- the oracle on logs written by hand; the answers are
 * reasoned from the rules, see "Who is visible when".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "truth_story.h"

#define ROOM TRUTH_ROOM_ENOUGH

static void
free_explicit(uint32_t object)
{
    props_story_object(&story_told, TRUTH_FREE_EXPLICIT, object);
}

static void
a_collection_is_seen_phase_by_phase(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    story_alloc('H'); /* so that the first-snapshot rule is spent */
    story_shows("H 1/0", "k=0: H 1/0");
    a = story_alloc('A');
    b = story_alloc('B');
    story_dead(a);
    story_gc();
    story_shows("H 1/0", "k=0: H 1/0"); /* between MT_1 and flush */
    story_flush();
    story_alloc('C');
    story_shows("H 1/0", "k=0: H 1/0"); /* the sweep is running */
    story_sweep(a);
    story_shows("H 1/0", "k=0: H 1/0"); /* it is done, nobody said so */
    story_post_sweep();
    story_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    story_alloc('D');
    story_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    story_dead(b);
    story_gc();
    story_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    story_flush();
    story_sweep(b);
    story_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    story_gc();
    story_shows("H 1/0 A 1/1 B 1/1 C 1/0 D 1/0",
                "k=2: H 1/0 A 1/1 B 1/1 C 1/0 D 1/0");
}

static void
before_the_first_collection_one_snapshot_shows_all(void **state)
{
    uint32_t a;

    (void)state;
    story_shows("", "k=0: ");
    assert_false(
        model_heap_answer(story_told.model).first); /* it showed nothing */
    a = story_alloc('A');
    free_explicit(a);
    story_alloc('B');
    story_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_true(model_heap_answer(story_told.model).first);
    story_alloc('C');
    story_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_false(model_heap_answer(story_told.model).first);
    story_gc_and_flush();
    story_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    story_gc_and_flush();
    story_shows("A 1/1 B 1/0 C 1/0", "k=1: A 1/1 B 1/0 C 1/0");
}

static void
a_first_snapshot_may_be_torn_and_heals(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = story_alloc('A');
    b = story_alloc('B');
    story_dead(a);
    story_dead(b);
    story_gc();
    story_sweep(a);
    /* The heap of no termination, but all events so far. */
    story_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    story_sweep(b);
    story_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    story_gc();
    story_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_short_first_snapshot_counts_all_and_publishes_nothing(void **state)
{
    struct model_answer answer;

    (void)state;
    story_alloc('A');
    story_alloc('B');
    answer = props_story_snapshot(&story_told, false, 1);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_false(answer.first);
    assert_string_equal(props_story_published(&story_told), "");
    assert_string_equal(props_story_heap(&story_told), "k=0: ");
    story_alloc('C');
    answer = props_story_snapshot(&story_told, false, 3);
    assert_int_equal(answer.count, 3);
    assert_true(answer.fits);
    assert_true(answer.first);
    assert_string_equal(props_story_published(&story_told),
                        "A 1/0 B 1/0 C 1/0");
}

static void
a_sizing_call_may_spend_the_first_snapshot(void **state)
{
    struct model_answer answer;

    (void)state;
    story_told.limits.sizing_consumes_first = true;
    props_story_again(&story_told);
    story_alloc('A');
    story_alloc('B');
    answer = props_story_snapshot(&story_told, false, 0);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_true(answer.first);
    story_alloc('C');
    story_shows("A 1/0 B 1/0", "k=0: A 1/0 B 1/0");
    assert_false(model_heap_answer(story_told.model).first);
}

static void
a_short_snapshot_publishes_its_cycle_all_the_same(void **state)
{
    (void)state;
    story_alloc('A');
    story_gc();
    story_flush();
    story_gc();
    assert_false(props_story_snapshot(&story_told, true, 0).fits);
    assert_string_equal(props_story_published(&story_told), "A 1/0");
    assert_string_equal(props_story_heap(&story_told), "k=1: A 1/0");
    assert_false(model_heap_flushed(story_told.model));
}

static void
post_sweep_leaves_the_data_of_its_own_cycle_to_the_flush(void **state)
{
    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    story_alloc('A');
    story_gc_and_flush();
    story_alloc('B');
    story_gc();
    story_post_sweep();
    assert_string_equal(props_story_published(&story_told), "H 1/0 B 1/0");
    story_flush();
    assert_string_equal(props_story_published(&story_told),
                        "H 1/0 A 1/0 B 1/0");
}

static void
a_second_flush_of_a_cycle_does_nothing(void **state)
{
    (void)state;
    assert_false(model_heap_flushed(story_told.model));
    story_gc_and_flush();
    assert_true(model_heap_flushed(story_told.model));
    story_flush();
    assert_true(model_heap_flushed(story_told.model));
    story_post_sweep();
    assert_true(model_heap_flushed(story_told.model));
    story_gc();
    assert_false(model_heap_flushed(story_told.model));
    story_post_sweep();
    props_story_snapshot(&story_told, true, ROOM);
    assert_false(model_heap_flushed(story_told.model));
    assert_int_equal(model_heap_cycles(story_told.model), 2);
}

/* Stopped-world sweep: the second next_cycle is that of every collection. */
static void
sweep_in_the_stopped_world(uint32_t object)
{
    story_dead(object);
    props_story_tell(&story_told, &(struct truth_entry){.kind = TRUTH_TERMINATE,
                                                        .flag = true});
    story_sweep(object);
    props_story_call(&story_told, TRUTH_NEXT_CYCLE);
    story_flush();
    props_story_call(&story_told, TRUTH_NEXT_CYCLE);
}

static void
a_sweep_in_the_stopped_world_shows_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = story_alloc('A');
    story_alloc('B');
    sweep_in_the_stopped_world(a);
    story_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    story_alloc('C');
    story_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    story_gc_and_flush();
    story_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    story_gc_and_flush();
    story_shows("A 1/1 B 1/0 C 1/0", "k=2: A 1/1 B 1/0 C 1/0");
}

static void
an_explicit_free_comes_with_its_allocation(void **state)
{
    uint32_t a;

    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    a = story_alloc('A');
    free_explicit(a);
    story_gc_and_flush();
    free_explicit(story_alloc('B'));
    story_shows("H 1/0", "k=0: H 1/0");
    story_gc_and_flush();
    story_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    story_post_sweep();
    story_shows("H 1/0 A 1/1 B 1/1", "k=2: H 1/0 A 1/1 B 1/1");
}

static void
explicit_frees_may_have_no_path(void **state)
{
    (void)state;
    story_told.limits.explicit_free_dropped = true;
    props_story_again(&story_told);
    free_explicit(story_alloc('A'));
    story_shows("A 1/0", "k=0: A 1/0");
    story_gc_and_flush();
    story_gc_and_flush();
    story_shows("A 1/0", "k=1: A 1/0");
    assert_int_equal(model_heap_drops(story_told.model).no_free_path, 1);
}

static void
stages_show_what_a_ring_shows_without_post_sweep(void **state)
{
    uint32_t a;

    (void)state;
    story_alloc('H');
    story_shows("H 1/0", "k=0: H 1/0");
    a = story_alloc('A');
    story_dead(a);
    story_gc();
    story_alloc('C');
    story_sweep(a);
    story_post_sweep(); /* nothing to stages */
    story_shows("H 1/0", "k=0: H 1/0");
    story_gc();
    story_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    story_gc();
    story_shows("H 1/0 A 1/1 C 1/0", "k=2: H 1/0 A 1/1 C 1/0");
    sweep_in_the_stopped_world(story_alloc('D'));
    story_shows("H 1/0 A 1/1 C 1/0 D 1/1", "k=4: H 1/0 A 1/1 C 1/0 D 1/1");
}

static void
stages_need_no_flush(void **state)
{
    (void)state;
    story_alloc('A');
    for (uint32_t i = 0; i < 5; i++)
        story_gc();
    assert_string_equal(props_story_published(&story_told), "A 1/0");
    assert_string_equal(props_story_heap(&story_told), "k=4: A 1/0");
}

static void
a_reset_begins_an_empty_run(void **state)
{
    struct model_answer answer;

    (void)state;
    story_told.limits.frames_max = 2 * STORY_DEPTH;
    props_story_again(&story_told);
    story_alloc('A');
    story_gc_and_flush();
    story_post_sweep();
    story_shows("A 1/0", "k=1: A 1/0");
    story_alloc('B');
    story_alloc('C'); /* dropped */
    props_story_again(&story_told);
    assert_int_equal(model_heap_cycles(story_told.model), 0);
    assert_false(model_heap_flushed(story_told.model));
    answer = props_story_snapshot(&story_told, true, ROOM);
    assert_int_equal(answer.count, 0);
    story_alloc('B'); /* all frames the limits give */
    story_alloc('A');
    assert_int_equal(model_heap_drops(story_told.model).no_frames, 0);
    story_alloc('C');
    assert_int_equal(model_heap_drops(story_told.model).no_frames, 1);
    story_shows("B 1/0 A 1/0", "k=0: B 1/0 A 1/0");
}

#define RING(test) \
    cmocka_unit_test_setup_teardown(test, story_of_ring, story_end)
#define STAGES(test) \
    cmocka_unit_test_setup_teardown(test, story_of_stages, story_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        RING(a_collection_is_seen_phase_by_phase),
        RING(before_the_first_collection_one_snapshot_shows_all),
        RING(a_first_snapshot_may_be_torn_and_heals),
        STAGES(a_first_snapshot_may_be_torn_and_heals),
        RING(a_short_first_snapshot_counts_all_and_publishes_nothing),
        STAGES(a_short_first_snapshot_counts_all_and_publishes_nothing),
        RING(a_sizing_call_may_spend_the_first_snapshot),
        STAGES(a_sizing_call_may_spend_the_first_snapshot),
        RING(a_short_snapshot_publishes_its_cycle_all_the_same),
        RING(post_sweep_leaves_the_data_of_its_own_cycle_to_the_flush),
        RING(a_second_flush_of_a_cycle_does_nothing),
        RING(a_sweep_in_the_stopped_world_shows_at_once),
        STAGES(a_sweep_in_the_stopped_world_shows_at_once),
        RING(an_explicit_free_comes_with_its_allocation),
        RING(explicit_frees_may_have_no_path),
        STAGES(explicit_frees_may_have_no_path),
        STAGES(stages_show_what_a_ring_shows_without_post_sweep),
        STAGES(stages_need_no_flush),
        RING(a_reset_begins_an_empty_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
