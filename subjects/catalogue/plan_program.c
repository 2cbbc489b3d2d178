/* plan_program.c -- see plan_program.h. */
#include "subjects/catalogue/plan_program.h"

#include <pthread.h>

unsigned
make(unsigned site)
{
    unsigned address;

    call_begin();
    change_begin(site, 1);
    address = profiler.alloc(site, site_bytes(site));
    change_end(site, 1);
    call_end();
    return address;
}

void
drop(unsigned address, unsigned site)
{
    call_begin();
    change_begin(site, -1);
    profiler.free(address);
    change_end(site, -1);
    call_end();
}

unsigned
change(unsigned address, unsigned old_site, unsigned site)
{
    unsigned result;

    call_begin();
    change_begin(old_site, -1);
    change_begin(site, 1);
    result = profiler.resize(site, address, site_bytes(site));
    change_end(site, 1);
    change_end(old_site, -1);
    call_end();
    return result;
}

void
turn(bool on)
{
    world_watch(on);
    if (!on && profiler.turn_forgets)
        world_forget();
    profiler.turn(on);
}

/* ---- Threads ---- */

static pthread_t threads[2];

static void (*works[2])(void);

static void *
run_thread(void *work)
{
    if (profiler.thread_begin != NULL)
        profiler.thread_begin();
    (*(void (**)(void))work)();
    if (profiler.thread_end != NULL)
        profiler.thread_end();
    return NULL;
}

void
start(unsigned thread, void (*work)(void))
{
    works[thread] = work;
    pthread_create(&threads[thread], NULL, run_thread, &works[thread]);
}

void
join(unsigned thread)
{
    pthread_join(threads[thread], NULL);
}
