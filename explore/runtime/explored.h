/* explored.h -- replacements of libc's functions (intercept.def). */
#ifndef EXPLORE_RUNTIME_EXPLORED_H
#define EXPLORE_RUNTIME_EXPLORED_H

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#undef memcpy
#undef putc

#define INTERCEPT(name) __typeof__(name) explored_##name;
#define HEAP(name)      __typeof__(name) explored_##name;
#define ABI(name)
#include "explore/runtime/intercept.def"
#undef INTERCEPT
#undef HEAP
#undef ABI

int explored___cxa_guard_acquire(uint64_t *guard);
void explored___cxa_guard_release(uint64_t *guard);
void explored___cxa_guard_abort(uint64_t *guard);
int explored___cxa_atexit(void (*destroy)(void *), void *object, void *handle);
void explored___cxa_finalize(void *handle);
int explored___cxa_thread_atexit(void (*destroy)(void *), void *object,
                                 void *handle);
extern char explored___libc_single_threaded;

#endif
