/* agent_stubs.c -- see agent_stubs.h. */
#include "agent_stubs.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

#define AGENT agent_stubs

struct agent_stubs agent_stubs = {.clock_ns = 1000, .client_user = AGENT_USER};
_Thread_local int agent_wakes, agent_sleeps;

struct profile profile = {
    .config = {.has_agent = true, .every_s = AGENT_STEP_S}};
_Thread_local bool embed_inside;
const char *const profile_kind_names[PROFILE_KINDS] = {"heap", "allocs",
                                                       "mutex", "block", "cpu"};

_Thread_local const int64_t *agent_next_ns;
_Thread_local void (*agent_at_clock)(void);
static _Thread_local time_t agent_ends_at; /* the test ends it; 0: not yet */

int64_t prof_process_monotonic_ns(void);
int64_t
prof_process_monotonic_ns(void)
{
    if (agent_at_clock != NULL)
        agent_at_clock();
    return agent_next_ns != NULL ? *agent_next_ns++
                                 : atomic_load(&AGENT.clock_ns);
}

/* ---- the system ---- */

/* The agent looks for clients twenty times a second. Who waits for the end of
 * its thread looks much more often, at a word that nobody changes. */
static void
expect_sleep(_Atomic uint32_t *word, uint32_t seen,
             const struct timespec *limit)
{
    assert_int_equal(limit->tv_sec, 0);
    if (limit->tv_nsec == 50000000)
        return;
    assert_in_range(limit->tv_nsec, 1, 1000000);
    assert_int_equal(atomic_load(word), seen);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    const int count = number == SYS_futex ? 6 : 3;
    const struct timespec *limit;
    va_list list;
    long words[6] = {0};

    va_start(list, number);
    for (int i = 0; i < count; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && (int)words[1] == FUTEX_WAKE_PRIVATE) {
        assert_int_equal((int)words[2], INT_MAX);
        agent_wakes++;
        errno = EAGAIN;
    } else if (number == SYS_futex) {
        assert_int_equal((int)words[1], FUTEX_WAIT_PRIVATE);
        limit = (const struct timespec *)words[3];
        expect_sleep((_Atomic uint32_t *)words[0], (uint32_t)words[2], limit);
        agent_sleeps++;
    }
    if (number == SYS_close_range && atomic_load(&AGENT.is_old_kernel))
        return -1;
    if (number == SYS_tgkill) {
        atomic_store(&AGENT.asked_process, (pid_t)words[0]);
        atomic_store(&AGENT.asked_number, (pid_t)words[1]);
        assert_int_equal((int)words[2], 0);
        atomic_fetch_add(&AGENT.lingers_asked, 1);
        atomic_fetch_add(&AGENT.clock_ns, 1000000000);
        if (AGENT.lingers > 0 && AGENT.lingers-- > 0)
            return 0;
    }
    return __real_syscall(number, words[0], words[1], words[2], words[3],
                          words[4], words[5]);
}

/* Sanitizers ask for other limits, and set them, before main(). */
int __real_getrlimit(int which, struct rlimit *to);
int __wrap_getrlimit(int which, struct rlimit *to);
int
__wrap_getrlimit(int which, struct rlimit *to)
{
    if (which != RLIMIT_NOFILE)
        return __real_getrlimit(which, to);
    *to = AGENT.files_limit;
    return AGENT.has_no_limit ? -1 : 0;
}

int __real_setrlimit(int which, const struct rlimit *from);
int __wrap_setrlimit(int which, const struct rlimit *from);
int
__wrap_setrlimit(int which, const struct rlimit *from)
{
    if (which != RLIMIT_NOFILE)
        return __real_setrlimit(which, from);
    assert_int_equal(from->rlim_max, AGENT.files_limit.rlim_max);
    if (from->rlim_cur > AGENT.files_limit.rlim_cur)
        AGENT.raised_to = from->rlim_cur;
    atomic_fetch_add(&AGENT.raises, 1);
    if (AGENT.cannot_raise)
        return -1;
    AGENT.files_limit = *from;
    return 0;
}

