/*
 * stream.h -- find the generator state from which a chosen number comes next.
 *
 * With it a test feeds any random number to the unchanged library, through
 * public functions: set the generator to that state, then offer an event.
 */
#ifndef PROPS_SAMPLING_STREAM_H
#define PROPS_SAMPLING_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/rules.h"

/*
 * out:     *state, after which `wanted` is the next number
 *
 * returns: false if the generator never gives that number
 */
bool props_stream_before(enum prof_random random, uint64_t wanted,
                         uint64_t *state);

#endif
