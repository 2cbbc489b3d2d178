/*
 * test_explore_worker.c -- a worker process of a search, and its messages to
 * the process that hands out the parts; this test plays that process. Then it
 * plays the workers.
 */
#include "cases.h"
#include "control.h"
#include "engine.h"
#include "futile.h"
#include "played_search.h"
#include "played_worker.h"
#include "textbook.h"
#include "worker.h"
#include "worker_says.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

/* ---- Messages ---- */

TEST(a_long_message_arrives_whole)
{
    worker_says_long();
}

TEST(a_message_may_come_slowly)
{
    worker_says_slowly();
}

TEST(a_message_that_is_cut_is_none)
{
    worker_says_cut();
}

TEST(a_worker_sends_the_failure_that_it_has_found)
{
    worker_says_failed(&fixtures_needle);
    worker_says_once();
}

TEST(a_worker_ends_with_its_coordinator)
{
    worker_says_orphaned(fixtures_seqlock(3, 3));
}

TEST(a_worker_says_what_it_has_learned)
{
    worker_says_again(&fixtures_waiting[0].kernel);
}

TEST(random_runs_of_workers_are_not_the_same)
{
    worker_says_seeds();
}

/* ---- A worker ---- */

struct side {
    struct sim_shared *shared;
    struct sim_frontier f;
    pid_t pid;
    int fd;
};

static void
request(struct sim_shared *shared, enum sim_request what)
{
    atomic_store(&shared->slots[1].request, what);
}

/* Called in the worker after every tenth run. */
static void
ask_to_share(void *shared, const struct sim_run *run)
{
    static uint32_t runs;

    (void)run;
    if (++runs % 10 == 0)
        request(shared, SIM_REQUEST_SHARE);
}

