/* expect: data race. A constructor makes a thread, which counts while main
 * does. BROKEN: exit. A destructor finds what the constructor has left. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_t helper;
static int count;
static int open;

static void *
help(void *unused)
{
    count++;
    return unused;
}

__attribute__((constructor)) static void
begin(void)
{
    open++;
#ifndef BROKEN
    pthread_create(&helper, NULL, help, NULL);
#else
    (void)helper;
    (void)help;
#endif
}

__attribute__((destructor)) static void
end(void)
{
    assert(open == 0);
}

int
main(void)
{
    count++;
    assert(open == 1);
    return 0;
}
