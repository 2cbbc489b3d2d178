/* expect: data race. A function that asks not to be instrumented is: else its
 * accesses would not be seen. */
#include <pthread.h>

static int hits;

__attribute__((noinline, no_sanitize("thread"))) static void
hit(void)
{
    hits++;
}

static void *
visit(void *unused)
{
    hit();
    return unused;
}

int
main(void)
{
    pthread_t visitor;

    pthread_create(&visitor, NULL, visit, NULL);
    hit();
    pthread_join(visitor, NULL);
    return 0;
}
