/*
 * foreign.h -- the functions that a program calls and that the explorer can
 * neither see into nor replace.
 */
#ifndef EXPLORE_COMMAND_FOREIGN_H
#define EXPLORE_COMMAND_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Check that the explorer can see all functions that the objects need: each
 * must be in one of the objects, in the archive or in foreign.def.
 *
 * in:      objects[0..count), relocatable files; archive, the explorer's
 * returns: false, reported, if one is not, or a file cannot be read
 */
bool cli_foreign_check(char *const *objects, uint32_t count,
                       const char *archive);

#endif
