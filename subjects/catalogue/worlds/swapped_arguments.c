/* swapped_arguments.c -- K7: the size recorded is a flag. */
#include "accounts.h"

#ifndef FIXED
static void
reallocate(void *state, uint32_t thread, const struct subject_site *site,
           const struct subject_block *from, const struct subject_block *to)
{
    struct accounts *const a = state;

    if (to->address == 0)
        return;
    accounts_close(a, from->address);
    if (!a->is_off)
        accounts_open(a, site, to->address, 1, to->zeroed);
    (void)thread;
}
#endif

ACCOUNTS("swapped_arguments", accounts_alloc, reallocate, accounts_set_rate)
