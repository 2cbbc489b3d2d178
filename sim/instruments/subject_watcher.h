/*
 * subject_watcher.h -- what the files of the subject's instrument share.
 */
#ifndef SIM_INSTRUMENTS_SUBJECT_WATCHER_H
#define SIM_INSTRUMENTS_SUBJECT_WATCHER_H

#include "sim/instruments/instrument_subject.h"
#include "common/rng.h"
#include "sim/world/world.h"

struct block {
    uint32_t slot;
    uint64_t size_bytes;
    uint64_t align_bytes;
    bool zeroed;
};

struct watcher {
    struct sim_instrument base;
    const struct subject *subject;
    struct sim_world *world;
    void *state;
    bool begun;
    bool started[SIM_PROCS_MAX];
    uint64_t rate_bytes;
    struct sim_rng rng;
    void *memory;
    size_t memory_bytes;
    struct block *blocks; /* by object */
    uint32_t *free_slots;
    uint32_t free_slots_count;
    uint32_t slots_count;
    struct sim_subject_view views[2];
    struct sim_subject_view *reading;
    size_t records_max; /* of each view */
    struct sim_subject_waits waits[2];
    struct sim_subject_waits *waits_read;
    bool is_read; /* in parts, into views[0] */
};

static inline struct watcher *
watcher_of(const struct sim_world *world)
{
    return (struct watcher *)sim_world_instrument(world, SIM_SUBJECT);
}

/* returns: the state of the subject, which then knows the thread */
void *subject_state(struct watcher *watcher, uint32_t thread);

/* subject_reading.c: reads the subject, and changes its rates. */
bool subject_reading_create(struct watcher *watcher,
                            const struct sim_limits *limits);
void subject_reading_destroy(struct watcher *watcher);
sim_hear *subject_reading_hears(enum truth_kind kind);

/* returns: NULL, or why the event cannot happen now */
const char *subject_reading_refuses(const struct sim_instrument *instrument,
                                    const struct sim_world *world,
                                    const struct sim_event *event);

#endif
