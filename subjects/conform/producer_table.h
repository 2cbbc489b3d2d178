/* producer_table.h -- the sampled blocks of producer.c that are open (not yet
 * freed). */
#ifndef SUBJECTS_CONFORM_PRODUCER_TABLE_H
#define SUBJECTS_CONFORM_PRODUCER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PRODUCER_ANYBODY UINT32_MAX

void producer_open(const void *block, uint32_t thread);

/*
 * in:      thread, which must have allocated the block; or PRODUCER_ANYBODY
 * returns: whether it was open
 */
bool producer_close(const void *block, uint32_t thread);

/* Close all blocks of a thread. */
void producer_forget(uint32_t thread);

/* For a faulty producer, which holds the table's lock where it should not. */
void producer_lock(void);
void producer_unlock(void);

#endif
