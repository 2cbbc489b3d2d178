/* expect: holds, waits to a bound. Each round of a wait loop counts itself, in
 * an atomic or a plain variable. Rounds are explored to a bound. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int ready;
static atomic_int stop;
static atomic_int tries;
static unsigned idle;

static void *
serve(void *unused)
{
    atomic_store(&ready, 1);
    while (!atomic_load(&stop))
        idle++;
    return unused;
}

int
main(void)
{
    pthread_t server;

    pthread_create(&server, NULL, serve, NULL);
    while (!atomic_load(&ready))
        atomic_fetch_add(&tries, 1);
    atomic_store(&stop, 1);
    pthread_join(server, NULL);
    return 0;
}
