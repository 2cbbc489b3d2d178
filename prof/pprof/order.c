/* order.c -- merge sort from the bottom up: stable, no recursion. */
#include "prof/pprof/order.h"

#include <string.h>

#include "prof/core/poison.h"

static void
merge(uint32_t *to, const uint32_t *a, size_t a_count, const uint32_t *b,
      size_t b_count, order_before *before, const void *context)
{
    while (a_count > 0 && b_count > 0) {
        if (before(context, *b, *a)) {
            *to++ = *b++;
            b_count--;
        } else {
            *to++ = *a++;
            a_count--;
        }
    }
    /* One of the two is empty. */
    memcpy(to, a, a_count * sizeof *a);
    memcpy(to, b, b_count * sizeof *b);
}

void
prof_order(uint32_t *order, uint32_t *spare, size_t count, order_before *before,
           const void *context)
{
    uint32_t *from = order;
    uint32_t *to = spare;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2) {
        uint32_t *const swap = from;

        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t left = count - i < width ? count - i : width;
            const size_t rest = count - i - left;

            merge(&to[i], &from[i], left, &from[i + left],
                  rest < width ? rest : width, before, context);
        }
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
}
