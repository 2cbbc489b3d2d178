/*
 * names.c -- notices when a thread is given a name. Every thread then checks at
 * its next event whether its own name has changed (name_thread_locked() of
 * log.c). prctl(PR_SET_NAME) is noticed in confine.c.
 */
#include "record/preload/recorder.h"

#include <pthread.h>

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
