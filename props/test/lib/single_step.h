/*
 * single_step.h -- a signal after each instruction of a piece of code, by the
 * processor's own trap flag. Each instruction between props_step_begin() and
 * props_step_end() is followed by a SIGTRAP, whose handler is not stepped
 * itself. It is deterministic, and no other code has to know of it.
 */
#ifndef PROPS_SINGLE_STEP_H
#define PROPS_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define PROPS_STEPS 1
#else
#define PROPS_STEPS                                           \
    0 /* this machine has no trap flag that a program can set \
       */
#endif

/*
 * Call `strike` after instructions of what follows.
 *
 * in:      strike, NULL to count only; what is safe in a signal handler
 *          at, the instruction, from 1; 0: after each
 */
void props_step_begin(void (*strike)(void), uint32_t at);

/* returns: instructions that were stepped; less than all once `at` is over */
uint32_t props_step_end(void);

#endif
