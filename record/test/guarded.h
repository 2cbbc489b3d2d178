/*
 * guarded.h -- the parts of guarded_program. Each guard returns 0 if it sees no
 * effect of the recorder; else it reports the effect and returns 1.
 */
#ifndef RECORD_TEST_GUARDED_H
#define RECORD_TEST_GUARDED_H

#include <sys/types.h>

#define NOINLINE __attribute__((noinline))

/* Report an effect of the recorder. returns: 1 */
int guarded_complain(const char *what, long value);

/* Allocate and free small blocks. */
void guarded_allocate(int rounds);

/* Write to a file how many bytes of stack each way to allocate uses. */
int guarded_stacks(const char *output);

/* Fork at instructions of malloc() and free(), in the handler of a single-step
 * trap. */
int guarded_forks_everywhere(void);

/* Fork in a handler that interrupts malloc, 1,000 times, while other threads
 * run. */
int guarded_forks(pid_t (*function)(void), int threads_count);

#endif
