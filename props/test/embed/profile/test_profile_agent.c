/*
 * test_profile_agent.c -- the agent's thread without a profiler: files when
 * they are asked for and by the clock, and what it answers to clients.
 *
 * The clock is the test's. What is awaited is awaited for ten seconds at most.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "profile.h"
#include "unit_test.h"

enum { STEP_S = 100 };

struct profile profile = {.config = {.has_agent = true, .every_s = STEP_S}};
_Thread_local bool embed_inside;
const char *const profile_kind_names[PROFILE_KINDS] = {"heap", "allocs",
                                                       "mutex", "block", "cpu"};

static _Atomic int64_t clock_ns = 1000;
static _Atomic int dumps;
static _Atomic bool is_confined;
static _Atomic bool asks_meanwhile;
static _Atomic bool is_outside; /* a dump by a thread that is not inside */

int64_t prof_process_monotonic_ns(void);
int64_t
prof_process_monotonic_ns(void)
{
    return atomic_load(&clock_ns);
}

/* As a signal does it, on whatever thread. */
static void
ask(void)
{
    struct sigaction action;

    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    errno = 77;
    action.sa_handler(SIGUSR2);
    assert_int_equal(errno, 77);
}

void
profile_dump_files(void)
{
    if (!embed_inside)
        atomic_store(&is_outside, true);
    if (atomic_exchange(&asks_meanwhile, false))
        ask();
    atomic_fetch_add(&dumps, 1);
}

bool
profile_is_confined(void)
{
    return atomic_load(&is_confined);
}

bool
profile_has(enum profile_kind kind)
{
    return kind != PROFILE_BLOCK;
}

/* The time of a client is over in the middle of one. */
enum prof_status
profile_dump(enum profile_kind kind, const struct prof_sink *sink)
{
    char text[] = "profile ?";

    text[8] = (char)('0' + kind);
    if (kind == PROFILE_MUTEX)
        return PROF_ERR_MEMORY;
    if (sink->write(sink->context, text, 9) != PROF_OK)
        return PROF_ERR_SINK;
    if (kind != PROFILE_CPU)
        return PROF_OK;
    atomic_fetch_add(&clock_ns, 10000000001);
    return sink->write(sink->context, text, 9);
}

void
profile_status_print(char *to, size_t bytes)
{
    snprintf(to, bytes, "is fine");
}

static _Atomic int drained;

void
prof_cpu_drain(struct prof_cpu *cpu)
{
    (void)cpu;
    atomic_fetch_add(&drained, 1);
}

static void
await(_Atomic int *count, int at_least)
{
    const struct timespec tick = {.tv_nsec = 1000000};

    for (int i = 0; i < 10000 && atomic_load(count) < at_least; i++)
        nanosleep(&tick, NULL);
    assert_true(atomic_load(count) >= at_least);
}

/* ---- files ---- */

static int
begin(void **state)
{
    (void)state;
    embed_inside = true;
    profile.cpu = (struct prof_cpu *)(void *)&profile;
    strcpy(profile.config.folder, "somewhere");
    atomic_store(&dumps, 0);
    atomic_store(&drained, 0);
    atomic_store(&is_confined, false);
    profile_agent_start();
    await(&drained, 1); /* it has read the clock */
    return profile_agent_is_running() ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    profile_agent_stop();
    return profile_agent_is_running() ? -1 : 0;
}

TEST_WITH(begin, end, a_request_within_a_dump_is_another)
{
    atomic_store(&asks_meanwhile, true);
    ask();
    await(&dumps, 2);
}

TEST_WITH(begin, end, files_are_written_by_the_clock)
{
    int seen;

    (void)state;
    atomic_fetch_add(&clock_ns, STEP_S * INT64_C(1000000000) - 1);
    seen = atomic_load(&drained);
    await(&drained, seen + 2); /* it looked */
    assert_int_equal(atomic_load(&dumps), 0);
    atomic_fetch_add(&clock_ns, 1);
    await(&dumps, 1);
    seen = atomic_load(&drained);
    await(&drained, seen + 2);
    assert_int_equal(atomic_load(&dumps), 1);
}

TEST_WITH(begin, end, the_last_files_are_written_by_the_agent)
{
    embed_inside = false; /* it is, and this thread writes none */
    profile_agent_end();
    assert_int_equal(atomic_load(&dumps), 1);
    assert_false(atomic_load(&is_outside));
    profile_agent_end();
    assert_int_equal(atomic_load(&dumps), 2);
    embed_inside = true;
}

TEST(without_an_agent_who_ends_writes_them)
{
    atomic_store(&dumps, 0);
    profile_agent_end();
    assert_int_equal(atomic_load(&dumps), 1);
    atomic_store(&is_confined, true);
    profile_agent_end();
    assert_int_equal(atomic_load(&dumps), 1);
}

/* There is none after it. */
TEST_WITH(begin, NULL, an_agent_that_leaves_a_confined_process_writes_them)
{
    atomic_store(&is_confined, true);
    profile_agent_stop();
    assert_int_equal(atomic_load(&dumps), 1);
    assert_false(profile_agent_is_running());
    profile_agent_start();
    assert_false(profile_agent_is_running());
    atomic_store(&is_confined, false);
    profile.config.has_agent = false;
    profile_agent_start();
    assert_false(profile_agent_is_running());
    profile.config.has_agent = true;
}

/* ---- clients ---- */

static int
ask_agent(const char *request)
{
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t bytes = strlen(request);
    int length;

    assert_true(client >= 0);
    length = snprintf(&address.sun_path[1], sizeof address.sun_path - 1,
                      PROFILE_SOCKET_NAME "%ld", (long)getpid());
    assert_int_equal(
        connect(client, (const struct sockaddr *)(const void *)&address,
                (socklen_t)(sizeof address.sun_family + 1 + (size_t)length)),
        0);
    assert_int_equal(send(client, request, bytes, 0), bytes);
    return client;
}

static void
expect_answer(int client, const char *want)
{
    char got[256];
    size_t count = 0;
    ssize_t bytes;

    alarm(20);
    while ((bytes = read(client, got + count, sizeof got - 1 - count)) > 0)
        count += (size_t)bytes;
    alarm(0);
    got[count] = '\0';
    assert_string_equal(got, want);
    close(client);
}

/* All at once: the agent looks twenty times a second. */
TEST_WITH(begin, end, clients_are_answered)
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
    int before = atomic_load(&drained);

    await(&drained, before + 2); /* it listens */
    for (int i = 0; i < ROWS; i++)
        clients[i] = ask_agent(rows[i].request);
    for (int i = 0; i < ROWS; i++)
        expect_answer(clients[i], rows[i].answer);
    before = atomic_load(&drained);
    await(&drained, before + 1);
}

/* ---- forks and other signals ---- */

TEST(a_program_that_takes_the_signal_keeps_it)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    assert_int_equal(begin(state), 0);
    assert_int_equal(end(state), 0);
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_IGN);
    action.sa_handler = SIG_DFL;
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    profile.config.folder[0] = '\0'; /* nowhere to write to */
    profile_agent_start();
    assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
    assert_int_equal(end(state), 0);
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
