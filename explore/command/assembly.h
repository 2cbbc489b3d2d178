/* assembly.h -- finds inline assembly, whose accesses the explorer cannot see.
 */
#ifndef EXPLORE_COMMAND_ASSEMBLY_H
#define EXPLORE_COMMAND_ASSEMBLY_H

#include <stdbool.h>

/*
 * Look for inline assembly in the compiler's output for a source, headers and
 * macros included. A barrier for the compiler ("") and a pause are harmless.
 *
 * in:      path, the compiler's output of -S with -g; source, for messages
 * returns: false if there is any, or the file cannot be read; reported
 */
bool cli_assembly_check(const char *path, const char *source);

#endif
