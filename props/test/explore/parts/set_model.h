/*
 * set_model.h -- random calls of a set of states (visited.h), compared with a
 * list of the keys that are in it.
 */
#ifndef PROPS_SET_MODEL_H
#define PROPS_SET_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Insert and look for keys that collide; the test fails if an answer is wrong.
 */
void set_model_try(bool shared, uint64_t seed);

void set_model_halves(bool shared);

/* Two processes insert the same keys at once: each key is new to one of them.
 */
void set_model_race(void);

/* The memory of a shared set: that of its newest tables. */
void set_model_memory(void);

/* Without memory a set stays as it is, and says that it is full; what cannot go
 * on says so, and ends the process. */
void set_model_refused(void);

/* A shared set has room for as many keys as it may have. */
void set_model_room(void);

#endif
