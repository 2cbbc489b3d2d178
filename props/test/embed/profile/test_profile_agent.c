/*
 * test_profile_agent.c -- the agent's thread without a profiler: it writes
 * files on request and periodically, and replies to clients.
 */
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent_stubs.h"
#include "in_child.h"

#define AGENT agent_stubs

static unsigned long
count_threads(void)
{
    struct stat status;

    assert_int_equal(stat("/proc/self/task", &status), 0);
    return status.st_nlink - 2;
}

TEST_WITH(agent_begin, agent_end, an_agent_is_started_once)
{
    (void)state;
    assert_int_equal(count_threads(), 2);
    profile_agent_start();
    assert_int_equal(count_threads(), 2);
    assert_int_equal(agent_end(state), 0);
    profile_agent_stop(); /* there is none */
    assert_int_equal(agent_begin(state), 0);
}

/* ---- files ---- */

TEST_WITH(agent_begin, agent_end, a_request_within_a_dump_is_another)
{
    atomic_store(&AGENT.asks_meanwhile, true);
    agent_ask();
    agent_await(&AGENT.dumps, 2);
}

TEST_WITH(agent_begin, agent_end, files_are_written_by_the_clock)
{
    int seen;

    (void)state;
    atomic_fetch_add(&AGENT.clock_ns, AGENT_STEP_S * INT64_C(1000000000) - 1);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2); /* it has looked since */
    assert_int_equal(atomic_load(&AGENT.dumps), 0);
    atomic_fetch_add(&AGENT.clock_ns, 1);
    agent_await(&AGENT.dumps, 1);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
}

/* Clients are served between two dumps, however long those take. */
TEST_WITH(agent_begin, agent_end, a_long_dump_is_not_followed_by_another)
{
    const int64_t step_ns = AGENT_STEP_S * INT64_C(1000000000);
    int seen;

    (void)state;
    atomic_store(&AGENT.dump_takes_ns, 3 * step_ns);
    atomic_fetch_add(&AGENT.clock_ns, step_ns);
    agent_await(&AGENT.dumps, 1);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 3);
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
    atomic_store(&AGENT.dump_takes_ns, 0);
}

/* Files that are asked for while a client is served come before the next
 * client. */
TEST_WITH(agent_begin, agent_end, files_come_before_clients_that_wait)
{
    int first;
    int second;

    (void)state;
    atomic_store(&AGENT.reply_hangs, true);
    atomic_store(&AGENT.asks_in_reply, true);
    first = agent_client("status\n");
    second = agent_client("heap\n");
    atomic_store(&AGENT.reply_hangs, false);
    agent_expect(first, "OK\nis fine");
    agent_expect(second, "OK\nprofile 0");
    assert_int_equal(AGENT.dumps_before, 1);
}

TEST_WITH(agent_begin, agent_end, the_last_files_are_written_by_the_agent)
{
    embed_inside = false; /* so the agent writes the files, not this thread */
    profile_agent_end();
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
    assert_false(atomic_load(&AGENT.is_outside));
    profile_agent_end();
    assert_int_equal(atomic_load(&AGENT.dumps), 2);
    embed_inside = true;
}

TEST(without_an_agent_who_ends_writes_them)
{
    atomic_store(&AGENT.dumps, 0);
    profile_agent_end();
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
    atomic_store(&AGENT.is_confined, true);
    profile_agent_end();
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
}

/* A confined process gets no new agent, so the one that ends writes the
 * files. */
TEST_WITH(agent_begin, NULL,
          an_agent_that_leaves_a_confined_process_writes_them)
{
    atomic_store(&AGENT.is_confined, true);
    profile_agent_stop();
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
    assert_false(profile_agent_is_running());
    profile_agent_start();
    assert_false(profile_agent_is_running());
    atomic_store(&AGENT.is_confined, false);
    profile.config.has_agent = false;
    profile_agent_start();
    assert_false(profile_agent_is_running());
    profile.config.has_agent = true;
}

/* A program that exits waits for ten seconds at most. */
TEST_WITH(agent_begin, agent_end, who_ends_does_not_wait_for_ever)
{
    const int64_t times_ns[] = {500, 10000000499, 10000000500, INT64_MAX};
    int64_t const *at;

    (void)state;
    atomic_store(&AGENT.dump_hangs, true);
    agent_next_ns = times_ns;
    agent_sleeps = 0;
    profile_agent_end();
    at = agent_next_ns;
    assert_int_equal(agent_sleeps, 1); /* it leaves the processor alone */
    agent_next_ns = NULL;
    atomic_store(&AGENT.dump_hangs, false);
    assert_ptr_equal(at, &times_ns[3]);
    agent_await(&AGENT.dumps, 1);
    assert_false(atomic_load(&AGENT.is_outside));
}

