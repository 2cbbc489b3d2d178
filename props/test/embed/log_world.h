/*
 * log_world.h -- stubs of what the recorder's events and log call in a test:
 * threads, stacks, a disk, a clock; and a model of the log.
 *
 * One stack can be borrowed at a time; it is overwritten when it is returned.
 * Every stub changes errno.
 */
#ifndef LOG_WORLD_H
#define LOG_WORLD_H

#include "log_model.h"
#include "rng.h"

struct log_world {
    struct log_model model;
    struct sim_rng rng;
    struct model_moment now;
    uint64_t usable_bytes; /* of any block */
    bool is_barred;        /* nobody can enter the recorder */
    bool is_entered;
};

extern struct log_world log_world;

/* returns: a frame with the current stack */
const void *log_world_frame(void);

/* Begin the log of a new process: near or far from the file's beginning, with
 * little room or much. */
void log_world_begin_image(void);

/* Is all that is counted as the model has it? */
void log_world_check(void);

/* The same of all that was logged. */
void log_world_end_image(void);

#endif
