/*
 * single_step.h -- a signal after each instruction of a piece of code, by the
 * processor's trap flag. After each instruction between props_step_begin() and
 * props_step_end() a SIGTRAP arrives; its handler is not stepped itself. This
 * is deterministic, and the stepped code needs no preparation.
 */
#ifndef COMMON_TEST_SINGLE_STEP_H
#define COMMON_TEST_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define PROPS_STEPS 1
#else
#define PROPS_STEPS 0 /* no trap flag that a program can set */
#endif

/*
 * From now on, call `strike` after one instruction, or after each.
 *
 * in:      strike, async-signal-safe; NULL to count instructions only
 *          at, the number of the instruction, from 1; 0: after each
 */
void props_step_begin(void (*strike)(void), uint32_t at);

/* returns: instructions that were stepped; less than all once `at` is over */
uint32_t props_step_end(void);

#endif
