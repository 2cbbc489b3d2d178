/*
 * profile_top.h -- the stacks that have the most of one value of a sampled
 * profile.
 */
#ifndef CLI_PROFILE_TOP_H
#define CLI_PROFILE_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "named_profile.h"

/*
 * Print a value's total, how far it may be off, and the stacks with most of it,
 * one per line.
 *
 * in:      type, of the value, as "inuse_space"; most, lines
 * returns: false if the profile has no such value, or there is no memory
 */
bool cli_profile_top(const struct cli_named_profile *named, const char *type,
                     size_t most, FILE *to);

#endif
