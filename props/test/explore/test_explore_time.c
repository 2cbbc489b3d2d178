/*
 * test_explore_time.c -- a search whose clock this test sets: when it reports
 * progress, what it estimates to be left, when its time is over, and when it
 * writes its checkpoint.
 */
#include "control.h"
#include "offer_parts.h"
#include "sampled_parts.h"
#include "search_parts.h"
#include "shard_parts.h"
#include "timed_search.h"
#include "tsan.h"
#include "worker_parts.h"

#include <malloc.h>
#include <string.h>
#include <time.h>

#include "unit_test.h"

/* ---- a clock that the test sets ---- */

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

int
__wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    if (timed_clock_us == 0)
        return __real_clock_gettime(id, time);
    time->tv_sec = (time_t)(timed_clock_us / 1000000);
    time->tv_nsec = (long)(timed_clock_us % 1000000) * 1000;
    return 0;
}

TEST(a_process_that_has_searched_nothing_goes_on_from_a_file)
{
    search_parts_fresh(); /* so it comes first */
}

/* ---- Progress ---- */

struct told {
    struct sim_progress last;
    uint32_t times;
};

static void
note_progress(void *context, const struct sim_progress *p)
{
    struct told *told = context;

    told->last = *p;
    told->times++;
}

static void
begin_control(struct sim_control *c, struct sim_search *s,
              const struct sim_exhaust_options *options)
{
    static struct sim_exhaust_result result;

    memset(s, 0, sizeof *s);
    s->options = options;
    s->result = &result;
    timed_clock_us = 5000000;
    sim_control_begin(c, s);
}

TEST(a_search_tells_its_progress_after_50_ms_and_then_five_times_a_second)
{
    struct told told = {.times = 0};
    const struct sim_exhaust_options options = {
        .time_ms = 400, .progress = note_progress, .progress_context = &told};
    struct sim_control c;
    struct sim_search s;

    begin_control(&c, &s, &options);
    c.spent_us = 3000000; /* before, by another process */
    timed_clock_us = 5049999;
    sim_control_look(&c, 1, 1, 0.1);
    assert_int_equal(told.times, 0);
    assert_false(c.hand_out);
    timed_clock_us = 5050000;
    sim_control_look(&c, 20, 10, 0.25);
    assert_int_equal(told.times, 1);
    assert_true(c.hand_out);
    assert_int_equal(told.last.runs, 20);
    assert_int_equal(told.last.graphs, 10);
    assert_int_equal(told.last.took_ms, 3050);
    assert_true(told.last.share > 0.24 && told.last.share < 0.26);
    assert_int_equal(c.look_us, 5250000);
    timed_clock_us = 5250000;
    sim_control_look(&c, 30, 15, 0.3);
    assert_int_equal(c.look_us, 5400000); /* then its time is over */
    timed_clock_us = 5399999;
    sim_control_look(&c, 40, 15, 0.3);
    assert_false(c.late);
    assert_int_equal(told.times, 2);
    timed_clock_us = 5400000;
    sim_control_look(&c, 40, 15, 0.3);
    assert_true(c.late);
    assert_int_equal(told.times, 3);
    assert_int_equal(c.look_us, 5600000);
    timed_clock_us = 0;
    sim_frontier_free(&c.frontier);
}

TEST(a_search_that_has_no_end_is_never_late)
{
    const struct sim_exhaust_options options = {.alone_ms = 1};
    struct sim_control c;
    struct sim_search s;

    begin_control(&c, &s, &options);
    assert_int_equal(c.look_us, 5001000);
    timed_clock_us = UINT64_C(1) << 50;
    sim_control_look(&c, 1, 1, 0.1);
    assert_false(c.late);
    assert_true(c.hand_out);
    assert_int_equal(c.look_us, (UINT64_C(1) << 50) + 200000);
    timed_clock_us = 0;
    sim_frontier_free(&c.frontier);
}

/* After every 32 runs the search reads the clock. */
static uint64_t run_us;

static void
count_time(void *runs, const struct sim_run *run)
{
    (void)run;
    ++*(uint32_t *)runs;
    timed_clock_us += run_us;
}

static void
mark_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    (void)sim_explore_mark();
}

static const struct sim_kernel marks = {
    .name = "mark",
    .about = "nothing",
    .threads = {{"mark", mark_once, NULL}},
    .threads_count = 1,
};

/* in: how long 32 runs take */
static void
check_end(uint64_t us, uint64_t time_ms, uint32_t ends_after)
{
    uint32_t runs = 0;
    const struct sim_sample_options options = {.runs = 1000,
                                               .time_ms = time_ms,
                                               .after_run = count_time,
                                               .after_run_context = &runs};
    struct sim_exhaust_result r;

    run_us = us / 32;
    timed_clock_us = 1;
    sim_explore_sample(&marks, &options, &r);
    timed_clock_us = 0;
    assert_int_equal(runs, r.runs);
    assert_int_equal(runs, ends_after);
}