int __real_pthread_timedjoin_np(pthread_t thread, void **result,
                                const struct timespec *until);
int __wrap_pthread_timedjoin_np(pthread_t thread, void **result,
                                const struct timespec *until);
int
__wrap_pthread_timedjoin_np(pthread_t thread, void **result,
                            const struct timespec *until)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    assert_in_range(until->tv_sec, agent_ends_at + 5, now.tv_sec + 5);
    return atomic_load(&AGENT.is_slow)
               ? ETIMEDOUT
               : __real_pthread_timedjoin_np(thread, result, until);
}

/* Call the signal's handler directly, on the calling thread. */
void
agent_ask(void)
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
    atomic_fetch_add(&AGENT.dumps_begun, 1);
    if (!embed_inside)
        atomic_store(&AGENT.is_outside, true);
    if (profile_is_confined()) /* who exits meanwhile waits for it */
        assert_true(profile_agent_is_running());
    if (atomic_exchange(&AGENT.asks_meanwhile, false))
        agent_ask();
    for (int i = 0; i < 10000 && atomic_load(&AGENT.dump_hangs); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_add(&AGENT.clock_ns, atomic_load(&AGENT.dump_takes_ns));
    atomic_fetch_add(&AGENT.dumps, 1);
}

bool
profile_is_confined(void)
{
    return atomic_load(&AGENT.is_confined);
}

bool
profile_has(enum profile_kind kind)
{
    return kind != PROFILE_BLOCK;
}

/* In the middle of the CPU profile the client's time runs out. */
enum prof_status
profile_dump(enum profile_kind kind, const struct prof_sink *sink)
{
    char text[] = "profile ?";
    enum prof_status status;

    text[8] = (char)('0' + kind);
    AGENT.dumps_before = atomic_load(&AGENT.dumps);
    if (kind == PROFILE_MUTEX) {
        /* As a forked child does, it keeps the connection open. */
        assert_true(dup(*(const int *)sink->context) >= 0);
        return PROF_ERR_MEMORY;
    }
    if (kind == PROFILE_HEAP) /* the time that a client has */
        atomic_fetch_add(&AGENT.clock_ns, 10000000000);
    status = sink->write(sink->context, text, 9);
    assert_int_equal(status, PROF_OK);
    if (kind == PROFILE_CPU) {
        atomic_fetch_add(&AGENT.clock_ns, 10000000001);
        status = sink->write(sink->context, text, 9);
        assert_int_equal(status, PROF_ERR_SINK);
    }
    atomic_fetch_or(&AGENT.written, 1u << kind);
    return status;
}

void
profile_status_print(char *to, size_t bytes)
{
    for (int i = 0; i < 10000 && atomic_load(&AGENT.reply_hangs); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (atomic_exchange(&AGENT.asks_in_reply, false))
        agent_ask();
    snprintf(to, bytes, "is fine");
}

void
prof_cpu_drain(struct prof_cpu *cpu)
{
    sigset_t mask;

    (void)cpu;
    atomic_store(&AGENT.agent_number, gettid());
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&AGENT.masked, sigismember(&mask, SIGUSR1) &&
                                    sigismember(&mask, SIGPROF) &&
                                    sigismember(&mask, SIGCHLD));
    atomic_fetch_add(&AGENT.drained, 1);
}

void
agent_await(_Atomic int *count, int at_least)
{
    const struct timespec tick = {.tv_nsec = 1000000};

    for (int i = 0; i < 10000 && atomic_load(count) < at_least; i++)
        nanosleep(&tick, NULL);
    assert_true(atomic_load(count) >= at_least);
}

int
agent_begin(void **state)
{
    (void)state;
    embed_inside = true;
    profile.cpu = (struct prof_cpu *)(void *)&profile;
    strcpy(profile.config.folder, "somewhere");
    atomic_store(&AGENT.dumps, 0);
    atomic_store(&AGENT.drained, 0);
    atomic_store(&AGENT.is_confined, false);
    profile_agent_start();
    agent_await(&AGENT.drained, 1); /* it has read the clock */
    return profile_agent_is_running() ? 0 : -1;
}

