/*
 * phdr_callback.c -- a thread allocates, while another thread waits for it
 * inside a callback of dl_iterate_phdr().
 *
 * async-profiler#1151, gperftools#1188, #1583: inside the allocator the
 * profiler unwinds by dl_iterate_phdr(), which waits for a lock that the other
 * thread holds; and that thread waits for the allocation.
 */
#include <link.h>
#include <semaphore.h>

#include "record/test/hangs/hang.h"

static sem_t requested;
static sem_t done;

static void
allocate_when_requested(void)
{
    while (sem_wait(&requested) != 0)
        continue;
    hang_allocate(40);
    sem_post(&done);
}

static int
on_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)info;
    (void)bytes;
    (void)context;
    sem_post(&requested);
    while (sem_wait(&done) != 0)
        continue;
    return 1;
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    sem_init(&requested, 0, 0);
    sem_init(&done, 0, 0);
    hang_threads_begin(1, allocate_when_requested);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        dl_iterate_phdr(on_object, NULL);
    }
    return 0;
}
