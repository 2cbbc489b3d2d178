/*
 * model_assert.h -- stops the model if its assumptions about a log fail. A log
 * that contradicts itself, or is larger than announced, proves nothing.
 */
#ifndef MODEL_MODEL_ASSERT_H
#define MODEL_MODEL_ASSERT_H

#define MODEL_ASSERT(cond) ((cond) ? (void)0 : __builtin_trap())

#endif
