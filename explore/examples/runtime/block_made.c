/* expect: data race. A thread makes a zeroed block and hands over its address
 * by a relaxed store. The other thread may find the address but not the zeros.
 * Making a block counts as a write of all its bytes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct table {
    int rows;
    int cells[60];
};

static _Atomic(struct table *) shared;

static void *
publish(void *unused)
{
    struct table *table = calloc(1, sizeof *table);

    atomic_store_explicit(&shared, table, memory_order_relaxed);
    return unused;
}

int
main(void)
{
    pthread_t publisher;
    struct table *table;
    int rows = 0;

    pthread_create(&publisher, NULL, publish, NULL);
    table = atomic_load_explicit(&shared, memory_order_relaxed);
    if (table != NULL)
        rows = table->rows;
    pthread_join(publisher, NULL);
    free(atomic_load_explicit(&shared, memory_order_relaxed));
    return rows;
}
