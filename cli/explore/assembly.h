/* assembly.h -- inline assembly in a source: what it touches is not seen. */
#ifndef CLI_ASSEMBLY_H
#define CLI_ASSEMBLY_H

#include <stdbool.h>

/*
 * Look for statements of inline assembly that may touch memory. A barrier for
 * the compiler ("") and a pause are harmless.
 *
 * returns: false if there is one, or the file cannot be read; reported
 */
bool cli_assembly_check(const char *path);

#endif
