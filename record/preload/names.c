/*
 * names.c -- notices when a thread is given a name. Every thread then checks at
 * its next event whether its own name has changed (name_thread_locked() of
 * log.c). prctl() can also confine the process; that is counted here, too.
 */
#include "record/preload/recorder.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int (*real_set_name)(pthread_t, const char *);

void
embed_names_resolve(void)
{
    embed_resolve(&real_set_name, "pthread_setname_np", NULL);
}

EMBED_HOOK int
pthread_setname_np(pthread_t thread, const char *name)
{
    const bool inside = embed_inside;
    int status;

    if (real_set_name == NULL) {
        embed_inside = true;
        embed_names_resolve();
        embed_inside = inside;
    }
    status = real_set_name(thread, name);
    if (status == 0)
        atomic_fetch_add(&embed_names, 1);
    return status;
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
        embed_confine(true);
    va_start(words, option);
    if (is_without_clock(option, words))
        atomic_store(&embed_clock, CLOCK_MONOTONIC_COARSE);
    va_end(words);
    va_start(words, option);
    status = embed_prctl(option, words);
    va_end(words);
    if (confinements != 0 && status != 0)
        embed_confine(false);
    if (status == 0 && option == PR_SET_NAME)
        atomic_fetch_add(&embed_names, 1);
    return status;
}
