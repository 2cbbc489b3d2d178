/*
 * rights.c -- the program changes what a thread of it may do. Linux has such
 * rights for each thread; the agent's must not be in the way.
 *
 * libc changes the user of all threads at once, and aborts the program if one
 * may and another may not. So the agent ends before the program changes its
 * capabilities, and before it enters a user namespace, which a process with two
 * threads cannot do. The next sample begins an agent with the new rights.
 *
 * A filter of system calls needs no_new_privs ahead of it, unless it is root's.
 * From then on no thread is begun and no file opened where the filter may be:
 * the agent, which is there already, is not under it.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile.h"

/* Call it, ahead of a change, unless the profiler itself is interrupted. */
static void
ahead(void (*call)(void))
{
    const int saved_errno = errno;

    if (embed_inside || !profile_is_on() || profile_is_confined())
        return;
    embed_inside = true;
    call();
    embed_inside = false;
    errno = saved_errno;
}

static void
prepare(int option)
{
    switch (option) {
    case PR_SET_KEEPCAPS:
    case PR_SET_SECUREBITS:
        ahead(profile_agent_stop);
        break;
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_SECCOMP:
        ahead(profile_agent_before_confined);
        break;
    }
}

/* As libc has it: the call takes what it needs of the four. */
EMBED_HOOK int
prctl(int option, ...)
{
    unsigned long words[4];
    va_list end;

    va_start(end, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(end, unsigned long);
    va_end(end);
    prepare(option);
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2],
                        words[3]);
}

EMBED_HOOK int capset(void *header, const void *data); /* of no libc header */

EMBED_HOOK int
capset(void *header, const void *data)
{
    ahead(profile_agent_stop);
    return (int)syscall(SYS_capset, header, data);
}

EMBED_HOOK int
unshare(int flags)
{
    if ((flags & CLONE_NEWUSER) != 0)
        ahead(profile_agent_stop);
    return (int)syscall(SYS_unshare, flags);
}

EMBED_HOOK int
setns(int file, int type)
{
    if (type == 0 || (type & CLONE_NEWUSER) != 0)
        ahead(profile_agent_stop);
    return (int)syscall(SYS_setns, file, type);
}
