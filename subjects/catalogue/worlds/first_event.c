/* first_event.c -- K25: the first event after a pause also counts the bytes of
 * the pause. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct accounts *const a = state;

    a->numbers[thread] += block->address == 0 ? 0 : block->size_bytes;
    if (a->is_off)
        return;
    accounts_open(a, site, block->address, 1, a->numbers[thread]);
    a->numbers[thread] = 0;
}
#endif

ACCOUNTS("first_event", allocate, accounts_realloc, accounts_set_rate)
