/*
 * foreign.h -- the functions that a program calls and that the explorer can
 * neither see into nor replace.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Check that the objects need no function that the explorer cannot see: one
 * that is in none of them, nor in the archive, nor in foreign.def.
 *
 * in:      objects[0..count), relocatable files; archive, the explorer's
 * returns: false if there is such a function, or a file cannot be read;
 *          reported
 */
bool cli_foreign_check(char *const *objects, uint32_t count,
                       const char *archive);

#endif
