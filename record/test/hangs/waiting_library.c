/* waiting_library.c -- its constructor waits for a thread that allocates. */
/* build: so=waiting_library.so */
#include <pthread.h>
#include <stdlib.h>

static void *
run(void *context)
{
    for (size_t i = 1; i < 100; i++)
        free(malloc(i));
    return context;
}

static void __attribute__((constructor)) begin(void)
{
    pthread_t thread;

    free(malloc(100));
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
}
