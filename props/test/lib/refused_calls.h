/*
 * refused_calls.h -- in a command that a test runs in a process of its own, the
 * n-th request to the system fails: for memory (ENOMEM), to open, write, sync
 * or rename a file, for a process (EIO). Requests of the processes that the
 * command starts are neither counted nor refused. No file is really synced, and
 * a read returns at most half a MiB, as it may on a file system of others.
 *
 * Link with refused_calls.o and --wrap=malloc,calloc,realloc,open,openat,read,
 * write,fsync,rename,renameat,fork, each with its own --wrap.
 */
#ifndef PROPS_REFUSED_CALLS_H
#define PROPS_REFUSED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the n-th request of each child of this process fails. in: n, from
 * 1; 0: none fails */
void refused_calls_at(uint32_t n);

/* returns: how many requests the children have made since then */
uint32_t refused_calls_made(void);

/* returns: the name of the function that failed; NULL: none did */
const char *refused_calls_which(void);

#endif
