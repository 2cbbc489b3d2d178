/*
 * test_profile_descriptors.c -- the agent's descriptors on a kernel where its
 * thread shares those of the program.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_stubs.h"
#include "unit_test.h"

#define AGENT agent_stubs

enum { FILES_MAX = 400 };

static _Atomic ino_t inode_of_files; /* if not 0: of all but sockets */

int __real_fstat(int file, struct stat *status);
int __wrap_fstat(int file, struct stat *status);
int
__wrap_fstat(int file, struct stat *status)
{
    const int got = __real_fstat(file, status);

    if (got == 0 && !S_ISSOCK(status->st_mode) && inode_of_files != 0)
        status->st_ino = inode_of_files;
    return got;
}

static int
count_files(void)
{
    int count = 0;

    for (int file = 0; file < FILES_MAX; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

/* returns: the agent's listening descriptor, -1 if there is none */
static int
find_listener(void)
{
    for (int file = 0; file < FILES_MAX; file++) {
        int listens = 0;
        socklen_t bytes = sizeof listens;

        if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) ==
                0 &&
            listens != 0)
            return file;
    }
    return -1;
}

static void
begin_on_old_kernel(rlim_t soft, rlim_t hard)
{
    int seen;

    AGENT.files_limit = (struct rlimit){soft, hard};
    AGENT.raised_to = 0;
    atomic_store(&AGENT.raises, 0);
    atomic_store(&AGENT.is_old_kernel, true);
    assert_int_equal(agent_begin(NULL), 0);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2); /* it has listened since */
}

static int
end_on_old_kernel(void **state)
{
    const int status = agent_end(state);

    atomic_store(&AGENT.is_old_kernel, false);
    return status;
}

/* The descriptor is above those that the program may get, or if that is not
 * possible as high as it may be. */
TEST_WITH(NULL, end_on_old_kernel, the_agents_descriptors_are_high)
{
    static const struct {
        rlim_t soft, hard, raised;
        int number; /* 0: the lowest free one */
    } rows[] = {{300, 4096, 316, 300},
                {300, RLIM_INFINITY, 316, 300},
                {300, 316, 316, 300},
                {300, 315, 0, 284},
                {300, 300, 0, 284},
                {16, 16, 0, 0},
                {INT_MAX - 16, RLIM_INFINITY, INT_MAX, 0},
                {INT_MAX - 15, RLIM_INFINITY, 0, 0},
                {RLIM_INFINITY, RLIM_INFINITY, 0, 0}};
    const int before = count_files();
    const int lowest = dup(0);
    const int next = dup(0);

    close(lowest);
    close(next);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int listener;

        begin_on_old_kernel(rows[i].soft, rows[i].hard);
        listener = find_listener();
        assert_int_equal(listener,
                         rows[i].number != 0 ? rows[i].number : lowest);
        assert_int_equal(fcntl(listener, F_GETFD), FD_CLOEXEC);
        assert_int_equal(count_files(), before + 1);
        assert_int_equal(AGENT.raised_to, rows[i].raised);
        /* Raised for the listener alone, and set back. */
        assert_int_equal(atomic_load(&AGENT.raises), rows[i].raised ? 2 : 0);
        assert_int_equal(AGENT.files_limit.rlim_cur, rows[i].soft);
        assert_int_equal(agent_end(state), 0);
        assert_int_equal(count_files(), before);
    }
    begin_on_old_kernel(17, 17); /* from 1 on, while it has the lowest */
    assert_int_equal(find_listener(), next);
    assert_int_equal(agent_end(state), 0);
    AGENT.has_no_limit = true;
    begin_on_old_kernel(300, 4096);
    assert_int_equal(find_listener(), lowest);
    assert_int_equal(atomic_load(&AGENT.raises), 0);
    AGENT.has_no_limit = false;
    assert_int_equal(agent_end(state), 0);
    AGENT.cannot_raise = true;
    begin_on_old_kernel(300, 4096);
    assert_int_equal(find_listener(), lowest);
    AGENT.cannot_raise = false;
}

