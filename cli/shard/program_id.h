/* program_id.h -- which build of profsim this is. */
#ifndef CLI_PROGRAM_ID_H
#define CLI_PROGRAM_ID_H

#include <stdbool.h>

enum { CLI_PROGRAM_ID_BYTES = 33 }; /* 32 digits and the zero */

/*
 * Identify this program by its bytes. Two builds of the same sources by the
 * same compiler have equal bytes, and so the same id; builds that differ have
 * different ids.
 *
 * out:     id, the XXH3 hash of the file of this process as 32 hex digits
 * returns: false, and a complaint, if that file cannot be read
 */
bool cli_program_id(char id[CLI_PROGRAM_ID_BYTES]);

#endif
