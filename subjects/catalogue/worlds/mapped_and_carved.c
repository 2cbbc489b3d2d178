/* mapped_and_carved.c -- K19: a mapping counts twice, and is freed once. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct accounts *const a = state;

    if (block->size_bytes >= 4096 && !a->is_off)
        accounts_open(a, site, UINT64_MAX, 1, block->size_bytes);
    accounts_alloc(state, thread, site, block);
}
#endif

ACCOUNTS("mapped_and_carved", allocate, accounts_realloc, accounts_set_rate)
