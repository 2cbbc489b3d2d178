/* old_buffers.c -- K27: only the first of four blocks checks whether profiling
 * is on. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct accounts *const a = state;
    const uint64_t left = a->numbers[thread] / 2;
    bool looks = a->numbers[thread] % 2 != 0; /* as of the last refill */

    if (left == 0)
        looks = !a->is_off;
    a->numbers[thread] = (left == 0 ? 3 : left - 1) * 2 + looks;
    if (looks)
        accounts_open(a, site, block->address, 1, block->size_bytes);
}
#endif

ACCOUNTS("old_buffers", allocate, accounts_realloc, accounts_set_rate)
