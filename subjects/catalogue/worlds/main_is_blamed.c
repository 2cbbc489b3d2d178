/* main_is_blamed.c -- K47: other threads are charged to the first. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct accounts *const a = state;

    if (thread == 0)
        a->site = *site;
    accounts_alloc(state, thread, &a->site, block);
}
#endif

ACCOUNTS("main_is_blamed", allocate, accounts_realloc, accounts_set_rate)