int
agent_end(void **state)
{
    struct timespec now;

    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    agent_ends_at = now.tv_sec;
    profile_agent_stop();
    return profile_agent_is_running() ? -1 : 0;
}

int __real_getsockopt(int socket, int level, int option, void *to,
                      socklen_t *bytes);
int __real_setsockopt(int socket, int level, int option, const void *from,
                      socklen_t bytes);
ssize_t __real_send(int socket, const void *from, size_t bytes, int flags);

uid_t __wrap_getuid(void);
uid_t
__wrap_getuid(void)
{
    return AGENT_USER;
}

uid_t __wrap_geteuid(void);
uid_t
__wrap_geteuid(void)
{
    return AGENT_EFFECTIVE;
}

/* Only the agent's calls are wrapped; this file's own go to libc. */
int __wrap_getsockopt(int socket, int level, int option, void *to,
                      socklen_t *bytes);
int
__wrap_getsockopt(int socket, int level, int option, void *to, socklen_t *bytes)
{
    const int user = atomic_load(&AGENT.client_user);
    struct ucred *const who = to;

    if (option != SO_PEERCRED)
        return __real_getsockopt(socket, level, option, to, bytes);
    assert_int_equal(level, SOL_SOCKET);
    assert_int_equal(*bytes, sizeof *who);
    *who = (struct ucred){.uid = user < 0 ? AGENT_USER : (uid_t)user};
    return user < 0 ? -1 : 0;
}

int __wrap_setsockopt(int socket, int level, int option, const void *from,
                      socklen_t bytes);
int
__wrap_setsockopt(int socket, int level, int option, const void *from,
                  socklen_t bytes)
{
    /* A long time limit: the test may have to wait for a processor. */
    const struct timeval longer = {.tv_sec = 100};
    const struct timeval *const patience = from;

    (void)socket;
    assert_int_equal(level, SOL_SOCKET);
    assert_true(option == SO_RCVTIMEO || option == SO_SNDTIMEO);
    assert_int_equal(bytes, sizeof *patience);
    if (patience->tv_sec == 1 && patience->tv_usec == 0)
        atomic_fetch_add(&AGENT.patience_set, option == SO_RCVTIMEO ? 1 : 100);
    return __real_setsockopt(socket, level, option, &longer, sizeof longer);
}

/* A few bytes at a time, and the last one alone. */
ssize_t __wrap_send(int socket, const void *from, size_t bytes, int flags);
ssize_t
__wrap_send(int socket, const void *from, size_t bytes, int flags)
{
    if ((flags & MSG_NOSIGNAL) == 0)
        return __real_send(socket, from, bytes, flags);
    assert_true(bytes > 0);
    if (atomic_load(&AGENT.interrupted) > 0) {
        atomic_fetch_sub(&AGENT.interrupted, 1);
        if (atomic_load(&AGENT.interrupted_for_long))
            atomic_fetch_add(&AGENT.clock_ns, 10000000001);
        errno = EINTR;
        return -1;
    }
    return __real_send(socket, from, bytes < 6 ? (bytes + 1) / 2 : 5, flags);
}

/* ---- clients ---- */

int
agent_client(const char *request)
{
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t bytes = strlen(request);
    int length;

    assert_true(client >= 0);
    length = snprintf(&address.sun_path[1], sizeof address.sun_path - 1,
                      PROFILE_SOCKET_NAME "%ld", (long)getpid());
    for (int tries = 0;
         connect(client, (const struct sockaddr *)(const void *)&address,
                 (socklen_t)(sizeof address.sun_family + 1 + (size_t)length)) !=
         0;
         tries++) {
        assert_int_equal(errno, ECONNREFUSED); /* no listener yet */
        assert_in_range(tries, 0, 5000);
        usleep(1000);
    }
    assert_int_equal(send(client, request, bytes, 0), bytes);
    return client;
}

void
agent_expect(int client, const char *want)
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
