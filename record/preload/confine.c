/*
 * confine.c -- a program that confines itself may not be able to make the calls
 * that the log needs: so room is made for it before, and no call after.
 *
 * prctl() also names threads; that is counted here, too (names.c).
 */
#include "record/preload/recorder.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CONFINED_BYTES (UINT64_C(16) << 20) /* logged after a confinement */

/*
 * The process is about to confine itself (or could not: then in: false). Make
 * room for what can still be logged, as no system call will be made then.
 *
 * context: recorder lock not held
 */
static void
confine(bool is_confined)
{
    const int saved_errno = errno;

    if (is_confined && !embed_inside && embed_enter()) {
        embed_lock();
        while (embed_state->reserved_bytes <
                   embed_state->used_bytes + CONFINED_BYTES &&
               embed_reserve(embed_state->reserved_bytes + 1))
            continue;
        embed_unlock();
        embed_leave();
    }
    if (is_confined)
        atomic_fetch_add(&embed_confinements, 1);
    else
        atomic_fetch_sub(&embed_confinements, 1);
    embed_stack_memory_confine(embed_is_confined());
    errno = saved_errno;
}

/*
 * Does this call confine the process that the log belongs to? The child of a
 * vfork, which finds its parent's log in the shared memory, does not.
 */
static bool
is_confining(int option)
{
    return (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) &&
           (!embed_is_on() || embed_header()->process == 0 ||
            embed_header()->process == (uint32_t)getpid());
}

/* Will reading the exact time end the program? The kernel turns off its
 * instruction together with almost all system calls. */
static bool
is_without_clock(int option, va_list words)
{
    const unsigned long how = option == PR_SET_SECCOMP || option == PR_SET_TSC
                                  ? va_arg(words, unsigned long)
                                  : 0;

    return option == PR_SET_SECCOMP ? how == SECCOMP_MODE_STRICT
                                    : how == PR_TSC_SIGSEGV;
}

EMBED_HOOK int
prctl(int option, ...)
{
    const uint32_t confinements = is_confining(option);
    va_list words;
    int status;

    if (confinements != 0)
        confine(true);
    va_start(words, option);
    if (is_without_clock(option, words))
        atomic_store(&embed_clock, CLOCK_MONOTONIC_COARSE);
    va_end(words);
    va_start(words, option);
    status = embed_prctl(option, words);
    va_end(words);
    if (confinements != 0 && status != 0)
        confine(false);
    if (status == 0 && option == PR_SET_NAME)
        atomic_fetch_add(&embed_names, 1);
    return status;
}