/* A daemon closes its standard input: then 0 is a valid descriptor. */
TEST_WITH(NULL, end_on_old_kernel, the_lowest_number_is_a_number)
{
    const int input = dup(0);

    close(0);
    begin_on_old_kernel(300, 4096);
    assert_int_equal(find_listener(), 300);
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_true(fcntl(0, F_GETFD) < 0);
    assert_int_equal(agent_end(state), 0);
    begin_on_old_kernel(16, 16); /* no higher one is possible */
    assert_int_equal(find_listener(), 0);
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_int_equal(find_listener(), 0);
    assert_int_equal(agent_end(state), 0);
    assert_true(fcntl(0, F_GETFD) < 0);
    assert_int_equal(dup2(input, 0), 0);
    begin_on_old_kernel(16, 16);
    close(0); /* the next client gets it */
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_true(fcntl(0, F_GETFD) < 0);
    assert_int_equal(agent_end(state), 0);
    assert_int_equal(dup2(input, 0), 0);
    close(input);
    begin_on_old_kernel(300, 4096);
}

/* Count files when the agent is not trying to listen: then it has one more. */
static int
count_files_between(void)
{
    int fewest = count_files();

    for (int i = 0; i < 100; i++) {
        const int count = count_files();

        fewest = count < fewest ? count : fewest;
        usleep(500);
    }
    return fewest;
}

/* Another socket has the agent's name: the agent closes its own and tries
 * again. */
TEST_WITH(NULL, end_on_old_kernel, without_a_name_nothing_is_left_open)
{
    const int before = count_files();
    int listener;
    int other;
    int seen;

    begin_on_old_kernel(300, 4096);
    listener = find_listener();
    other = dup(listener); /* keeps the socket's name in use */
    close(listener);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 3);
    assert_int_equal(count_files_between(), before + 1);
    close(other);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(find_listener(), listener);
    agent_expect(agent_client("status\n"), "OK\nis fine");
}

/* On a newer kernel the agent's thread has descriptors of its own: the program
 * sees none of them, and the agent none of the program's. */
TEST_WITH(agent_begin, agent_end, a_thread_with_a_table_of_its_own_has_no_more)
{
    char byte;
    int ends[2];

    if (syscall(SYS_close_range, ~0U, ~0U, 1U << 1) != 0)
        skip(); /* this kernel is old */
    assert_int_equal(find_listener(), -1);
    assert_int_equal(agent_end(state), 0);
    AGENT.files_limit = (struct rlimit){300, 4096};
    atomic_store(&AGENT.raises, 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(agent_begin(state), 0);
    assert_int_equal(find_listener(), -1);
    close(ends[1]);
    alarm(20);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* no other holder */
    alarm(0);
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_int_equal(atomic_load(&AGENT.raises), 0); /* any number will do */
    close(ends[0]);
}

/* A program may close the agent's descriptor, and get the same number for a
 * file of its own. */
TEST_WITH(NULL, end_on_old_kernel, a_number_that_the_program_took_is_its_own)
{
    int listener;
    int pair[2];
    int seen;

    begin_on_old_kernel(300, 4096);
    listener = find_listener();
    close(listener);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(find_listener(), listener); /* the agent opened it again */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(dup2(pair[0], listener), listener);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(find_listener(), listener + 1);
    agent_expect(agent_client("status\n"), "OK\nis fine");
    assert_int_equal(dup2(pair[0], listener + 1), listener + 1);
    assert_int_equal(agent_end(state), 0);
    assert_int_equal(find_listener(), -1);
    for (int i = 0; i < 2; i++) {
        assert_true(fcntl(listener + i, F_GETFD) >= 0);
        close(listener + i);
        close(pair[i]);
    }
    begin_on_old_kernel(300, 4096);
}

/* Sockets and files are numbered apart, so a file may have the listener's
 * inode. */
TEST_WITH(NULL, end_on_old_kernel, a_file_is_no_socket)
{
    struct stat status;
    int listener;
    int seen;

    begin_on_old_kernel(300, 4096);
    listener = find_listener();
    assert_int_equal(fstat(listener, &status), 0);
    inode_of_files = status.st_ino;
    assert_int_equal(dup2(0, listener), listener);
    seen = atomic_load(&AGENT.drained);
    agent_await(&AGENT.drained, seen + 2);
    assert_int_equal(find_listener(), listener + 1);
    inode_of_files = 0;
    assert_int_equal(agent_end(state), 0);
    assert_true(fcntl(listener, F_GETFD) >= 0);
    close(listener);
    begin_on_old_kernel(300, 4096);
}

TEST_WITH(NULL, end_on_old_kernel, a_child_has_no_listener)
{
    pid_t child;
    int status;

    (void)state;
    begin_on_old_kernel(300, 4096);
    assert_true(find_listener() >= 0);
    child = fork();
    if (child == 0) {
        alarm(20);
        profile_agent_after_fork_child(false);
        _exit(find_listener() >= 0 || profile_agent_is_running());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(find_listener() >= 0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
