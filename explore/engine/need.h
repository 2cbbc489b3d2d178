/*
 * need.h -- memory without which the explorer cannot go on.
 */
#ifndef EXPLORE_ENGINE_NEED_H
#define EXPLORE_ENGINE_NEED_H

/*
 * in:      memory, as malloc() or mmap() returned it
 * returns: it; if it is NULL or MAP_FAILED, ends the process instead: a message
 *          on standard error, and exit code 1
 * context: any thread; in a run, any fiber
 */
void *sim_need(void *memory);

#endif
