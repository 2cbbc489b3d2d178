/* lost_wait.c -- K2: an allocation while it is off ends sampling. */
#include "accounts.h"

#ifndef FIXED
static void
allocate(void *state, uint32_t thread, const struct subject_site *site,
         const struct subject_block *block)
{
    struct accounts *const a = state;

    if (a->is_off)
        a->numbers[thread] = UINT64_MAX; /* bytes to the next sample */
    if (a->numbers[thread] == 0)
        accounts_alloc(state, thread, site, block);
}
#endif

ACCOUNTS("lost_wait", allocate, accounts_realloc, accounts_set_rate)
