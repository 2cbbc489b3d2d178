/* expect: holds, graphs 1. Variables may be lent to another thread that is done
 * with them before their function returns; the next call has others in their
 * place. So has a block of alloca(). */
#include <alloca.h>
#include <assert.h>
#include <pthread.h>

static void *
square(void *number)
{
    *(int *)number *= *(int *)number;
    return number;
}

static int
square_elsewhere(int number)
{
    int *block = alloca(2 * sizeof *block);
    pthread_t thread;

    block[1] = number;
    pthread_create(&thread, NULL, square, &block[1]);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, square, &number);
    pthread_join(thread, NULL);
    return number + block[1];
}

int
main(void)
{
    int sum = 0;

    for (int i = 1; i <= 2; i++)
        sum += square_elsewhere(i);
    assert(sum == 10);
    return 0;
}
