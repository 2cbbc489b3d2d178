/* part_unmapped.c -- K16: a block that shrinks is subtracted as an object. */
#include "accounts.h"

#ifndef FIXED
static void
reallocate(void *state, uint32_t thread, const struct subject_site *site,
           const struct subject_block *from, const struct subject_block *to)
{
    struct accounts *const a = state;

    accounts_realloc(state, thread, site, from, to);
    if (to->address == from->address && to->size_bytes < from->size_bytes &&
        !a->is_off)
        a->blocks[a->count - 1].objects = 0;
}
#endif

ACCOUNTS("part_unmapped", accounts_alloc, reallocate, accounts_set_rate)
