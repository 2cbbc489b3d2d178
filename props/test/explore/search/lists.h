/* lists.h -- a kernel of one thread that makes five choices of four. */
#ifndef LISTS_H
#define LISTS_H

#include "explore.h"

enum { LISTS = 1024 };

extern uint32_t lists_fork; /* the list that is not reducible; LISTS: none */
extern uint32_t lists_fail; /* the lists before this one fail */
extern uint32_t lists_made; /* runs that lists_count() was told of */
extern uint32_t lists_ended[SIM_END_FAILED + 1]; /* ... by their ends */
extern uint64_t lists_sum; /* ... of the graphs of complete ones */

/* Nothing fails, is irreducible or has been made. */
struct sim_kernel lists_kernel(void (*setup)(void *context));

void lists_count(void *context, const struct sim_run *run);

#endif
