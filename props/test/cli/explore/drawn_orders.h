/* drawn_orders.h -- `profsim explore --mutants` with sites and searches that
 * are simulated. */
#ifndef DRAWN_ORDERS_H
#define DRAWN_ORDERS_H

#include <stdbool.h>

#include "registry.h"

/* What the command prints, and its report, are those of a model. in: folder,
 * for a file */
void drawn_orders(const char *folder);

/* Of more sites than there is room for, none is left out silently. */
void too_many_orders(void);

/* A search against a weaker order. returns: false if none is simulated */
bool orders_search(const struct sim_kernel *kernel,
                   const struct sim_exhaust_options *options,
                   struct sim_exhaust_result *result);

#endif
