/*
 * dump_while_allocating.c -- profiles are requested while all threads allocate,
 * resize, free and wait for locks.
 *
 * gperftools#382, cpython#130093, #139116: the dump allocates under its own
 * lock, or takes locks in the opposite order of an allocation.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "record/test/hangs/hang.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *shared;
static _Atomic uint32_t turns;

static void
allocate(void)
{
    hang_allocate(100);
    pthread_mutex_lock(&mutex);
    free(shared); /* usually another thread's block */
    shared = malloc(300);
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&turns, 1);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    hang_threads_begin(3, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t before = atomic_load(&turns);

        hang_round();
        hang_dump();
        while (atomic_load(&turns) - before < 4)
            allocate();
    }
    hang_threads_end();
    free(shared);
    return 0;
}
