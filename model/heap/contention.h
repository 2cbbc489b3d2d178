/*
 * contention.h -- the oracle of block and mutex events: what each must add to
 * its bucket, and how many random numbers it must draw.
 *
 * It has its own generators, and divides 128-bit numbers where the library only
 * compares. sampling.h has closed forms, which need no random numbers.
 */
#ifndef MODEL_HEAP_CONTENTION_H
#define MODEL_HEAP_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* The rule set that the library was configured with. */
enum model_era {
    MODEL_EXACT,
    MODEL_GO_1_5, /* no mutex profile, 31-bit numbers */
    MODEL_GO_1_10,
    MODEL_GO_1_17, /* kept short waits are scaled up, in floating point */
    MODEL_ERA_COUNT
};

enum { MODEL_PROCS_MAX = 8 };

struct model_contention {
    enum model_era era;
    int64_t block_rate_ticks;
    int64_t mutex_fraction;
    uint64_t ticks_per_second;
    uint64_t states[MODEL_PROCS_MAX]; /* of the random number generators, by
                                         processor */
    uint64_t no_mutex;                /* mutex events under rules without a
                                         mutex profile */
    bool sampled;                     /* a rate above 1 has been in force */
    bool changed;                     /* a rate was set after an event */
    bool any;                         /* an event has occurred */
};

/* What an event adds. */
struct model_charge {
    bool kept;
    uint64_t count; /* MODEL_GO_1_17: not used */
    double events;  /* MODEL_GO_1_17 only */
    uint64_t cycles;
};

/* Begin: rates of 1, generators seeded from `seed` and processor number. */
void model_contention_reset(struct model_contention *model, enum model_era era,
                            uint64_t seed, uint64_t ticks_per_second);

void model_contention_block_rate(struct model_contention *model,
                                 int64_t rate_ns);
void model_contention_mutex_fraction(struct model_contention *model,
                                     int64_t fraction);

/* in: cycles, as measured, before any clamp */
struct model_charge model_contention_block(struct model_contention *model,
                                           uint32_t proc, int64_t cycles);
struct model_charge model_contention_mutex(struct model_contention *model,
                                           uint32_t proc, int64_t cycles);

/*
 * Add a charge to a bucket's sums.
 *
 * in, out: *events, the sum so far; only for MODEL_GO_1_17
 * returns: the count that a snapshot must show
 */
uint64_t model_contention_count(const struct model_contention *model,
                                bool block, const struct model_charge *charge,
                                uint64_t count, double *events);

/* Draw one random number of an era's generator. in, out: *state. (Tests use it,
 * too.) */
uint64_t model_draw(enum model_era era, uint64_t *state);

/*
 * Draw a number below `limit`, all equally likely, as the rule set `exact`
 * does: draw * limit / 2^64, rounded down. If the remainder is below 2^64 mod
 * limit, the draw is rejected and another is made; at most 64.
 *
 * returns: false if all were rejected; *value is then from the last one
 */
bool model_draw_below(uint64_t *state, uint64_t limit, uint64_t *value);

/* returns: the generator's first state for a seed */
uint64_t model_seeded(enum model_era era, uint64_t seed);

#endif
