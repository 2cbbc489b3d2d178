/*
 * replaced_iterator.c -- K13, ClickHouse#66346: the unwinder calls a replaced
 * dl_iterate_phdr, which looks up the real one. The look-up allocates, all
 * under the lock of the initialisation.
 */
#include "subjects/catalogue/bugs/first_walk.h"

static void (*real_iterate)(void);

/* dlsym() allocates its error's text. */
static void
look_up(void)
{
    heap_give(alloc(SITE_INSIDE, 8));
    real_iterate = unwind;
}

static void
walk(void)
{
    if (real_iterate == NULL)
        look_up();
    real_iterate();
}
