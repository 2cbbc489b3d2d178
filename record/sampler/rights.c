/*
 * rights.c -- handles changes of the program's credentials. On Linux each
 * thread has its own, and those of the agent must not disturb the program.
 *
 * libc changes the user of all threads at once, and aborts the program if the
 * kernel allows that for some threads only. So the agent ends before the
 * program changes its capabilities, and before it enters a user namespace,
 * which a process with two threads cannot do. The next sample starts an agent
 * with the new credentials, but not in a process that is confined: there the
 * agent writes the last files.
 *
 * A program that does not run as root must set no_new_privs before it installs
 * a filter of system calls. From then on the profiler begins no thread, and
 * opens no file where the filter may apply. The filter does not apply to an
 * agent that already runs.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/sampler/profiler.h"

/*
 * Make a call that must come before a change of the program's credentials,
 * unless a signal handler has interrupted the profiler. The program's own call
 * is not a cancellation point, so this one must not be one, either.
 *
 * returns: was it called?
 */
static bool
ahead(void (*call)(void))
{
    const int saved_errno = errno;
    int cancelling;

    if (embed_inside || !profile_is_on())
        return false;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    embed_inside = true;
    call();
    embed_inside = false;
    errno = saved_errno;
    (void)pthread_setcancelstate(cancelling, NULL);
    return true;
}

static void
count_confinement(int change)
{
    atomic_fetch_add(&profile.confinements, (uint32_t)change);
    embed_stack_memory_confine(atomic_load(&profile.confinements) != 0);
}

/*
 * The process is about to confine itself. If it has no agent, and none can be
 * started, it writes its last files now. There are two exceptions: the child of
 * a vfork, which shares its parent's memory but does not confine its parent,
 * and a forked child without a sample, which usually executes a program next.
 */
static void
confine(void)
{
    const pid_t process = getpid();

    if (process != profile.process) {
        atomic_store(&profile.confined_child, process);
    } else if (atomic_load(&profile.is_idle_child)) {
        count_confinement(1);
    } else {
        const bool is_first = !profile_is_confined();

        profile_agent_start();
        count_confinement(1);
        if (is_first && !profile_agent_is_running())
            profile_dump_files();
    }
}

/* A child of a confined process is confined. */
void
profile_rights_after_fork_child(void)
{
    const pid_t child = atomic_exchange(&profile.confined_child, 0);

    if (child != 0 && child == getppid())
        count_confinement(1);
    profile.process = getpid();
}

/* The call failed. */
static void
unconfine(void)
{
    if (getpid() == profile.process)
        count_confinement(-1);
}

EMBED_HOOK int
prctl(int option, ...)
{
    bool is_confining = false;
    va_list words;
    int status;

    if (option == PR_SET_KEEPCAPS || option == PR_SET_SECUREBITS)
        (void)ahead(profile_agent_stop);
    if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
        is_confining = ahead(confine);
    va_start(words, option);
    status = embed_prctl(option, words);
    va_end(words);
    if (status != 0 && is_confining)
        unconfine();
    return status;
}

EMBED_HOOK int capset(void *header, const void *data); /* of no libc header */

EMBED_HOOK int
capset(void *header, const void *data)
{
    (void)ahead(profile_agent_stop);
    return (int)syscall(SYS_capset, header, data);
}

EMBED_HOOK int
unshare(int flags)
{
    if ((flags & CLONE_NEWUSER) != 0)
        (void)ahead(profile_agent_stop);
    return (int)syscall(SYS_unshare, flags);
}

EMBED_HOOK int
setns(int file, int type)
{
    if (type == 0 || (type & CLONE_NEWUSER) != 0)
        (void)ahead(profile_agent_stop);
    return (int)syscall(SYS_setns, file, type);
}
