/*
 * model_assert.h -- what the model assumes about a log. A log that contradicts
 * itself, or is larger than announced, proves nothing, so the model stops.
 */
#ifndef MODEL_ASSERT_H
#define MODEL_ASSERT_H

#define MODEL_ASSERT(cond) ((cond) ? (void)0 : __builtin_trap())

#endif
