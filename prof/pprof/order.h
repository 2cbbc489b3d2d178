/* order.h -- a stable order of numbered things, in scratch memory. */
#ifndef PROF_PPROF_ORDER_H
#define PROF_PPROF_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* returns: must thing `a` stand before thing `b`? Equal things: false. */
typedef bool order_before(const void *context, uint32_t a, uint32_t b);

/*
 * Sort the numbers 0 .. count-1; equal things keep the order of their numbers.
 *
 * out:     order[0 .. count)
 * in:      spare, room for as many
 */
void prof_order(uint32_t *order, uint32_t *spare, size_t count,
                order_before *before, const void *context);

#endif
