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
free_explicit(uint32_t object)
{
    props_story_object(&story, TRUTH_FREE_EXPLICIT, object);
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
a_collection_is_seen_phase_by_phase(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    alloc('H'); /* so that the first-snapshot rule is spent */
    snapshot_shows("H 1/0", "k=0: H 1/0");
    a = alloc('A');
    b = alloc('B');
    dead(a);
    gc();
    snapshot_shows("H 1/0", "k=0: H 1/0"); /* between MT_1 and flush */
    flush();
    alloc('C');
    snapshot_shows("H 1/0", "k=0: H 1/0"); /* the sweep is running */
    sweep(a);
    snapshot_shows("H 1/0", "k=0: H 1/0"); /* it is done, nobody said so */
    post_sweep();
    snapshot_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    alloc('D');
    snapshot_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    dead(b);
    gc();
    snapshot_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    flush();
    sweep(b);
    snapshot_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    gc();
    snapshot_shows("H 1/0 A 1/1 B 1/1 C 1/0 D 1/0",
                   "k=2: H 1/0 A 1/1 B 1/1 C 1/0 D 1/0");
}

static void
before_the_first_collection_one_snapshot_shows_all(void **state)
{
    uint32_t a;

    (void)state;
    snapshot_shows("", "k=0: ");
    assert_false(model_heap_answer(story.model).first); /* it showed nothing */
    a = alloc('A');
    free_explicit(a);
    alloc('B');
    snapshot_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_true(model_heap_answer(story.model).first);
    alloc('C');
    snapshot_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_false(model_heap_answer(story.model).first);
    gc_and_flush();
    snapshot_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    gc_and_flush();
    snapshot_shows("A 1/1 B 1/0 C 1/0", "k=1: A 1/1 B 1/0 C 1/0");
}

static void
a_first_snapshot_may_be_torn_and_heals(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = alloc('A');
    b = alloc('B');
    dead(a);
    dead(b);
    gc();
    sweep(a);
    /* The heap of no termination, but all events so far. */
    snapshot_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    sweep(b);
    snapshot_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    gc();
    snapshot_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_short_first_snapshot_counts_all_and_publishes_nothing(void **state)
{
    struct model_answer answer;

    (void)state;
    alloc('A');
    alloc('B');
    answer = props_story_snapshot(&story, false, 1);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_false(answer.first);
    assert_string_equal(props_story_published(&story), "");
    assert_string_equal(props_story_heap(&story), "k=0: ");
    alloc('C');
    answer = props_story_snapshot(&story, false, 3);
    assert_int_equal(answer.count, 3);
    assert_true(answer.fits);
    assert_true(answer.first);
    assert_string_equal(props_story_published(&story), "A 1/0 B 1/0 C 1/0");
}

static void
a_sizing_call_may_spend_the_first_snapshot(void **state)
{
    struct model_answer answer;

    (void)state;
    story.limits.sizing_consumes_first = true;
    props_story_again(&story);
    alloc('A');
    alloc('B');
    answer = props_story_snapshot(&story, false, 0);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_true(answer.first);
    alloc('C');
    snapshot_shows("A 1/0 B 1/0", "k=0: A 1/0 B 1/0");
    assert_false(model_heap_answer(story.model).first);
}

static void
a_short_snapshot_publishes_its_cycle_all_the_same(void **state)
{
    (void)state;
    alloc('A');
    gc();
    flush();
    gc();
    assert_false(props_story_snapshot(&story, true, 0).fits);
    assert_string_equal(props_story_published(&story), "A 1/0");
    assert_string_equal(props_story_heap(&story), "k=1: A 1/0");
    assert_false(model_heap_flushed(story.model));
}

static void
post_sweep_leaves_the_data_of_its_own_cycle_to_the_flush(void **state)
{
    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    alloc('A');
    gc_and_flush();
    alloc('B');
    gc();
    post_sweep();
    assert_string_equal(props_story_published(&story), "H 1/0 B 1/0");
    flush();
    assert_string_equal(props_story_published(&story), "H 1/0 A 1/0 B 1/0");
}

static void
a_second_flush_of_a_cycle_does_nothing(void **state)
{
    (void)state;
    assert_false(model_heap_flushed(story.model));
    gc_and_flush();
    assert_true(model_heap_flushed(story.model));
    flush();
    assert_true(model_heap_flushed(story.model));
    post_sweep();
    assert_true(model_heap_flushed(story.model));
    gc();
    assert_false(model_heap_flushed(story.model));
    post_sweep();
    props_story_snapshot(&story, true, ROOM);
    assert_false(model_heap_flushed(story.model));
    assert_int_equal(model_heap_cycles(story.model), 2);
}

/* Stopped-world sweep: the second next_cycle is that of every collection. */
static void
sweep_in_the_stopped_world(uint32_t object)
{
    dead(object);
    props_story_tell(
        &story, &(struct truth_entry){.kind = TRUTH_TERMINATE, .flag = true});
    sweep(object);
    props_story_call(&story, TRUTH_NEXT_CYCLE);
    flush();
    props_story_call(&story, TRUTH_NEXT_CYCLE);
}

static void
a_sweep_in_the_stopped_world_shows_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = alloc('A');
    alloc('B');
    sweep_in_the_stopped_world(a);
    snapshot_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    alloc('C');
    snapshot_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    gc_and_flush();
    snapshot_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    gc_and_flush();
    snapshot_shows("A 1/1 B 1/0 C 1/0", "k=2: A 1/1 B 1/0 C 1/0");
}

static void
an_explicit_free_comes_with_its_allocation(void **state)
{
    uint32_t a;

    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    a = alloc('A');
    free_explicit(a);
    gc_and_flush();
    free_explicit(alloc('B'));
    snapshot_shows("H 1/0", "k=0: H 1/0");
    gc_and_flush();
    snapshot_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    post_sweep();
    snapshot_shows("H 1/0 A 1/1 B 1/1", "k=2: H 1/0 A 1/1 B 1/1");
}

static void
explicit_frees_may_have_no_path(void **state)
{
    (void)state;
    story.limits.explicit_free_dropped = true;
    props_story_again(&story);
    free_explicit(alloc('A'));
    snapshot_shows("A 1/0", "k=0: A 1/0");
    gc_and_flush();
    gc_and_flush();
    snapshot_shows("A 1/0", "k=1: A 1/0");
    assert_int_equal(model_heap_drops(story.model).no_free_path, 1);
}

static void
stages_show_what_a_ring_shows_without_post_sweep(void **state)
{
    uint32_t a;

    (void)state;
    alloc('H');
    snapshot_shows("H 1/0", "k=0: H 1/0");
    a = alloc('A');
    dead(a);
    gc();
    alloc('C');
    sweep(a);
    post_sweep(); /* nothing to stages */
    snapshot_shows("H 1/0", "k=0: H 1/0");
    gc();
    snapshot_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    gc();
    snapshot_shows("H 1/0 A 1/1 C 1/0", "k=2: H 1/0 A 1/1 C 1/0");
    sweep_in_the_stopped_world(alloc('D'));
    snapshot_shows("H 1/0 A 1/1 C 1/0 D 1/1", "k=4: H 1/0 A 1/1 C 1/0 D 1/1");
}

static void
stages_need_no_flush(void **state)
{
    (void)state;
    alloc('A');
    for (uint32_t i = 0; i < 5; i++)
        gc();
    assert_string_equal(props_story_published(&story), "A 1/0");
    assert_string_equal(props_story_heap(&story), "k=4: A 1/0");
}

static void
a_reset_begins_an_empty_run(void **state)
{
    struct model_answer answer;

    (void)state;
    story.limits.frames_max = 2 * STORY_DEPTH;
    props_story_again(&story);
    alloc('A');
    gc_and_flush();
    post_sweep();
    snapshot_shows("A 1/0", "k=1: A 1/0");
    alloc('B');
    alloc('C'); /* dropped */
    props_story_again(&story);
    assert_int_equal(model_heap_cycles(story.model), 0);
    assert_false(model_heap_flushed(story.model));
    answer = props_story_snapshot(&story, true, ROOM);
    assert_int_equal(answer.count, 0);
    alloc('B'); /* all frames the limits give */
    alloc('A');
    assert_int_equal(model_heap_drops(story.model).no_frames, 0);
    alloc('C');
    assert_int_equal(model_heap_drops(story.model).no_frames, 1);
    snapshot_shows("B 1/0 A 1/0", "k=0: B 1/0 A 1/0");
}

#define RING(test)   cmocka_unit_test_setup_teardown(test, a_ring, the_end)
#define STAGES(test) cmocka_unit_test_setup_teardown(test, two_stages, the_end)

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
