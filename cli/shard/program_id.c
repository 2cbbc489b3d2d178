/* program_id.c -- see program_id.h. */
#include "program_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "complaint.h"

bool
cli_program_id(char id[CLI_PROGRAM_ID_BYTES])
{
    static char bytes[1 << 16];
    static XXH3_state_t state;
    FILE *file = fopen("/proc/self/exe", "rb");
    XXH128_hash_t hash;
    size_t count;
    bool good;

    XXH3_128bits_reset(&state);
    while (file != NULL && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        XXH3_128bits_update(&state, bytes, count);
    good = file != NULL && ferror(file) == 0;
    if (!good)
        cli_complain("/proc/self/exe: %s", strerror(errno));
    if (file != NULL)
        (void)fclose(file);
    hash = XXH3_128bits_digest(&state);
    snprintf(id, CLI_PROGRAM_ID_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high64,
             hash.low64);
    return good;
}
