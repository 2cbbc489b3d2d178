/*
 * test_model_heap.c -- the oracle on logs written by hand. The expected results
 * follow from the rules in docs/semantics.md, "Which events a snapshot shows".
 */
#include <stdarg.h>
#include <stddef.h>
#include "log_builder.h"
#include "unit_test.h"

#define ROOM TRUTH_ROOM_ENOUGH

static void
free_explicit(uint32_t object)
{
    props_log_object(&built_log, TRUTH_FREE_EXPLICIT, object);
}

static void
a_collection_is_seen_phase_by_phase(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    log_alloc('H'); /* uses up the rule of the first snapshot */
    log_shows("H 1/0", "k=0: H 1/0");
    a = log_alloc('A');
    b = log_alloc('B');
    log_dead(a);
    log_gc();
    log_shows("H 1/0", "k=0: H 1/0"); /* between MT_1 and flush */
    log_flush();
    log_alloc('C');
    log_shows("H 1/0", "k=0: H 1/0"); /* the sweep is running */
    log_sweep(a);
    log_shows("H 1/0", "k=0: H 1/0"); /* it has ended, but was not reported */
    log_post_sweep();
    log_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    log_alloc('D');
    log_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    log_dead(b);
    log_gc();
    log_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    log_flush();
    log_sweep(b);
    log_shows("H 1/0 A 1/1 B 1/0", "k=1: H 1/0 A 1/1 B 1/0");
    log_gc();
    log_shows("H 1/0 A 1/1 B 1/1 C 1/0 D 1/0",
              "k=2: H 1/0 A 1/1 B 1/1 C 1/0 D 1/0");
}

static void
before_the_first_collection_one_snapshot_shows_all(void **state)
{
    uint32_t a;

    (void)state;
    log_shows("", "k=0: ");
    assert_false(
        model_heap_answer(built_log.model).first); /* it showed no bucket */
    a = log_alloc('A');
    free_explicit(a);
    log_alloc('B');
    log_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_true(model_heap_answer(built_log.model).first);
    log_alloc('C');
    log_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    assert_false(model_heap_answer(built_log.model).first);
    log_gc_and_flush();
    log_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    log_gc_and_flush();
    log_shows("A 1/1 B 1/0 C 1/0", "k=1: A 1/1 B 1/0 C 1/0");
}

static void
a_first_snapshot_may_be_torn_and_heals(void **state)
{
    uint32_t a;
    uint32_t b;

    (void)state;
    a = log_alloc('A');
    b = log_alloc('B');
    log_dead(a);
    log_dead(b);
    log_gc();
    log_sweep(a);
    /* These are all events so far; at no termination was the heap so. */
    log_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    log_sweep(b);
    log_shows("A 1/1 B 1/0", "k=0: A 1/1 B 1/0");
    log_gc();
    log_shows("A 1/1 B 1/1", "k=1: A 1/1 B 1/1");
}

static void
a_short_first_snapshot_counts_all_and_publishes_nothing(void **state)
{
    struct model_answer answer;

    (void)state;
    log_alloc('A');
    log_alloc('B');
    answer = props_log_snapshot(&built_log, false, 1);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_false(answer.first);
    assert_string_equal(props_log_published(&built_log), "");
    assert_string_equal(props_log_heap(&built_log), "k=0: ");
    log_alloc('C');
    answer = props_log_snapshot(&built_log, false, 3);
    assert_int_equal(answer.count, 3);
    assert_true(answer.fits);
    assert_true(answer.first);
    assert_string_equal(props_log_published(&built_log), "A 1/0 B 1/0 C 1/0");
}

static void
a_sizing_call_may_spend_the_first_snapshot(void **state)
{
    struct model_answer answer;

    (void)state;
    built_log.limits.sizing_consumes_first = true;
    props_log_again(&built_log);
    log_alloc('A');
    log_alloc('B');
    answer = props_log_snapshot(&built_log, false, 0);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    assert_true(answer.first);
    log_alloc('C');
    log_shows("A 1/0 B 1/0", "k=0: A 1/0 B 1/0");
    assert_false(model_heap_answer(built_log.model).first);
}

static void
a_short_snapshot_publishes_its_cycle_all_the_same(void **state)
{
    (void)state;
    log_alloc('A');
    log_gc();
    log_flush();
    log_gc();
    assert_false(props_log_snapshot(&built_log, true, 0).fits);
    assert_string_equal(props_log_published(&built_log), "A 1/0");
    assert_string_equal(props_log_heap(&built_log), "k=1: A 1/0");
    assert_false(model_heap_flushed(built_log.model));
}

static void
post_sweep_leaves_the_data_of_its_own_cycle_to_the_flush(void **state)
{
    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    log_alloc('A');
    log_gc_and_flush();
    log_alloc('B');
    log_gc();
    log_post_sweep();
    assert_string_equal(props_log_published(&built_log), "H 1/0 B 1/0");
    log_flush();
    assert_string_equal(props_log_published(&built_log), "H 1/0 A 1/0 B 1/0");
}

