/*
 * contention.h -- the oracle of block and mutex events: what each must add to
 * its bucket, and how many random numbers that takes.
 *
 * It has its own generators, and divides in 128 bits where the library
 * compares. sampling.h has closed forms, which need no random number.
 */
#ifndef MODEL_CONTENTION_H
#define MODEL_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* The rules that the library was told to follow. */
enum model_era {
    MODEL_EXACT,
    MODEL_GO_1_5, /* no mutex profile, 31-bit numbers */
    MODEL_GO_1_10,
    MODEL_GO_1_17, /* short waits count for others, in floating point */
    MODEL_ERA_COUNT
};

enum { MODEL_PROCS_MAX = 8 };

struct model_contention {
    enum model_era era;
    int64_t block_rate_ticks;
    int64_t mutex_fraction;
    uint64_t ticks_per_second;
    uint64_t states[MODEL_PROCS_MAX]; /* of the generators, by processor */
    uint64_t no_mutex;                /* events of a profile that is absent */
    bool sampled;                     /* a rate above 1 has been in force */
    bool changed;                     /* a rate was set after an event */
    bool any;                         /* an event was offered */
};

/* What an event adds. */
struct model_charge {
    bool kept;
    uint64_t count; /* MODEL_GO_1_17: of no meaning */
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
 * in, out: *events, the sum so far; of use to MODEL_GO_1_17
 * returns: the count that a reader must be shown
 */
uint64_t model_contention_count(const struct model_contention *model,
                                bool block, const struct model_charge *charge,
                                uint64_t count, double *events);

/* Take one random number of an era. in, out: *state. (For tests, too.) */
uint64_t model_draw(enum model_era era, uint64_t *state);

/*
 * Draw a number below `limit`, all equally likely, as the rule set `exact`
 * does: draw * limit / 2^64, unless the remainder is below 2^64 mod limit. Then
 * the draw is rejected, and another is made; at most 64.
 *
 * returns: false if all were rejected; *value is then from the last one
 */
bool model_draw_below(uint64_t *state, uint64_t limit, uint64_t *value);

/* The state that a seed starts in. */
uint64_t model_seeded(enum model_era era, uint64_t seed);

#endif