/* The kernel removes a thread a little after it was joined. */
TEST_WITH(agent_begin, NULL, an_agent_that_was_ended_is_gone)
{
    (void)state;
    atomic_store(&AGENT.lingers_asked, 0);
    AGENT.lingers = 3;
    agent_sleeps = 0;
    assert_int_equal(agent_end(state), 0);
    assert_int_equal(atomic_load(&AGENT.lingers_asked), 4);
    assert_int_equal(agent_sleeps, 3); /* it leaves the processor alone */
    assert_int_equal(atomic_load(&AGENT.asked_process), getpid());
    assert_int_equal(atomic_load(&AGENT.asked_number),
                     atomic_load(&AGENT.agent_number));
    assert_int_equal(agent_begin(state), 0);
    atomic_store(&AGENT.lingers_asked, 0);
    AGENT.lingers =
        INT_MAX; /* forever; the agent's end waits five seconds, one a look */
    assert_int_equal(agent_end(state), 0);
    assert_int_equal(atomic_load(&AGENT.lingers_asked), 5);
    AGENT.lingers = 0;
}

/* Stop an agent that hangs in a dump, and so does not end in time. */
static void
stop_while_it_dumps(void)
{
    atomic_store(&AGENT.dump_hangs, true);
    atomic_store(&AGENT.dumps_begun, 0);
    agent_ask();
    agent_await(&AGENT.dumps_begun, 1);
    atomic_store(&AGENT.is_slow, true);
    profile_agent_stop();
    atomic_store(&AGENT.is_slow, false);
}

/* An agent that does not end in time has left nothing for another to take: none
 * is started beside it, and it ends when it can. */
TEST_WITH(agent_begin, NULL, an_agent_that_is_slow_to_end_still_ends)
{
    (void)state;
    stop_while_it_dumps();
    profile_agent_start();
    atomic_store(&AGENT.dump_hangs, false);
    for (int i = 0; i < 10000 && profile_agent_is_running(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_false(profile_agent_is_running());
    profile_agent_after_fork_child(true);
    assert_int_equal(agent_begin(state), 0); /* a child's agent serves */
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_int_equal(agent_end(state), 0);
}

static int clock_reads;

/* In the first wait for the agent, the dump that it is busy with ends. */
static void
end_dump(void)
{
    if (++clock_reads == 2)
        atomic_store(&AGENT.dump_hangs, false);
}

/* An agent that leaves has not seen the last request, so the one who asked
 * writes the files. */
TEST_WITH(agent_begin, NULL, who_ends_writes_what_the_agent_has_not_written)
{
    (void)state;
    stop_while_it_dumps();
    clock_reads = 0;
    agent_at_clock = end_dump;
    profile_agent_end();
    agent_at_clock = NULL;
    assert_false(profile_agent_is_running());
    assert_int_equal(atomic_load(&AGENT.dumps), 2);
    profile_agent_after_fork_child(true); /* as if nothing had been */
}

/* Several clients ask at once: the agent listens twenty times a second. */
TEST_WITH(agent_begin, agent_end, clients_are_answered)
{
    static const struct {
        const char *request;
        const char *answer;
    } rows[] = {
        {"heap\n", "OK\nprofile 0"},
        {"allocs\n", "OK\nprofile 1"},
        {"mutex\n", "OK\n"},
        {"block\n", "ERROR this profile is not being taken\n"},
        {"cpu\n", "OK\nprofile 4"},
        {"status\n", "OK\nis fine"},
        {"heap", ""},
        {"heaps\n", "ERROR no such request\n"},
        {"\n", "ERROR no such request\n"},
        {"0123456789012345678901234567890\n", "ERROR no such request\n"},
        {"01234567890123456789012345678901\n", ""},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    int clients[ROWS];
    int before = atomic_load(&AGENT.drained);

    agent_await(&AGENT.drained, before + 2); /* it has listened since */
    for (int i = 0; i < ROWS; i++)
        clients[i] = agent_client(rows[i].request);
    for (int i = 0; i < ROWS; i++)
        agent_expect(clients[i], rows[i].answer);
    before = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, before + 1);
}

TEST_WITH(agent_begin, agent_end, a_client_is_served_with_patience)
{
    (void)state;
    atomic_store(&AGENT.patience_set, 0);
    atomic_store(&AGENT.interrupted, 3);
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_int_equal(atomic_load(&AGENT.interrupted), 0);
    assert_int_equal(atomic_load(&AGENT.patience_set), 101);
    atomic_store(&AGENT.interrupted, 1);
    atomic_store(&AGENT.interrupted_for_long, true);
    agent_expect(agent_client("status\n"), "");
    atomic_store(&AGENT.interrupted_for_long, false);
    atomic_store(&AGENT.written, 0);
    agent_expect(agent_client("heap\n"), "OK\nprofile 0");
    agent_expect(agent_client("cpu\n"), "OK\nprofile 4");
    assert_int_equal(atomic_load(&AGENT.written),
                     1u << PROFILE_HEAP | 1u << PROFILE_CPU);
}

/* Only the process's real and effective user and root get a reply. */
TEST_WITH(agent_begin, agent_end, others_get_no_reply)
{
    static const struct {
        int user;
        const char *answer;
    } rows[] = {{0, "OK\nis fine"},
                {AGENT_USER, "OK\nis fine"},
                {AGENT_EFFECTIVE, "OK\nis fine"},
                {1, ""},
                {1003, ""},
                {-1, ""}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        atomic_store(&AGENT.client_user, rows[i].user);
        agent_expect(agent_client("status\n"), rows[i].answer);
    }
    atomic_store(&AGENT.client_user, AGENT_USER);
}

/* A signal sent to the process is meant for the program's own threads. */
TEST_WITH(agent_begin, agent_end, the_agents_thread_blocks_signals)
{
    sigset_t mask;

    assert_true(atomic_load(&AGENT.masked));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&mask, number), 0);
}