TEST(random_runs_end_when_their_time_is_over)
{
    check_end(32000, 10, 32);
    check_end(32000, 32, 32); /* at the very end of the time */
    check_end(32000, 33, 64);
    check_end(999968, 1000, 64); /* just before it */
}

/* ---- Random runs ---- */

static uint32_t word;

static void
load_here_or_there(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (sim_explore_choose(2, SIM_DATA) == 0)
        (void)__tsan_atomic32_load(&word, __ATOMIC_ACQUIRE);
    else
        (void)__tsan_atomic32_load(&word, __ATOMIC_SEQ_CST);
}

static void
never_right(void *context)
{
    (void)context;
    sim_explore_fail("it is never right");
}

static const struct sim_kernel loads = {
    .name = "loads",
    .about = "nothing",
    .finish = never_right,
    .threads = {{"load", load_here_or_there, NULL}},
    .threads_count = 1,
};

TEST(sites_are_listed_though_runs_fail)
{
    struct sim_site sites[4];

    assert_int_equal(sim_explore_sites(&loads, 50, sites, 4), 2);
    assert_int_equal(sites[0].order + sites[1].order,
                     __ATOMIC_ACQUIRE + __ATOMIC_SEQ_CST);
    assert_int_equal(sim_explore_sites(&loads, 50, sites, 1), 1);
}

TEST(random_runs_give_their_memory_back)
{
    struct sim_exhaust_result r;
    size_t before = 0;

    for (uint32_t i = 0; i < 20; i++) {
        sim_explore_sample(&loads, &(struct sim_sample_options){.runs = 5}, &r);
        assert_int_equal(r.failures, 1);
        free(r.choices);
        before = i < 10 ? mallinfo2().uordblks : before;
    }
    assert_true(mallinfo2().uordblks < before + 4096);
}

/* ---- The file ---- */

/* Writing the checkpoint takes at most a 20th of the time. */
TEST(a_file_is_due_every_five_seconds_or_later_if_it_is_large)
{
    struct sim_exhaust_options options = {.checkpoint = NULL};
    struct sim_control c;
    struct sim_search s;

    begin_control(&c, &s, &options);
    timed_clock_us = 100000000;
    assert_false(sim_control_file_is_due(&c)); /* no checkpoint is wanted */
    options.checkpoint = "/nowhere";
    sim_frontier_free(&c.frontier);
    begin_control(&c, &s, &options);
    timed_clock_us = 9999999;
    assert_false(sim_control_file_is_due(&c));
    timed_clock_us = 10000000;
    assert_true(sim_control_file_is_due(&c));
    sim_control_saved(&c, 9900000); /* the write took 0.1 s */
    assert_int_equal(c.save_us, 15000000);
    sim_control_saved(&c, 9000000); /* the write took a second */
    assert_int_equal(c.save_us, 30000000);
    options.checkpoint_ms = 1;
    sim_frontier_free(&c.frontier);
    begin_control(&c, &s, &options);
    assert_int_equal(c.save_us, 5001000);
    timed_clock_us = 0;
    sim_frontier_free(&c.frontier);
}

/* ---- Whole searches ---- */

TEST(a_search_reads_its_clock_every_32_runs_and_tells_what_is_left)
{
    timed_search_tells();
}

TEST(a_search_that_begins_again_estimates_anew)
{
    timed_search_begins_again();
}

TEST(a_search_ends_when_its_time_or_its_runs_are_used_up)
{
    timed_search_is_late();
}

TEST(a_search_goes_on_from_each_of_its_files)
{
    timed_search_is_saved();
}

TEST(a_search_that_has_failed_leaves_no_file_and_one_that_differs_leaves_it)
{
    timed_search_leaves_file();
}

TEST(a_search_goes_graph_by_graph_unless_it_must_not)
{
    timed_search_is_reduced();
}

/* ---- Parts of a search ---- */

TEST(a_pair_of_a_read_and_a_value_is_known_when_it_was_learned)
{
    offer_parts_futile();
}

TEST(one_of_those_that_await_a_change_is_released)
{
    offer_parts_released();
}

TEST(the_latest_store_is_futile_only_if_it_is_the_only_one)
{
    offer_parts_marked();
}

TEST(what_a_thread_has_done_is_offered_later)
{
    offer_parts_later();
}

TEST(offers_are_made_in_their_order_and_wake_those_that_wait)
{
    offer_parts_settled();
}

TEST(each_list_is_one_shards)
{
    shard_parts_owned();
}

TEST(a_run_ends_where_its_list_is_another_shards)
{
    shard_parts_entered();
}

