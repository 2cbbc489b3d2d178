/* freed_new_address.c -- K3: realloc frees the new address. */
#include "accounts.h"

#ifndef FIXED
static void
reallocate(void *state, uint32_t thread, const struct subject_site *site,
           const struct subject_block *from, const struct subject_block *to)
{
    if (to->address == 0)
        return;
    accounts_close(state, to->address);
    accounts_alloc(state, thread, site, to);
    (void)from;
}
#endif

ACCOUNTS("freed_new_address", accounts_alloc, reallocate, accounts_set_rate)
