/* expect: holds. By POSIX a signal that wakes a thread, and the end of its
 * wait, synchronise memory: what was done before the signal is seen, even if
 * the one who signals does not have the lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static bool has_waiter;
static atomic_int level;

static void *
fill(void *unused)
{
    bool wanted;

    pthread_mutex_lock(&lock);
    wanted = has_waiter;
    pthread_mutex_unlock(&lock);
    if (wanted) {
        atomic_store_explicit(&level, 1, memory_order_relaxed);
        pthread_cond_signal(&filled);
    }
    return unused;
}

int
main(void)
{
    pthread_t filler;

    pthread_mutex_lock(&lock);
    pthread_create(&filler, NULL, fill, NULL);
    has_waiter = true;
    while (atomic_load_explicit(&level, memory_order_relaxed) == 0)
        pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(filler, NULL);
    return 0;
}
