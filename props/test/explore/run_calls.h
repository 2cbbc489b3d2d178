/*
 * run_calls.h -- calls of the explorer from a known place, single runs, and
 * the tests of what the calls do (run_calls.c).
 */
#ifndef PROPS_RUN_CALLS_H
#define PROPS_RUN_CALLS_H

#include <stdint.h>

#include "explore.h"

/* Call a function; the return address of the call is call_returns. */
uint64_t call_from_here(void *function, ...);
extern const char call_returns[];

#define HERE      ((uintptr_t)call_returns)
#define CALL(...) call_from_here((void *)(uintptr_t)__VA_ARGS__)

/* Make one run, in which each thread runs until it ends or waits; with no
 * options. */
struct sim_run run_with(const struct sim_kernel *kernel,
                        const struct sim_run_options *options);
struct sim_run run_kernel(const struct sim_kernel *kernel);

/* A kernel of `count` threads with one body. */
struct sim_kernel kernel_of(const char *name,
                            void (*body)(void *context, uint32_t thread),
                            uint32_t count);

/* Run the tests. returns: how many failed */
int run_calls_tests(void);

#endif
