/*
 * first_allocation.c -- the program replaces dl_iterate_phdr(); its version
 * holds a lock and calls the loader, which allocates.
 *
 * jemalloc#2282, ClickHouse#66346, gperftools#16: the profiler begins at the
 * first allocation; then its unwinder allocates, and begins it again.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/test/hangs/hang.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Replaces libc's function for everything that is loaded. */
__attribute__((visibility("default"))) int
dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
                void *context)
{
    int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    void *found;
    void *block;
    int status;

    pthread_mutex_lock(&mutex);
    (void)dlsym(RTLD_NEXT, "no_such_function"); /* allocates its error text */
    found = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    block = malloc(100);
    pthread_mutex_unlock(&mutex);
    memcpy(&real, &found, sizeof found);
    status = real(callback, context);
    free(block);
    return status;
}

static int
nothing(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)info;
    (void)bytes;
    (void)context;
    return 0;
}

static void __attribute__((constructor)) begin(void)
{
    free(malloc(10));
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    if (argc > 3) {
        hang_allocate(50);
        dl_iterate_phdr(nothing, NULL);
        return 0;
    }
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        hang_run_again("child");
    }
    return 0;
}
