/*
 * instrument_subject.h -- another profiler as an instrument of a world. It
 * learns what happens through the functions of subjects/subject.h.
 *
 * Thread t of the subject is processor t of the world, from the first event on
 * that processor to its `thread-exit`. If the first event of all is a
 * `heap-rate`, it sets the subject's initial rate.
 */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_SUBJECT_H
#define SIM_INSTRUMENTS_INSTRUMENT_SUBJECT_H

#include "sim/world/instrument.h"
#include "subjects/subject.h"

#define SIM_SUBJECT_NOWHERE \
    UINT32_MAX /* a site that matches no stack of the world */

/* What a snapshot showed. */
struct sim_subject_record {
    uint32_t site;  /* the first stack that is equal up to the cut */
    uint32_t depth; /* as shown */
    uintptr_t leaf; /* as shown; 0 if the depth is 0 */
    uint64_t address;
    struct subject_count live;
    struct subject_count allocated;
    struct subject_count freed;
};

struct sim_subject_view {
    struct sim_subject_record *records;
    size_t count;
    bool cut; /* the subject showed more records than fit */
};

/* What a reading of waits showed. */
struct sim_subject_wait {
    uint32_t site; /* as above */
    uint32_t depth;
    uintptr_t leaf;
    double count;
    double ticks;
};

struct sim_subject_waits {
    struct sim_subject_wait *records;
    size_t count;
    bool cut;
};

struct sim_world;

/*
 * The two readings of the last `snapshot`, one right after the other; or those
 * of the last `heap-rate`, just before and just after it.
 *
 * in:      which, 0 or 1
 */
const struct sim_subject_view *sim_subject_view(const struct sim_world *world,
                                                int which);

/* What was read at the last `block-snapshot` or `mutex-snapshot`, twice. */
const struct sim_subject_waits *sim_subject_waits(const struct sim_world *world,
                                                  int which);

/* Is the subject being read in parts? True from `read-begin`, which reads into
 * view 0, to the end of that reading. */
bool sim_subject_is_read(const struct sim_world *world);

/* returns: the address of an object not freed yet; the first stack that equals
 *          `stack` up to the depth at which the subject cuts stacks */
uint64_t sim_subject_address(const struct sim_world *world, uint32_t object);
uint32_t sim_subject_site(const struct sim_world *world, uint32_t stack);

/* Inform a subject with SUBJECT_FORKS that the process has forked. */
void sim_subject_forked(struct sim_world *world, uint32_t thread,
                        bool is_child);

/* Call the subject's end(), if the run has called its begin(). */
void sim_subject_end(struct sim_world *world);

#endif
