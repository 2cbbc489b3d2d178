/*
 * agent.c -- the thread that writes profiles, on request and at regular times.
 *
 * It listens on an abstract socket: there is no file that others could plant or
 * that must be removed, and the kernel reports which user is at the other end.
 * One request per connection:
 *
 *      client   heap | allocs | mutex | block | cpu | status, and a line feed
 *      agent    OK and a line feed, then the bytes of the profile, to the end;
 *               or ERROR, a space, a reason and a line feed
 *
 * Only the user who owns the process, and root, get a reply. The agent
 * disconnects a client that takes nothing for a second, and any client after
 * ten seconds, so others never wait long.
 *
 * The thread has a descriptor table of its own (close_range() with
 * CLOSE_RANGE_UNSHARE, Linux 5.9). So the program's descriptors have the same
 * numbers as without it, and the program may close numbers that it did not
 * open. On an older kernel the agent's listener is in the program's table, as
 * high as possible, and is identified by its inode before it is used.
 *
 * The thread always blocks all signals, because a signal sent to the process is
 * meant for the program. It is woken by a futex, which a signal handler or
 * exit() can use without any descriptor, and checks twenty times a second
 * whether a client waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "prof/file.h"
#include "prof/process.h"
#include "record/sampler/profiler.h"

enum {
    STACK_BYTES = 256 << 10,
    REQUEST_MAX = 32,
    SILENCE_MS = 1000, /* of a client */
    CLIENT_MS = 10000,
    LOOK_MS = 50,
    CLIENTS_MAX = 64, /* waiting, and served in a row */
    EXIT_MS = 10000,
    STOP_MS = 5000,
    ROOM_ABOVE = 16 /* descriptors */
};

#define NS_PER_MS UINT64_C(1000000)

static struct {
    _Atomic bool is_started;
    _Atomic bool is_running;
    _Atomic bool is_ending;  /* drop clients: files come first */
    _Atomic bool is_leaving; /* it must end; another may follow */
    pthread_t thread;
    _Atomic pid_t process;      /* whose thread it is */
    _Atomic pid_t number;       /* of the thread */
    _Atomic uint32_t requested; /* how often files were requested */
    _Atomic uint32_t written;   /* `requested` as it was when the last complete
                                   files were begun */
    bool has_own_table;         /* of descriptors */
    int listener;
    uint64_t listener_inode;
    uint64_t client_until_ns;
} agent = {.listener = -1};

static uint64_t
now_ns(void)
{
    return (uint64_t)prof_process_monotonic_ns();
}

/* ---- descriptors ---- */

/*
 * Move a descriptor above the numbers that the program may get, if the hard
 * limit allows that, else as high as possible: the program relies on getting
 * the lowest free numbers.
 */
static int
move_up(int descriptor)
{
    struct rlimit limit;
    struct rlimit raised;
    int moved = -1;

    if (descriptor < 0 || agent.has_own_table ||
        getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur > INT_MAX - ROOM_ABOVE)
        return descriptor;
    raised = limit;
    if (limit.rlim_max == RLIM_INFINITY ||
        limit.rlim_cur + ROOM_ABOVE <= limit.rlim_max) {
        raised.rlim_cur += ROOM_ABOVE;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            moved = fcntl(descriptor, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    } else if (limit.rlim_cur > ROOM_ABOVE) {
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC,
                      (int)limit.rlim_cur - ROOM_ABOVE);
    }
    if (moved < 0)
        return descriptor;
    close(descriptor);
    return moved;
}

static uint64_t
inode_of(int descriptor)
{
    struct stat status;

    return descriptor >= 0 && fstat(descriptor, &status) == 0 &&
                   S_ISSOCK(status.st_mode)
               ? (uint64_t)status.st_ino
               : 0;
}

static socklen_t
name_socket(struct sockaddr_un *address)
{
    int length;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    length = snprintf(&address->sun_path[1], sizeof address->sun_path - 1,
                      PROFILE_SOCKET_NAME "%ld", (long)getpid());
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)length);
}

/* returns: false if there is no socket to listen on */
static bool
listen_again(void)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int listener;

    if (agent.listener >= 0 && inode_of(agent.listener) == agent.listener_inode)
        return true;
    bytes = name_socket(&address);
    listener =
        move_up(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (listener >= 0 &&
        (bind(listener, (const struct sockaddr *)(const void *)&address,
              bytes) != 0 ||
         listen(listener, CLIENTS_MAX) != 0)) {
        close(listener);
        listener = -1;
    }
    agent.listener = listener;
    agent.listener_inode = inode_of(listener);
    return listener >= 0;
}