static void
start_worker(struct side *w, const struct sim_kernel *kernel, bool shares)
{
    struct sim_exhaust_options options = {.jobs = 2};
    int ends[2];

    memset(w, 0, sizeof *w);
    w->shared = mmap(NULL, sizeof *w->shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(w->shared != MAP_FAILED);
    w->shared->runs_left = INT64_MAX;
    sim_frontier_begin(&w->f);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (w->pid == 0) {
        static struct sim_exhaust_result result;
        struct sim_search search = {.kernel = kernel,
                                    .options = &options,
                                    .result = &result,
                                    .reduced = true};

        close(ends[0]);
        options.after_run = shares ? ask_to_share : NULL;
        options.after_run_context = w->shared;
        sim_search_begin(&search);
        sim_worker_main(&search, ends[1], w->shared, 1);
    }
    close(ends[1]);
    w->fd = ends[0];
}

static void
end_worker(struct side *w)
{
    int status;

    close(w->fd);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    assert_int_equal(status, 0);
    munmap(w->shared, sizeof *w->shared);
    sim_frontier_free(&w->f);
}

static uint32_t
hand_out(struct side *w)
{
    static struct sim_step path[SIM_CHOICES_MAX];
    const uint32_t part = sim_frontier_take(&w->f);
    const uint32_t depth = sim_frontier_depth(&w->f, part);

    sim_frontier_path(&w->f, part, path);
    assert_true(sim_message_send(w->fd, SIM_MESSAGE_PART, depth, path,
                                 depth * sizeof *path));
    return part;
}

static enum sim_message_type
hear(struct side *w, uint32_t part)
{
    const uint32_t depth = sim_frontier_depth(&w->f, part);
    struct sim_message m;
    enum sim_message_type type;

    assert_true(sim_message_receive(w->fd, &m));
    type = (enum sim_message_type)m.type;
    assert_int_equal(m.bytes, m.count * sizeof(struct sim_step) + depth);
    if (type != SIM_MESSAGE_SHOWN) {
        sim_frontier_enable(&w->f, part,
                            m.data + m.count * sizeof(struct sim_step), depth);
        sim_frontier_split(&w->f, part, (const void *)m.data, m.count);
    }
    if (type == SIM_MESSAGE_DONE) {
        assert_int_equal(m.count, 0);
        sim_frontier_done(&w->f, part);
    }
    if (type == SIM_MESSAGE_GIVEN)
        sim_frontier_return(&w->f, part);
    sim_message_free(&m);
    return type;
}

static uint64_t
count_of(const struct side *w, enum sim_count what)
{
    return atomic_load(&w->shared->slots[1].counts[what]);
}

static double
share_of(const struct side *w)
{
    return (double)atomic_load(&w->shared->slots[1].share) / SIM_SHARE_ONE;
}

/* Four threads that add twice each: 8! / (2! 2! 2! 2!) orders. */
enum { GRAPHS = 2520 };

TEST(a_worker_searches_what_it_is_given_and_tells_what_it_found)
{
    struct side w;
    uint32_t part;

    start_worker(&w, fixtures_counter(4), false);
    part = hand_out(&w);
    assert_int_equal(hear(&w, part), SIM_MESSAGE_DONE);
    assert_true(sim_frontier_is_empty(&w.f));
    assert_int_equal(count_of(&w, SIM_COUNT_GRAPHS), GRAPHS);
    assert_true(count_of(&w, SIM_COUNT_RUNS) >= GRAPHS);
    assert_int_equal(count_of(&w, SIM_COUNT_FAILURES), 0);
    end_worker(&w);
}

/* A worker gives away the other values of a choice, and goes on with its
 * own. */
TEST(what_a_worker_shares_and_what_it_keeps_are_the_whole)
{
    uint32_t shared = 0;
    uint32_t parts = 0;
    struct side w;

    start_worker(&w, fixtures_counter(4), true);
    while (!sim_frontier_is_empty(&w.f)) {
        const uint32_t part = hand_out(&w);
        enum sim_message_type type = SIM_MESSAGE_SHARED;

        while (type != SIM_MESSAGE_DONE) {
            type = hear(&w, part);
            shared += type == SIM_MESSAGE_SHARED;
            assert_true(type == SIM_MESSAGE_SHARED || type == SIM_MESSAGE_DONE);
        }
        assert_true(++parts < GRAPHS);
    }
    assert_in_range(shared, GRAPHS / 20, GRAPHS);
    assert_true(parts > 10);
    assert_int_equal(count_of(&w, SIM_COUNT_GRAPHS), GRAPHS);
    end_worker(&w);
}

/* A worker reports its position, and then waits until it is told to go on. */
TEST(a_worker_shows_where_it_is)
{
    struct side w;
    uint32_t part;

    start_worker(&w, fixtures_counter(4), false);
    request(w.shared, SIM_REQUEST_SHOW);
    part = hand_out(&w);
    assert_int_equal(hear(&w, part), SIM_MESSAGE_SHOWN);
    assert_int_equal(count_of(&w, SIM_COUNT_RUNS), 0);
    assert_true(share_of(&w) == 0);
    assert_true(sim_message_send(w.fd, SIM_MESSAGE_GO_ON, 0, NULL, 0));
    assert_int_equal(hear(&w, part), SIM_MESSAGE_DONE);
    assert_int_equal(count_of(&w, SIM_COUNT_GRAPHS), GRAPHS);
    end_worker(&w);
}

/* A worker takes 32 runs at a time from those left to all. */
TEST(a_worker_gives_back_what_it_has_no_runs_for)
{
    struct side w;
    uint64_t runs = 0;
    double share = 0;

    start_worker(&w, fixtures_counter(4), false);
    while (!sim_frontier_is_empty(&w.f)) {
        enum sim_message_type type;
        uint32_t part;
        double now;

        w.shared->runs_left = 100;
        part = hand_out(&w);
        type = hear(&w, part);
        assert_true(type == SIM_MESSAGE_GIVEN || type == SIM_MESSAGE_DONE);
        now = sim_frontier_share(&w.f, NULL);
        assert_true(now >= share - 1e-9);
        share = now;
        if (type == SIM_MESSAGE_GIVEN)
            assert_int_equal(count_of(&w, SIM_COUNT_RUNS) - runs, 100);
        if (runs == 0) { /* of the whole: its result, and what it left */
            assert_true(share_of(&w) > 0.001);
            assert_true(now > share_of(&w) - 1e-6);
            assert_true(now < share_of(&w) + 1e-6);
        }
        runs = count_of(&w, SIM_COUNT_RUNS);
    }
    assert_true(share == 1);
    assert_int_equal(count_of(&w, SIM_COUNT_GRAPHS), GRAPHS);
    end_worker(&w);
}

TEST(a_worker_stops_when_it_is_told_to)
{
    struct side w;
    uint32_t part;

    start_worker(&w, fixtures_counter(4), false);
    request(w.shared, SIM_REQUEST_STOP);
    part = hand_out(&w);
    assert_int_equal(hear(&w, part), SIM_MESSAGE_GIVEN);
    assert_int_equal(count_of(&w, SIM_COUNT_RUNS), 0);
    part = hand_out(&w);
    assert_int_equal(hear(&w, part), SIM_MESSAGE_DONE);
    assert_int_equal(count_of(&w, SIM_COUNT_GRAPHS), GRAPHS);
    end_worker(&w);
}

/* ---- The process that hands out ---- */

static uint32_t saves;
static bool saved_well;
static bool late_when_saved;
static bool begun; /* to search */

bool __wrap_sim_checkpoint_save(struct sim_control *c,
                                const struct sim_frontier *f);

bool
__wrap_sim_checkpoint_save(struct sim_control *c, const struct sim_frontier *f)
{
    saves++;
    played_await_end();
    c->late |= late_when_saved;
    assert_true(played_is_whole(f, c->result->runs));
    return saved_well;
}

static void
be_late(void *control, const struct sim_progress *progress)
{
    static double half[PLAYED_LISTS];
    static uint64_t visits;
    struct sim_control *c = control;

    assert_true(progress->share >= 0 && progress->share <= 1);
    for (uint32_t i = 0; i < c->frontier.parts_count; i++)
        half[i] = 0.5; /* of each part, as its worker says when it begins */
    assert_true(progress->share >=
                sim_frontier_share(&c->frontier, NULL) - 1e-6);
    assert_true(progress->share <=
                sim_frontier_share(&c->frontier, half) + 1e-6);
    if (!begun) { /* what is done of a part counts from the next time on */
        begun = played->begun != 0;
        visits = begun ? played_visits(20) : 0;
        c->look_us = 0;
        return;
    }
    assert_true(progress->share > 0);
    assert_true(progress->runs + c->options->jobs >= visits);
    c->late = true;
}

static void
begin_played(struct played_search *p, enum played_says what)
{
    played_search_begin(p, what);
    saved_well = true;
    late_when_saved = false;
    saves = 0;
}

/* Each list is searched once. returns: in how many searches */
static uint32_t
check_played(uint32_t jobs, bool pauses, bool writes)
{
    struct played_search p;
    struct sim_step path[PLAYED_DEPTH];
    enum sim_search_end end = SIM_SEARCH_PAUSED;
    uint32_t times = 0;
    uint64_t lists = 0;

    begin_played(&p, PLAYED_SEARCHES);
    played->alone = jobs == 1;
    p.options.jobs = jobs;
    p.options.progress = pauses ? be_late : NULL;
    p.options.progress_context = &p.control;
    p.options.checkpoint = writes ? "/nowhere" : NULL;
    p.options.checkpoint_ms = 1;
    p.control.save_us = 0;
    begun = false;
    while (end == SIM_SEARCH_PAUSED && times++ < 8) {
        p.control.late = false;
        p.control.look_us = sim_control_now_us() + 3000 * (times - 1);
        if (times == 8)
            p.options.progress = NULL;
        end = sim_jobs_run(&p.control);
    }
    assert_int_equal(end, SIM_SEARCH_DONE);
    assert_true(sim_frontier_is_empty(&p.control.frontier));
    played_begin(path, 0);
    do {
        assert_int_equal(played->visits[played_number(path)], 1);
        lists++;
    } while (played_next(path, 0));
    assert_int_equal(p.result.runs, lists);
    assert_true(played_sums_up(&p.result, lists));
    assert_int_equal(played->unasked, 0);
    assert_true((played->shared > 0) == (jobs > 1)); /* one shares nothing */
    assert_true((saves > 0) == writes);
    assert_true(times == 1 || pauses);
    assert_string_equal(p.result.trouble, "");
    played_search_end(&p);
    return times;
}

TEST(each_list_is_searched_once_though_parts_are_shared_and_given_back)
{
    uint32_t times = 0;

    for (uint32_t i = 0; i < 12; i++)
        times += check_played(1 + i % 4, i / 3 % 2 != 0, i / 6 != 0);
    assert_true(times > 12);
    check_played(2 * SIM_JOBS_MAX, false, true); /* only so many start */
}

/* ---- What workers tell it ---- */

TEST(what_a_worker_has_learned_is_known_when_the_search_begins_again)
{
    struct played_search p;
    const uintptr_t *sites;
    const uint32_t before = sim_wait_sites(&sites);

    for (uint32_t i = 0; i < 4; i++) {
        begin_played(&p, PLAYED_HAS_LEARNED);
        played->learned = i;
        p.search.reduced = i % 2 == 0;
        p.search.shard.whole = i / 2 == 0;
        sim_engine.threads_known = 1;
        sim_engine.cleared_bytes = i % 2 != 0 ? 5000 : 0;
        assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_AGAIN);
        assert_int_equal(sim_wait_sites(&sites), before + 3);
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(sites[before + k], 0x10001 * (k + 1));
        assert_int_equal(p.search.reduced, i % 2 != 0);
        assert_int_equal(p.search.shard.whole, i / 2 != 0);
        assert_int_equal(sim_engine.threads_known, 5);
        assert_int_equal(sim_engine.cleared_bytes, i % 2 != 0 ? 5000 : 4096);
        played_search_end(&p);
    }
}

