/* expect: holds, graphs 3. Only orders matter in which the ticket was drawn
 * before it is looked at; each of three counters may be open. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void profsim_assume(int holds);
unsigned profsim_choose(unsigned bound);

static atomic_int drawn;
static int ticket;

static void *
draw(void *unused)
{
    ticket = 7;
    atomic_store_explicit(&drawn, 1, memory_order_release);
    return unused;
}

int
main(void)
{
    const unsigned counter = profsim_choose(3);
    pthread_t customer;

    pthread_create(&customer, NULL, draw, NULL);
    profsim_assume(atomic_load_explicit(&drawn, memory_order_acquire));
    assert(ticket == 7 && counter < 3);
    pthread_join(customer, NULL);
    return 0;
}