TEST(shards_divide_where_there_are_enough_prefixes)
{
    shard_parts_planned();
}

TEST(a_search_begins_with_nothing)
{
    search_parts_begun();
}

TEST(a_path_is_loaded_and_its_steps_are_told)
{
    search_parts_loaded();
}

TEST(a_question_is_open_if_it_has_another_answer)
{
    search_parts_open();
}

TEST(a_verdict_is_the_worst_that_was_found)
{
    search_parts_verdict();
}

TEST(prefixes_are_the_lists_that_go_on_below)
{
    search_parts_prefixes();
}

TEST(random_runs_in_between_have_seeds_of_their_own)
{
    sampled_parts_sliced();
}

TEST(the_first_failure_is_kept_however_it_was_found)
{
    sampled_parts_failed();
}

TEST(a_run_beyond_a_cut_state_ends_in_a_known_graph)
{
    sampled_parts_detours();
}

TEST(runs_that_end_in_a_wait_loop_are_counted)
{
    sampled_parts_blocked();
}

TEST(shards_that_learn_late_leave_all_to_the_first)
{
    search_parts_shards();
}

TEST(a_sample_counts_the_graphs_that_differ)
{
    sampled_parts_sampled();
}

TEST(a_list_that_has_learned_something_runs_again)
{
    sampled_parts_run();
}

TEST(a_message_is_whole_or_none)
{
    worker_parts_sent();
    worker_parts_received();
}

TEST(a_worker_tells_what_it_does)
{
    worker_parts_counted();
    worker_parts_asked();
    worker_parts_told();
    worker_parts_left();
}

/* ---- The estimate ---- */

/*
 * 1,000 points are kept as stretches. When 32 stretches are full each two
 * become one, so in the end a stretch has 32 points, and the last one 8.
 */
TEST(an_estimate_of_many_points_is_that_of_their_stretches)
{
    double runs[32] = {0};
    double share[32] = {0};
    double squares = 0;
    double all_runs = 0;
    double all_share = 0;
    double error;
    double left;
    struct sim_estimate e;

    sim_estimate_begin(&e);
    for (uint32_t i = 0; i < 1000; i++) {
        const double more = 1 + i * 7 % 13;
        const double less = (1 + i * 5 % 11) / 1e5;

        all_runs += more;
        all_share += less;
        runs[i / 32] += more;
        share[i / 32] += less;
        sim_estimate_add(&e, all_runs, all_share);
        sim_estimate_add(&e, all_runs, all_share + 1); /* without runs */
    }
    left = sim_estimate_left(&e, &error);
    assert_true(left > (all_runs / all_share - all_runs) * 0.999999);
    assert_true(left < (all_runs / all_share - all_runs) * 1.000001);
    for (uint32_t i = 0; i < 32; i++) {
        const double off = runs[i] - all_runs / all_share * share[i];

        squares += off * off;
    }
    squares = squares * 32 / 31 / all_share / all_share;
    assert_true(error * error > squares * 0.999999);
    assert_true(error * error < squares * 1.000001);
}

/* If all shares have taken as long, there is no error. Shares of 1/8, 1/4 and
 * so on have exact sums. */
TEST(an_estimate_of_equal_stretches_has_no_error)
{
    struct sim_estimate e;
    double error = 1;

    sim_estimate_begin(&e);
    for (uint32_t i = 1; i <= 4; i++)
        sim_estimate_add(&e, 8 * i, 0.125 * i);
    assert_true(sim_estimate_left(&e, &error) == 32);
    assert_true(error == 0);
    /* 1/4 less, 1/4 more, in four stretches: 4 / 3 * 1 / 4 = 1 / 3. */
    sim_estimate_begin(&e);
    for (uint32_t i = 1; i <= 4; i++)
        sim_estimate_add(&e, 8 * i - (i % 2 != 0 ? 0.25 : 0), 0.125 * i);
    assert_true(sim_estimate_left(&e, &error) == 32);
    assert_true(error * error > 4 * 0.33333333);
    assert_true(error * error < 4 * 0.33333334);
    sim_estimate_begin(&e);
    for (uint32_t i = 1; i <= 4; i++)
        sim_estimate_add(&e, 8 * i, 0);
    assert_true(sim_estimate_left(&e, &error) == 0);
    assert_true(error == 0);
}

TEST(an_estimate_needs_four_stretches)
{
    struct sim_estimate e;
    double error = 1;

    sim_estimate_begin(&e);
    for (uint32_t i = 1; i <= 3; i++)
        sim_estimate_add(&e, 10 * i, 0.1 * i);
    assert_true(sim_estimate_left(&e, &error) == 0 && error == 0);
    sim_estimate_add(&e, 40, 0.4);
    assert_true(sim_estimate_left(&e, &error) > 59.9);
    assert_true(error < 1e-6);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
