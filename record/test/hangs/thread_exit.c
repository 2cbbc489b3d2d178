/*
 * thread_exit.c -- threads end while a profile is made; their destructors still
 * allocate, and others free what they leave.
 *
 * jemalloc#2681: a crash when a thread's record is destroyed while another
 * thread frees its last sampled block.
 */
#include <pthread.h>
#include <stdlib.h>

#include "record/test/hangs/hang.h"

enum { THREADS = 6, CROWD = 140, CROWD_EVERY = 100 };

static pthread_key_t key;

/* Sets its key again, so it is called until the library gives up
 * (PTHREAD_DESTRUCTOR_ITERATIONS). */
static void
destroy(void *block)
{
    free(block);
    hang_allocate(10);
    pthread_setspecific(key, malloc(100));
}

static void *
run(void *context)
{
    pthread_setspecific(key, malloc(10));
    hang_allocate(30);
    (void)context;
    return malloc(500);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);
    pthread_t threads[CROWD];

    pthread_key_create(&key, destroy);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t count = i % CROWD_EVERY == 5 ? CROWD : THREADS;

        hang_round();
        for (uint32_t t = 0; t < count; t++)
            hang_must(pthread_create(&threads[t], NULL, run, NULL) == 0,
                      "no thread");
        if (i % 4 == 0)
            hang_dump();
        for (uint32_t t = 0; t < count; t++) {
            void *block = NULL;

            pthread_join(threads[t], &block);
            free(block);
        }
    }
    return 0;
}