/* The signal restarts the system calls that it interrupts. */
TEST_WITH(agent_begin, agent_end, a_request_interrupts_no_call)
{
    struct sigaction action;

    (void)state;
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_int_equal(action.sa_flags & 0x03ffffff, 0);
    assert_int_equal(action.sa_flags & SA_RESTART, SA_RESTART);
}

TEST_WITH(agent_begin, agent_end, who_asks_wakes_the_agent)
{
    const int before = agent_wakes;

    (void)state;
    agent_ask();
    assert_int_equal(agent_wakes, before + 1);
    agent_await(&AGENT.dumps, 1);
    assert_int_equal(agent_end(state), 0); /* and who ends it */
    assert_int_equal(agent_wakes, before + 2);
}

TEST_WITH(agent_begin, agent_end, without_a_clock_there_are_no_files)
{
    int seen;

    assert_int_equal(agent_end(state), 0);
    profile.config.every_s = 0;
    assert_int_equal(agent_begin(state), 0);
    atomic_fetch_add(&AGENT.clock_ns, INT64_C(1000000000000000000));
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(atomic_load(&AGENT.dumps), 0);
    agent_ask();
    agent_await(&AGENT.dumps, 1);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(atomic_load(&AGENT.dumps), 1);
    profile.config.every_s = AGENT_STEP_S;
}

/* ---- forks and other signals ---- */

TEST(a_program_that_takes_the_signal_keeps_it)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    assert_int_equal(agent_begin(state), 0);
    assert_int_equal(agent_end(state), 0);
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_IGN);
    action.sa_handler = SIG_DFL;
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    profile.config.folder[0] = '\0'; /* no folder for files */
    profile_agent_start();
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
    assert_int_equal(agent_end(state), 0);
}

/* A forked child does not write the files that its parent was asked for or
 * wrote. */
static void
write_once(void)
{
    const int seen = atomic_load(&AGENT.drained);

    profile_agent_after_fork_child(true);
    CHECK(!profile_agent_is_running());
    atomic_store(&AGENT.dumps, 0);
    profile_agent_start();
    agent_await(&AGENT.drained, seen + 2);
    CHECK(atomic_load(&AGENT.dumps) == 0);
    profile_agent_end();
    CHECK(atomic_load(&AGENT.dumps) == 1);
    profile_agent_stop();
    CHECK(!profile_agent_is_running());
}

TEST_WITH(agent_begin, agent_end, a_child_writes_files_of_its_own)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        agent_ask();
        agent_await(&AGENT.dumps, i);
    }
    expect_in_child(write_once);
}

TEST(a_child_begins_an_agent_if_it_may)
{
    (void)state;
    profile_agent_after_fork_child(false);
    profile_agent_start();
    assert_false(profile_agent_is_running());
    profile_agent_after_fork_child(true);
    profile_agent_start();
    assert_true(profile_agent_is_running());
    profile_agent_stop();
    assert_false(profile_agent_is_running());
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
