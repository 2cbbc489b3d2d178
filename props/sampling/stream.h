/*
 * stream.h -- make a generator give a chosen number next.
 *
 * So a test can feed the library, as it ships, every number that a draw can be,
 * through its public functions: resume at this state, then offer an event.
 */
#ifndef PROPS_STREAM_H
#define PROPS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

/*
 * out:     *state, after which the next number is `wanted`
 * returns: false if the generator can never give it
 */
bool props_stream_before(enum prof_random random, uint64_t wanted,
                         uint64_t *state);

#endif
