/*
 * drive.h -- drives a world, with the simulated collector, from a recording of
 * a real program. A recorded free only makes an object unreachable; the
 * collector finds it later.
 */
#ifndef SIM_GENERATE_DRIVE_H
#define SIM_GENERATE_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/recording/recording.h"
#include "common/recording/releases.h"
#include "sim/world/world.h"

struct sim_drive {
    const struct sim_recording *recording;
    struct sim_recording_cursor cursor;
    struct truth_stack *stacks;
    uintptr_t *frames;
    struct sim_config config;
    struct sim_limits limits;

    struct sim_recorded ahead; /* the next recorded event */
    bool has_ahead;
    struct sim_releases releases;
    uint64_t released;      /* releases seen so far */
    uint64_t *sizes_bytes;  /* by recorded object */
    uint32_t *numbers;      /* of objects in the world, by recorded object */
    uint32_t objects;       /* in the world so far */
    bool is_dropped;        /* one half of a resize is done */
    uint64_t last_ticks;    /* recorded time of the event before */
    uint64_t live_bytes;    /* allocated and not yet freed */
    uint64_t marked_bytes;  /* live when the last marking ended */
    uint64_t since_bytes;   /* allocated since the last marking began */
    uint64_t phase_events;  /* recorded events since the phase began */
    uint64_t marking_lasts; /* recorded events that this marking takes */
    uint64_t recorded;      /* recorded events handed out */
    uint32_t sweep_from;    /* objects below are swept */
    uint32_t phase;
    uint32_t collections;
};

/*
 * Prepare a world's configuration and limits for a recording.
 *
 * out:     *drive, to be closed; its config and limits
 * in:      recording, open until the drive is closed; rules
 * returns: NULL, or why the recording cannot drive a world (static text)
 */
const char *sim_drive_open(struct sim_drive *drive,
                           const struct sim_recording *recording,
                           const struct prof_rules *rules);
void sim_drive_close(struct sim_drive *drive);

/*
 * The next event of the program, the collector or the observer.
 *
 * out:     *event, possible in `world`
 * returns: false when the recording is over and its last objects are swept
 */
bool sim_drive_next(struct sim_drive *drive, const struct sim_world *world,
                    struct sim_event *event);

#endif