static void
a_second_flush_of_a_cycle_does_nothing(void **state)
{
    (void)state;
    assert_false(model_heap_flushed(built_log.model));
    log_gc_and_flush();
    assert_true(model_heap_flushed(built_log.model));
    log_flush();
    assert_true(model_heap_flushed(built_log.model));
    log_post_sweep();
    assert_true(model_heap_flushed(built_log.model));
    log_gc();
    assert_false(model_heap_flushed(built_log.model));
    log_post_sweep();
    props_log_snapshot(&built_log, true, ROOM);
    assert_false(model_heap_flushed(built_log.model));
    assert_int_equal(model_heap_cycles(built_log.model), 2);
}

/* A sweep in the stopped world: the second next_cycle is the one that every
 * collection makes. */
static void
sweep_in_the_stopped_world(uint32_t object)
{
    log_dead(object);
    props_log_tell(&built_log, &(struct truth_entry){.kind = TRUTH_TERMINATE,
                                                     .flag = true});
    log_sweep(object);
    props_log_call(&built_log, TRUTH_NEXT_CYCLE);
    log_flush();
    props_log_call(&built_log, TRUTH_NEXT_CYCLE);
}

static void
a_sweep_in_the_stopped_world_shows_at_once(void **state)
{
    uint32_t a;

    (void)state;
    a = log_alloc('A');
    log_alloc('B');
    sweep_in_the_stopped_world(a);
    log_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    log_alloc('C');
    log_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    log_gc_and_flush();
    log_shows("A 1/1 B 1/0", "k=1: A 1/1 B 1/0");
    log_gc_and_flush();
    log_shows("A 1/1 B 1/0 C 1/0", "k=2: A 1/1 B 1/0 C 1/0");
}

static void
an_explicit_free_comes_with_its_allocation(void **state)
{
    uint32_t a;

    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    a = log_alloc('A');
    free_explicit(a);
    log_gc_and_flush();
    free_explicit(log_alloc('B'));
    log_shows("H 1/0", "k=0: H 1/0");
    log_gc_and_flush();
    log_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    log_post_sweep();
    log_shows("H 1/0 A 1/1 B 1/1", "k=2: H 1/0 A 1/1 B 1/1");
}

static void
explicit_frees_may_have_no_path(void **state)
{
    (void)state;
    built_log.limits.explicit_free_dropped = true;
    props_log_again(&built_log);
    free_explicit(log_alloc('A'));
    log_shows("A 1/0", "k=0: A 1/0");
    log_gc_and_flush();
    log_gc_and_flush();
    log_shows("A 1/0", "k=1: A 1/0");
    assert_int_equal(model_heap_drops(built_log.model).no_free_path, 1);
}

static void
stages_show_what_a_ring_shows_without_post_sweep(void **state)
{
    uint32_t a;

    (void)state;
    log_alloc('H');
    log_shows("H 1/0", "k=0: H 1/0");
    a = log_alloc('A');
    log_dead(a);
    log_gc();
    log_alloc('C');
    log_sweep(a);
    log_post_sweep(); /* has no effect with stages */
    log_shows("H 1/0", "k=0: H 1/0");
    log_gc();
    log_shows("H 1/0 A 1/1", "k=1: H 1/0 A 1/1");
    log_gc();
    log_shows("H 1/0 A 1/1 C 1/0", "k=2: H 1/0 A 1/1 C 1/0");
    sweep_in_the_stopped_world(log_alloc('D'));
    log_shows("H 1/0 A 1/1 C 1/0 D 1/1", "k=4: H 1/0 A 1/1 C 1/0 D 1/1");
}

static void
stages_need_no_flush(void **state)
{
    (void)state;
    log_alloc('A');
    for (uint32_t i = 0; i < 5; i++)
        log_gc();
    assert_string_equal(props_log_published(&built_log), "A 1/0");
    assert_string_equal(props_log_heap(&built_log), "k=4: A 1/0");
}

static void
a_reset_begins_an_empty_run(void **state)
{
    struct model_answer answer;

    (void)state;
    built_log.limits.frames_max = 2 * LOG_DEPTH;
    props_log_again(&built_log);
    log_alloc('A');
    log_gc_and_flush();
    log_post_sweep();
    log_shows("A 1/0", "k=1: A 1/0");
    log_alloc('B');
    log_alloc('C'); /* dropped */
    props_log_again(&built_log);
    assert_int_equal(model_heap_cycles(built_log.model), 0);
    assert_false(model_heap_flushed(built_log.model));
    answer = props_log_snapshot(&built_log, true, ROOM);
    assert_int_equal(answer.count, 0);
    log_alloc('B'); /* uses up the frames */
    log_alloc('A');
    assert_int_equal(model_heap_drops(built_log.model).no_frames, 0);
    log_alloc('C');
    assert_int_equal(model_heap_drops(built_log.model).no_frames, 1);
    log_shows("B 1/0 A 1/0", "k=0: B 1/0 A 1/0");
}

#define RING(test) cmocka_unit_test_setup_teardown(test, log_of_ring, log_end)
#define STAGES(test) \
    cmocka_unit_test_setup_teardown(test, log_of_stages, log_end)

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
