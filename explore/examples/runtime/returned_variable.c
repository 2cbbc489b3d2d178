/* expect: use of memory that is gone. A job tells another thread where its
 * counter is, and does not wait for it. The counter is a variable of a function
 * that has then returned, though the thread goes on. */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(atomic_int *) counter;

static __attribute__((noinline)) void
begin_job(void)
{
    atomic_int steps = 0;

    atomic_store_explicit(&counter, &steps, memory_order_release);
}

static void *
job(void *unused)
{
    begin_job();
    return unused;
}

int
main(void)
{
    pthread_t thread;
    atomic_int *steps;

    pthread_create(&thread, NULL, job, NULL);
    steps = atomic_load_explicit(&counter, memory_order_acquire);
    if (steps != NULL)
        atomic_fetch_add(steps, 1);
    pthread_join(thread, NULL);
    return 0;
}
