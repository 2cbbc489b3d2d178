/*
 * model_assert.h -- what the model takes for granted about a log. A log that
 * contradicts itself, or is larger than announced, proves nothing: stop.
 */
#ifndef MODEL_ASSERT_H
#define MODEL_ASSERT_H

#define MODEL_ASSERT(cond) ((cond) ? (void)0 : __builtin_trap())

#endif
