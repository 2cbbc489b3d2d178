/* guard.h -- bytes around what the library may write. */
#ifndef SIM_GUARD_H
#define SIM_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SIM_GUARD_BYTE 0xa5

/* Are these bytes, at least one, all guard bytes? */
static inline bool
sim_is_guard(const void *bytes, size_t bytes_count)
{
    const unsigned char *byte = bytes;

    return byte[0] == SIM_GUARD_BYTE &&
           memcmp(byte, byte + 1, bytes_count - 1) == 0;
}

#endif
