/* failed_realloc.c -- K5: a realloc that fails leaves its new record behind. */
#include "accounts.h"

#ifndef FIXED
static void
reallocate(void *state, uint32_t thread, const struct subject_site *site,
           const struct subject_block *from, const struct subject_block *to)
{
    struct accounts *const a = state;

    if (to->address == 0 && !a->is_off)
        accounts_open(a, site, UINT64_MAX, 1, to->size_bytes);
    accounts_realloc(state, thread, site, from, to);
}
#endif

ACCOUNTS("failed_realloc", accounts_alloc, reallocate, accounts_set_rate)
