/*
 * named_profile.h -- profile.proto of another process: names its addresses.
 */
#ifndef RECORD_REPORT_NAMED_PROFILE_H
#define RECORD_REPORT_NAMED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proto.h"

/* A profile whose locations are named; its bytes are not compressed. */
struct cli_named_profile {
    struct cli_proto proto;
    size_t samples_count; /* 0: the profile is empty */
    bool is_lossy;        /* the process has lost blocks */
};

/*
 * Add function names and lines to the locations of a profile, looked up in the
 * files that its mappings name, as found on this machine now. A location that
 * already has a name keeps it.
 *
 * out:     *named, to be released even on failure
 * returns: NULL, or why it cannot be done: the bytes are not a profile
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

/* Compare the stacks of two samples: a total order. */
struct model_pprof_sample;
int cli_compare_stacks(const struct model_pprof_sample *a,
                       const struct model_pprof_sample *b);

#endif
