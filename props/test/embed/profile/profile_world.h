/*
 * profile_world.h -- stubs of what the malloc profiler calls for samples and
 * waits in a test: the library, threads with and without a processor, stacks,
 * locks, a clock. The calls that one hook makes are noted, a letter each:
 *
 *      t thread begun   u bytes given back   s asked   a allocation   f free
 *      p, q probes      g agent started      m mutex   b block
 */
#ifndef PROFILE_WORLD_H
#define PROFILE_WORLD_H

#include "profile.h"
#include "rng.h"

enum { PROFILE_NOTED_MAX = 12 };

/* Something to do once; run is NULL if there is nothing. */
struct profile_act {
    void (*run)(void *context);
    void *context;
};

struct profile_world {
    struct sim_rng rng;
    /* When a lock is next taken: before, while it is held, after. */
    struct profile_act before_lock, under_lock, after_lock;
    /* What the stubs of the library and the profiler return next. */
    bool samples;
    bool begins;
    prof_bucket next_bucket;
    uint64_t next_until;
    int64_t rate;
    uint64_t clock_ns;
    /* The calls made to the stubs. */
    char noted[PROFILE_NOTED_MAX + 1];
    uint64_t noted_value[PROFILE_NOTED_MAX];
    size_t wanted;   /* of these, so far */
    int forgotten;   /* how often all that is known of code was forgotten */
    int alone_begun; /* how often embed_alone_begin() was called */
    int resets;      /* of the lock */
};

extern struct profile_world profile_world;

/* Choose at random what the next call finds: now and then another thread makes
 * it, or a thread that is inside. Forget the calls noted so far. */
void profile_world_draw(void);

/* returns: any frame of a program */
const void *profile_world_frame(void);

/* The stub's result of prof_mutex_cycles(): a sum that shows its arguments. */
uint64_t profile_world_charge(uint64_t first_ns, uint64_t last_ns,
                              uint32_t others);

/* Expect the next call that was noted. */
void profile_world_want(char what, uint64_t value);

/* returns: is no lock, no processor and no stack held? */
bool profile_world_is_quiet(void);

#endif
