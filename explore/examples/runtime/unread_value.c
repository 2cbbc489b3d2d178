/* expect: data race. A value that is read and not used: the optimiser removes
 * the read, so the race is found at -O0. */
#include <pthread.h>

static int level;

static void *
peek(void *unused)
{
    int before = level;

    (void)before;
    return unused;
}

int
main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, peek, NULL);
    level = 1;
    pthread_join(thread, NULL);
    return 0;
}
