/*
 * profile_top.h -- prints the stacks that contribute most to one value of a
 * sampled profile.
 */
#ifndef RECORD_REPORT_PROFILE_TOP_H
#define RECORD_REPORT_PROFILE_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "record/report/named_profile.h"

/*
 * Print a value's total, its error, and the stacks that contribute most to it,
 * one per line.
 *
 * in:      type, of the value, such as "inuse_space"; most, the number of lines
 * returns: false if the profile has no such value, or there is no memory
 */
bool cli_profile_top(const struct cli_named_profile *named, const char *type,
                     size_t most, FILE *to);

#endif