static void
stop_listening(void)
{
    if (agent.listener >= 0 && inode_of(agent.listener) == agent.listener_inode)
        close(agent.listener);
    agent.listener = -1;
}

/* ---- requests ---- */

static bool
is_welcome(int client)
{
    struct ucred who;
    socklen_t bytes = sizeof who;

    return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
           (who.uid == 0 || who.uid == geteuid() || who.uid == getuid());
}

/* A write to a client that is gone must not raise SIGPIPE. */
static enum prof_status
send_all(void *context, const void *bytes, size_t bytes_count)
{
    const int client = *(const int *)context;
    const char *from = bytes;

    while (bytes_count > 0) {
        const ssize_t sent =
            atomic_load(&agent.is_ending) || now_ns() > agent.client_until_ns
                ? 0
                : send(client, from, bytes_count, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return PROF_ERR_SINK;
        from += sent;
        bytes_count -= (size_t)sent;
    }
    return PROF_OK;
}

static void
send_text(int client, const char *text)
{
    (void)send_all(&client, text, strlen(text));
}

static void
send_status(int client)
{
    char text[1024];

    profile_status_print(text, sizeof text);
    send_text(client, "OK\n");
    send_text(client, text);
}

static void
send_profile(int client, enum profile_kind kind)
{
    int to = client;
    const struct prof_sink sink = {.write = send_all, .context = &to};

    if (!profile_has(kind)) {
        send_text(client, "ERROR this profile is not being taken\n");
        return;
    }
    send_text(client, "OK\n");
    /* An incomplete profile must not look complete, so break the connection. */
    if (profile_dump(kind, &sink) != PROF_OK)
        (void)shutdown(client, SHUT_RDWR);
}

static void
answer(int client)
{
    const struct timeval patience = {.tv_sec = SILENCE_MS / 1000};
    char request[REQUEST_MAX + 1];
    ssize_t bytes;

    (void)setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience,
                     sizeof patience);
    (void)setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience,
                     sizeof patience);
    bytes = recv(client, request, REQUEST_MAX, 0);
    if (bytes <= 0 || request[bytes - 1] != '\n')
        return;
    request[bytes - 1] = '\0';
    if (strcmp(request, "status") == 0) {
        send_status(client);
        return;
    }
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        if (strcmp(request, profile_kind_names[kind]) == 0) {
            send_profile(client, (enum profile_kind)kind);
            return;
        }
    send_text(client, "ERROR no such request\n");
}

/* returns: false if no client waits */
static bool
accept_one(void)
{
    const int client =
        move_up(accept4(agent.listener, NULL, NULL, SOCK_CLOEXEC));

    if (client < 0)
        return false;
    agent.client_until_ns = now_ns() + CLIENT_MS * NS_PER_MS;
    if (is_welcome(client))
        answer(client);
    close(client);
    return true;
}

/* ---- the thread ---- */