TEST(what_a_worker_has_found_is_kept)
{
    played_search_fails();
}

TEST(the_first_of_several_workers_to_end_the_search_is_heard)
{
    played_search_is_over();
}

TEST(a_search_goes_on_with_the_processes_that_start)
{
    played_search_starts();
}

static void
save_when_begun(void *control, const struct sim_progress *progress)
{
    struct sim_control *const c = control;

    (void)progress;
    c->look_us = 0;
    c->save_us = played->begun > 0 ? 0 : UINT64_MAX;
}

TEST(a_worker_that_ends_and_a_file_that_cannot_be_written_end_the_search)
{
    struct played_search p;

    for (uint32_t i = 0; i < 3; i++) {
        begin_played(&p, (enum played_says)(PLAYED_ENDS + i));
        p.options.jobs = 1; /* nobody else is told before */
        p.options.checkpoint = "/nowhere";
        p.control.save_us = UINT64_MAX;
        p.control.look_us = 0;
        p.options.progress = i == 2 ? save_when_begun : NULL;
        p.options.progress_context = &p.control;
        played->alone = true;
        saved_well = true;
        assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
        assert_int_equal(saves, i == 2);
        assert_string_equal(p.result.trouble,
                            "a process of the search has ended");
        played_search_end(&p);
    }
    for (uint32_t i = 0; i < 2; i++) {
        begin_played(&p, PLAYED_SEARCHES);
        p.options.checkpoint = "/nowhere";
        p.control.save_us = 0;
        saved_well = false;
        late_when_saved = i != 0;
        assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
        assert_int_equal(saves, 1);
        played_search_end(&p);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
