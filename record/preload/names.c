/*
 * names.c -- notices when a thread is given a name. Every thread then checks at
 * its next event whether its own name has changed (name_thread_locked() of
 * log.c). prctl() can also confine the process; that is counted here, too.
 */
#include "record/preload/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
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

EMBED_HOOK int
prctl(int option, ...)
{
    const uint32_t confinements = is_confining(option);
    va_list words;
    int status;

    atomic_fetch_add(&embed_confinements, confinements);
    va_start(words, option);
    status = embed_prctl(option, words);
    va_end(words);
    if (status != 0)
        atomic_fetch_sub(&embed_confinements, confinements);
    if (status == 0 && option == PR_SET_NAME)
        atomic_fetch_add(&embed_names, 1);
    return status;
}
