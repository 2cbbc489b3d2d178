/*
 * block_table.h -- live blocks that were sampled, by address.
 *
 *      free(p) --> filter[p / 16] == 0: was not sampled      (nearly always)
 *                         |
 *                         v
 *                  table: address -> bucket
 *
 * The filter (filter.h) counts the table's addresses by their low bits, a byte
 * each; reading it takes no lock.
 */
#ifndef RECORD_SAMPLER_BLOCK_TABLE_H
#define RECORD_SAMPLER_BLOCK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/prof.h"

#define TABLE_LOG2  16u
#define TABLE_SLOTS (1u << TABLE_LOG2)
#define TABLE_FULL  (TABLE_SLOTS / 4 * 3)

struct table_entry {
    uintptr_t address; /* 0: free */
    prof_bucket bucket;
    bool is_probed; /* its allocation was seen by a tracer of the probes */
};

/* returns: the slot where the search for an address begins */
static inline uint32_t
table_home_of(uintptr_t address)
{
    return (uint32_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
                      (64 - TABLE_LOG2));
}

/*
 * in:      an address, not 0
 * out:     *entry, if it was in the table, from which it is removed
 * returns: was it?
 */
bool table_take_out(uintptr_t address, struct table_entry *entry);

/*
 * out:     *before, the old entry of the address; its address is 0 if there was
 *          none
 * returns: false if there is no room
 */
bool table_put_in(const struct table_entry *entry, struct table_entry *before);

/* returns: entries */
uint64_t table_count(void);

/*
 * Keep the table consistent over a fork, as another thread may be changing it.
 * The thread that forks may use the table between the two calls, as the
 * program's fork handlers do when they allocate.
 *
 * context: also a signal handler that interrupted any of these functions; the
 *          child must not use the table until the interrupted one has returned
 */
void table_before_fork(void);
void table_after_fork(void);

#endif
