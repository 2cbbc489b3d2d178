/*
 * must.h -- what the model takes for granted about a log. A log that
 * contradicts itself, or is larger than announced, proves nothing: stop.
 */
#ifndef MODEL_MUST_H
#define MODEL_MUST_H

#define MODEL_MUST(cond) ((cond) ? (void)0 : __builtin_trap())

#endif