/* Sleep while *word is `seen`, but at most for `ns`. */
static void
sleep_on(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    const struct timespec limit = {.tv_sec = (time_t)(ns / (1000 * NS_PER_MS)),
                                   .tv_nsec = (long)(ns % (1000 * NS_PER_MS))};

    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static void
wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *
run(void *context)
{
    const uint64_t step_ns = profile.config.every_s * 1000 * NS_PER_MS;
    uint64_t next_ns = step_ns != 0 ? now_ns() + step_ns : UINT64_MAX;
    uint32_t done = atomic_load(&agent.written);

    (void)context;
    atomic_store(&agent.number, (pid_t)syscall(SYS_gettid));
    embed_inside = true; /* for ever: what it allocates is not sampled */
    agent.has_own_table = profile_agent_leave_table();
    while (!atomic_load(&agent.is_leaving)) {
        const uint32_t requested = atomic_load(&agent.requested);

        if (requested != done || now_ns() >= next_ns) {
            profile_dump_files();
            next_ns = step_ns != 0 ? now_ns() + step_ns : UINT64_MAX;
            done = requested;
            atomic_store(&agent.written, requested);
            wake(&agent.written);
        }
        if (profile.cpu != NULL)
            prof_cpu_drain(profile.cpu);
        /* Requested files come before waiting clients. */
        for (int i = 0;
             i < CLIENTS_MAX && atomic_load(&agent.requested) == done &&
             listen_again() && accept_one();
             i++)
            continue;
        sleep_on(&agent.requested, done, LOOK_MS * NS_PER_MS);
        if (agent.has_own_table && profile_agent_is_last()) {
            profile_dump_files();
            profile_agent_end_last();
        }
    }
    if (profile_is_confined())
        profile_dump_files(); /* the last ones: there is no agent after it */
    stop_listening();
    profile_agent_count(1); /* libc counts down now */
    atomic_store(&agent.is_running, false);
    return NULL;
}

/* context: also a signal handler */
static uint32_t
ask_for_files(void)
{
    const uint32_t requested = atomic_fetch_add(&agent.requested, 1) + 1;

    wake(&agent.requested);
    return requested;
}

static void
on_request(int number)
{
    const int saved_errno = errno;

    (void)number;
    (void)ask_for_files();
    errno = saved_errno;
}

static void
take_signal(void)
{
    const struct sigaction action = {.sa_handler = on_request,
                                     .sa_flags = SA_RESTART};
    struct sigaction old;

    if (profile.config.folder[0] == '\0')
        return; /* there is nowhere to write to */
    if (sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)sigaction(SIGUSR2, &action, NULL);
}

void
profile_agent_start(void)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;

    if (!profile.config.has_agent || profile_is_confined() ||
        atomic_load_explicit(&agent.is_started, memory_order_relaxed) ||
        atomic_exchange(&agent.is_started, true))
        return;
    take_signal();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_attr_init(&attributes) == 0) {
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        atomic_store(&agent.process, getpid());
        if (pthread_create(&agent.thread, &attributes, run, NULL) == 0) {
            profile_agent_count(-1);
            atomic_store(&agent.is_running, true);
        }
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* pthread_join() returns a little before the kernel has removed the thread. */
static void
await_end(pid_t process, pid_t number)
{
    const uint64_t until_ns = now_ns() + STOP_MS * NS_PER_MS;
    _Atomic uint32_t nothing = 0;

    while (syscall(SYS_tgkill, process, number, 0) == 0 && now_ns() < until_ns)
        sleep_on(&nothing, 0, NS_PER_MS / 10);
}

/* Does nothing in the child of a vfork, which shares its parent's memory. */
void
profile_agent_stop(void)
{
    const pid_t process = getpid();
    struct timespec until;

    if (!atomic_load(&agent.is_running) ||
        atomic_load(&agent.process) != process ||
        atomic_exchange(&agent.is_leaving, true))
        return;
    atomic_store(&agent.is_ending, true); /* drop clients */
    wake(&agent.requested);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_MS / 1000;
    if (pthread_timedjoin_np(agent.thread, NULL, &until) == 0) {
        await_end(process, atomic_load(&agent.number));
        atomic_store(&agent.is_ending, false);
        atomic_store(&agent.is_leaving, false);
        atomic_store(&agent.is_started, false);
    }
}

bool
profile_agent_is_running(void)
{
    return atomic_load(&agent.is_running);
}

/*
 * If the agent runs, it writes the last files: as a rule it has a table of
 * descriptors of its own. In the program's table, new files would take numbers
 * that another thread may rely on.
 */
void
profile_agent_end(void)
{
    const uint64_t until_ns = now_ns() + EXIT_MS * NS_PER_MS;
    uint32_t requested;
    uint32_t written;

    if (atomic_load(&agent.is_running)) {
        atomic_store(&agent.is_ending, true);
        requested = ask_for_files();
        while ((int32_t)((written = atomic_load(&agent.written)) - requested) <
                   0 &&
               atomic_load(&agent.is_running)) {
            if (now_ns() >= until_ns)
                return;
            sleep_on(&agent.written, written, LOOK_MS * NS_PER_MS);
        }
        if ((int32_t)(written - requested) >= 0)
            return;
    }
    if (!profile_is_confined())
        profile_dump_files();
}

/* The thread no longer exists, nor does its table; a new agent makes a
 * socket. */
void
profile_agent_after_fork_child(bool may_start)
{
    if (!agent.has_own_table)
        stop_listening();
    agent.listener = -1;
    agent.has_own_table = false;
    atomic_store(&agent.is_leaving, false);
    atomic_store(&agent.is_running, false);
    atomic_store(&agent.is_ending, false);
    atomic_store(&agent.requested, 0);
    atomic_store(&agent.written, 0);
    atomic_store(&agent.is_started, !may_start);
}
