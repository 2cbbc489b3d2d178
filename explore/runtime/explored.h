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
void explored___VERIFIER_assume(int holds);
void explored_profsim_assume(int holds);
unsigned explored_profsim_choose(unsigned bound);
_Bool explored___VERIFIER_nondet_bool(void);
char explored___VERIFIER_nondet_char(void);
unsigned char explored___VERIFIER_nondet_uchar(void);
short explored___VERIFIER_nondet_short(void);
unsigned short explored___VERIFIER_nondet_ushort(void);
int explored___VERIFIER_nondet_int(void);
unsigned explored___VERIFIER_nondet_uint(void);
long explored___VERIFIER_nondet_long(void);
unsigned long explored___VERIFIER_nondet_ulong(void);
extern char explored___libc_single_threaded;

#endif
