/* guard.h -- bytes around what the library may write. */
#ifndef SIM_INSTRUMENTS_GUARD_H
#define SIM_INSTRUMENTS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sim/world/world.h"

#define SIM_GUARD_BYTE 0xa5

/* Are all these bytes (at least one) guard bytes? Each byte of the first cache
 * line must equal its neighbour, and each later byte the one a line before it,
 * so that few loads cross lines.
 */
static inline bool
sim_is_guard(const void *bytes, size_t bytes_count)
{
    const unsigned char *byte = bytes;
    const size_t line = bytes_count < 64 ? bytes_count : 64;

    return byte[0] == SIM_GUARD_BYTE && memcmp(byte, byte + 1, line - 1) == 0 &&
           memcmp(byte, byte + line, bytes_count - line) == 0;
}

/* Did the library write past the end that it reported? The judge calls this,
 * not the instrument, because the check takes longer than most events. */
static inline bool
sim_touched_beyond(const struct sim_answer *answer)
{
    return answer->is_too_long ||
           (answer->beyond_bytes > 0 &&
            !sim_is_guard(answer->beyond, answer->beyond_bytes));
}

#endif
