/*
 * guarded.h -- the parts of guarded_program. Each guard returns 0 if it sees no
 * effect of the recorder; else it reports the effect and returns 1.
 */
#ifndef PROPS_GUARDED_H
#define PROPS_GUARDED_H

#include <sys/types.h>

#define NOINLINE __attribute__((noinline))

/* returns: 1 */
int guarded_complain(const char *what, long value);

/* Allocate and free small blocks. */
void guarded_allocate(int rounds);

/* Write how many bytes of stack each way to allocate uses. */
int guarded_stacks(const char *output);

/* Fork at instructions of malloc() and free(), in the handler of a trap. */
int guarded_forks_everywhere(void);

/* Fork 1,000 times in a handler that interrupts malloc, beside more threads. */
int guarded_forks(pid_t (*function)(void), int threads_count);

#endif
