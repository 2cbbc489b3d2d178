/* one_domain.c -- K38: requests of more than 512 bytes are not recorded. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    if (block->size_bytes <= 512)
        accounts_alloc(state, thread, site, block);
}
#endif

ACCOUNTS("one_domain", allocate, accounts_realloc, accounts_set_rate)
