/* two_layers.c -- K46: two layers record an allocation, only one records its
 * free. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    accounts_alloc(state, thread, site, block);
    accounts_alloc(state, thread, site, block);
}
#endif

ACCOUNTS("two_layers", allocate, accounts_realloc, accounts_set_rate)
