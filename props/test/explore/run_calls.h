/*
 * run_calls.h -- calls of the explorer from a known place, and the tests of
 * what they do (run_calls.c).
 */
#ifndef PROPS_RUN_CALLS_H
#define PROPS_RUN_CALLS_H

#include <stdint.h>

/* Call a function; the return address of the call is call_returns. */
uint64_t call_from_here(void *function, ...);
extern const char call_returns[];

#define HERE      ((uintptr_t)call_returns)
#define CALL(...) call_from_here((void *)(uintptr_t)__VA_ARGS__)

/* Run the tests. returns: how many failed */
int run_calls_tests(void);

#endif
