/* lists.c -- see lists.h. */
#include "lists.h"

#include <string.h>

uint32_t lists_fork;
uint32_t lists_fail;
uint32_t lists_made;
uint32_t lists_ended[SIM_END_FAILED + 1];
uint64_t lists_sum;

/* returns: the number of the list */
static uint32_t
draw_list(void)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < 5; i++)
        number = 4 * number + sim_explore_choose(4, SIM_DATA);
    return number;
}

static void
one_list(void *context, uint32_t thread)
{
    const uint32_t number = draw_list();

    (void)context;
    (void)thread;
    if (number == lists_fork)
        sim_explore_barrier(); /* it is not announced */
    if (number < lists_fail)
        sim_explore_fail(number == 0 ? "the first list" : "another list");
}

void
lists_count(void *context, const struct sim_run *run)
{
    (void)context;
    lists_made++;
    lists_ended[run->end]++;
    lists_sum += run->end == SIM_END_COMPLETE ? run->graph[0] : 0;
}

struct sim_kernel
lists_kernel(void (*setup)(void *context))
{
    lists_fork = LISTS;
    lists_fail = 0;
    lists_made = 0;
    lists_sum = 0;
    memset(lists_ended, 0, sizeof lists_ended);
    return (struct sim_kernel){.name = "lists",
                               .about = "any",
                               .setup = setup,
                               .threads = {{"t", one_list, NULL}},
                               .threads_count = 1};
}
