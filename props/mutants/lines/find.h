/* find.h -- which mutants a source file has. */
#ifndef MUTATE_FIND_H
#define MUTATE_FIND_H

#include "lines/site.h"

/*
 * Add the spots of a source file (site.h), and those of functions in headers
 * of its folder that it includes.
 *
 * in:      arguments, for the compiler
 * returns: false if the file does not compile
 */
bool find_spots(struct sites *sites, const char *path,
                const char *const *arguments, int arguments_count);

#endif
