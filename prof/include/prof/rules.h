/*
 * prof/rules.h -- how releases of the Go runtime differ, as data.
 *
 * A rule set is one struct. There is a preset for each group of releases; the
 * default, `prof_rules_exact`, combines the most accurate rules. Source:
 * docs/semantics.md, "Rule sets".
 */
#ifndef PROF_RULES_H
#define PROF_RULES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a heap event waits until a snapshot may show it. */
enum prof_heap_scheme {
    PROF_HEAP_STAGES, /* previous and recent, rotated at each collection */
    PROF_HEAP_RING    /* three future slots, one per cycle number modulo 3 */
};

/* When PROF_HEAP_STAGES rotates its stages. */
enum prof_stage_rotate {
    PROF_ROTATE_STOPPED,  /* in next_cycle, while the world is stopped */
    PROF_ROTATE_RESTARTED /* in flush, after the restart: golang/go#19311 */
};

/* Where prof_heap_free_explicit() counts its event. */
enum prof_explicit_free {
    PROF_EXPLICIT_DROPPED, /* there is no such path: counted as a drop */
    PROF_EXPLICIT_RECENT   /* with current allocations */
};

/* The generator of a processor's random numbers. */
enum prof_random {
    PROF_RANDOM_64,        /* splitmix64: all 64-bit numbers alike */
    PROF_RANDOM_LFSR31,    /* 31-bit shift register, never 0 */
    PROF_RANDOM_XORSHIFT32 /* two 32-bit xorshift words, added */
};

/* What happens to a block event of c ticks at a rate of R > c ticks; r is
 * random. */
enum prof_block_rule {
    PROF_BLOCK_EXACT,    /* kept with probability c/R, expectation exact */
    PROF_BLOCK_PLAIN,    /* kept if r mod R <= c, counted once */
    PROF_BLOCK_CORRECTED /* kept likewise, counts as R/c events of c ticks, in
                            floating point */
};

/* What happens to a mutex event at a fraction of 1/R; r is random. */
enum prof_mutex_rule {
    PROF_MUTEX_EXACT,   /* kept with probability 1/R, counts R times */
    PROF_MUTEX_ABSENT,  /* there is no mutex profile: counted as a drop */
    PROF_MUTEX_UNSCALED /* kept if r mod R = 0, counted once */
};

/* Whose waits are charged to the release of a mutex: golang/go#61015. */
enum prof_waiters {
    PROF_WAITERS_FIRST, /* only of the thread that gets it next */
    PROF_WAITERS_ALL    /* also of those that go on waiting, estimated */
};

/* How the next allocation to record is chosen, at a rate of R bytes. */
enum prof_sampler {
    PROF_SAMPLER_EXACT,      /* every byte has the same chance */
    PROF_SAMPLER_UNIFORM,    /* gap uniform below 2R, less the last overshoot */
    PROF_SAMPLER_EXPONENTIAL /* gap exponential, from 26 random bits;
                                its mean is capped */
};

struct prof_rules {
    const char *name;
    enum prof_heap_scheme heap;
    enum prof_stage_rotate rotate; /* PROF_HEAP_STAGES only */
    enum prof_explicit_free explicit_free;
    /*
     * A first snapshot whose buffer is too short still counts as the first (as
     * in Go), so the next one publishes less.
     */
    bool sizing_consumes_first;
    enum prof_random random;
    enum prof_block_rule block;
    enum prof_mutex_rule mutex;
    enum prof_waiters waiters;
    enum prof_sampler sampler;
    /* The sampler records every allocation of at least the rate. */
    bool sampler_keeps_large;
    /*
     * A block rate that overflows 64 bits when converted to ticks turns
     * profiling off (as in Go on amd64); else it becomes the largest rate.
     */
    bool rate_overflow_is_off;
};

extern const struct prof_rules prof_rules_exact;
extern const struct prof_rules prof_rules_go1_5;
extern const struct prof_rules prof_rules_go1_6_late; /* known bad */
extern const struct prof_rules prof_rules_go1_10;
extern const struct prof_rules prof_rules_go1_17;

/* Every preset; NULL at the end. */
extern const struct prof_rules *const prof_rules_all[];

/*
 * in:      name, as in `name` above: "exact", "go1.5", "go1.6-late", ...
 * returns: the preset, NULL if there is none of that name
 */
const struct prof_rules *prof_rules_find(const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
