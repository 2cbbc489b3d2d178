/*
 * named_profile.h -- profile.proto of another process: names its addresses.
 */
#ifndef CLI_NAMED_PROFILE_H
#define CLI_NAMED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

/* A profile whose locations are named; its bytes are not compressed. */
struct cli_named_profile {
    struct cli_proto proto;
    size_t samples_count; /* 0: the profile says nothing */
};

/*
 * Name the locations of a profile by the files that its mappings refer to, as
 * these are on this machine now. Locations that already have lines keep them.
 *
 * out:     *named, to be released also on failure
 * returns: NULL, or why it cannot be done: it is no profile, no memory
 */
const char *cli_named_profile_make(struct cli_named_profile *named,
                                   const uint8_t *bytes, size_t bytes_count);

/*
 * Make readers show the values of this type first. in: a type that the profile
 * has
 *
 * returns: NULL, or why it cannot be done
 */
const char *cli_named_profile_show(struct cli_named_profile *named,
                                   const char *type);
void cli_named_profile_release(struct cli_named_profile *named);

/*
 * Write it, compressed, as a file that appears whole or not at all.
 *
 * returns: NULL, or why it was not written
 */
const char *cli_named_profile_save(const struct cli_named_profile *named,
                                   const char *path);

#endif
