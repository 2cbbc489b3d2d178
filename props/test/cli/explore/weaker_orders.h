/*
 * weaker_orders.h -- tests of test_mutants_table.c: `profsim mutants
 * --memory-order` says the same as text, as a table, in a report and in shards.
 */
#ifndef PROPS_WEAKER_ORDERS_H
#define PROPS_WEAKER_ORDERS_H

/* in: folder, for files */
void weaker_orders_in_each_form(const char *folder);

#endif
