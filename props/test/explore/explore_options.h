/*
 * explore_options.h -- random command lines of `profsim explore`, and what the
 * manual says about each: which are refused, and what the others ask for.
 */
#ifndef PROPS_EXPLORE_OPTIONS_H
#define PROPS_EXPLORE_OPTIONS_H

#include <stdint.h>

/* Parse so many command lines, and some that are not random; the test fails if
 * one is not taken as it should be. */
void explore_options(uint64_t lines);

#endif
