/*
 * log_world.h -- stubs of what the recorder's events and log call in a test:
 * threads, stacks, a disk, a clock; and a model of the log.
 *
 * What the recorder's lock guards is overwritten or, in some worlds, out of
 * reach while the lock is free. One stack can be borrowed at a time; it is
 * overwritten when it is returned. Every stub changes errno.
 */
#ifndef LOG_WORLD_H
#define LOG_WORLD_H

#include "log_model.h"
#include "rng.h"

/* What another thread does once, before or after the lock is held for the time
 * after `skip` others; run is NULL if there is nothing. */
struct log_world_act {
    void (*run)(void);
    uint32_t skip;
};

struct log_world {
    struct log_world_act before_lock, after_lock;
    struct log_model model;
    struct sim_rng rng;
    struct model_moment now;
    uint64_t usable_bytes; /* of any block */
    bool is_barred;        /* entering the recorder is refused */
    bool is_entered;
    bool is_protected;       /* records cannot be read while the lock is free */
    uint64_t forgotten;      /* times that all that is known of code was */
    uint32_t threads_before; /* that the image knew before the model's */
};

extern struct log_world log_world;

/* returns: a frame with the current stack */
const void *log_world_frame(void);

/* Begin the log of a new process, at a small offset in the file or a large one,
 * with little room or much. */
void log_world_begin_image(void);

/*
 * A signal handler forks while the next call enters or leaves the recorder, and
 * the child begins a log before the handler returns. The rest of the call is
 * the child's. log_world_settle() forks after a call that did neither.
 */
enum log_world_moment {
    LOG_WORLD_NEVER,
    LOG_WORLD_AT_ENTER, /* the model's image has changed already */
    LOG_WORLD_AT_LEAVE
};
void log_world_fork(enum log_world_moment when);
void log_world_settle(void);

/* Execute or spawn a program, by some function of exec.c. An exec may succeed:
 * then it is a vfork child's. A handler may fork during it. */
void log_world_execute(void);

/* Check that all counters of the log are the model's. */
void log_world_check(void);

/* Check that the whole log is the model's, too, and drop it. */
void log_world_end_image(void);

#endif
