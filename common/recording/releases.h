/*
 * releases.h -- how long other threads had waited for a lock that a recorded
 * release gave up.
 */
#ifndef COMMON_RECORDING_RELEASES_H
#define COMMON_RECORDING_RELEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/recording/recording.h"

struct sim_release; /* opaque; see releases.c */

/* All releases of a recording, in the order of their events. */
struct sim_releases {
    struct sim_release *list;
    uint64_t count;
    uint64_t unpaired; /* released while no recorded wait was on */
};

/*
 * Walk the recording once and pair releases with waits.
 *
 * out:     *releases, to be closed in either case
 * in:      recording
 * returns: false if there is not enough memory
 */
bool sim_releases_open(struct sim_releases *releases,
                       const struct sim_recording *recording);
void sim_releases_close(struct sim_releases *releases);

/*
 * Find the wait that was paired with a release.
 *
 * in:      release, its index, < releases->count
 * out:     *cycles, the ticks of that wait; unchanged if there is none
 * returns: whether a wait was paired with the release
 */
bool sim_releases_find(const struct sim_releases *releases, uint64_t release,
                       int64_t *cycles);

#endif
