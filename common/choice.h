/*
 * choice.h -- the one source of nondeterminism.
 *
 * Every nondeterministic decision (the schedule, a tie, a stale read, a fault,
 * a clock step, the workload) is made by one call, which asks: "which of
 * `bound` outcomes?" The answers, in order, are the choice list, and a run is a
 * function of that list. So random search, exhaustive search, replay, fuzzing
 * and shrinking are back ends of this one call, and any of them can replay what
 * another found.
 *
 * Rules for the callers
 *   - 0 is the dullest outcome: keep running, newest store, no fault, stop. So
 *     a smaller list (shorter, or of the same length and lexicographically
 *     smaller) means a simpler run, and trailing zeros can be dropped.
 *   - ask "one more?" before each item instead of drawing a length first, so
 *     that deleting the answers of one item deletes the item.
 *   - a bound of 1 leaves no choice: the answer is 0 and is not recorded.
 */
#ifndef COMMON_CHOICE_H
#define COMMON_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/rng.h"

/* What a choice decides. The shrinker zeroes whole kinds first. */
enum sim_kind {
    SIM_SWARM, /* which features and distributions this run has */
    SIM_FLOW,  /* one more item? */
    SIM_OP,    /* which operation */
    SIM_DATA,  /* its arguments */
    SIM_SCHED, /* which thread or task runs next; ties in time */
    SIM_STALE, /* which of the visible stores a load returns */
    SIM_CLOCK, /* what a virtual clock does */
    SIM_FAULT, /* whether a fault strikes */
    SIM_KIND_COUNT
};

struct sim_choice {
    uint32_t bound;
    uint32_t value; /* < bound */
    uint16_t kind;  /* enum sim_kind */
    uint16_t label; /* which question, for reports and for alignment */
};

enum sim_backend {
    SIM_RANDOM,   /* draw from rng */
    SIM_REPLAY,   /* take given values; 0 past their end */
    SIM_ODOMETER, /* enumerate every list, see sim_choices_next() */
    SIM_PREFIX,   /* given values, then draw from rng */
    SIM_BYTES,    /* fuzz bytes; 0 past their end */
};

struct sim_choices {
    enum sim_backend backend;
    struct sim_rng rng; /* RANDOM, PREFIX */
    uint64_t fraction;  /* unused part of a random number, in units of 2^-64 */
    uint64_t fraction_outcomes; /* product of the bounds answered from it */
    const uint32_t *given;      /* REPLAY, PREFIX; owned by the caller */
    const uint8_t *bytes;       /* BYTES; owned by the caller */
    uint32_t given_count;       /* of given or bytes */
    uint32_t given_used;        /* of given or bytes */
    struct sim_choice *list;    /* the answers; owned by the caller */
    uint32_t count;             /* answers in list */
    uint32_t count_max;         /* room in list; past it every answer is 0 */
    uint32_t drawn_max;         /* count_max under RANDOM; else 0 */
    uint32_t fixed_count;       /* ODOMETER: answers carried into this run */
    bool overflowed;            /* a question came after list was full */
    bool misaligned;            /* a given value did not fit its question */
    uint32_t misaligned_at;     /* index of the first such */
    bool nondeterministic;      /* ODOMETER: a carried question changed */
    uint32_t first_difference;  /* index of that question */
};

/*
 * Start an empty list over caller's memory.
 *
 * out:     *choices, with the back end SIM_RANDOM, seed 0
 * in:      list, room for list_max answers, used until the last run
 */
void sim_choices_init(struct sim_choices *choices, struct sim_choice *list,
                      uint32_t list_max);

/* Begin a run whose answers are drawn with `seed`. */
void sim_choices_random(struct sim_choices *choices, uint64_t seed);

/* Begin a run that takes `values`, then answers 0. */
void sim_choices_replay(struct sim_choices *choices, const uint32_t *values,
                        uint32_t values_count);

/* Begin a run that takes `values`, then draws from `seed`. */
void sim_choices_prefix(struct sim_choices *choices, const uint32_t *values,
                        uint32_t values_count, uint64_t seed);

/* Begin a run steered by fuzz bytes, then answers 0. */
void sim_choices_bytes(struct sim_choices *choices, const uint8_t *bytes,
                       uint32_t bytes_count);

/* Begin the first run of an enumeration of all lists: all answers 0. */
void sim_choices_odometer(struct sim_choices *choices);

/*
 * Move the enumeration to the next list, in lexicographic order, and begin its
 * run. A run that ended early (a pruned one) may be continued the same way.
 *
 * returns: false when every list has been tried
 */
bool sim_choices_next(struct sim_choices *choices);

/* Begin an enumeration's next run, which carries over `count` answers. */
void sim_choices_carry(struct sim_choices *choices, uint32_t count);

/* Note that the answer at this index is none of its question's. */
void sim_choices_refuse(struct sim_choices *choices, uint32_t index);

/*
 * Draw the random number from which a guided scheduler makes its wish (see
 * sim_choose_guided()). Under back ends other than RANDOM and PREFIX the list
 * gives the answer, so this returns 0.
 *
 * in:      bound > 0
 * returns: a value in [0, bound)
 */
uint32_t sim_choices_wish(struct sim_choices *choices, uint32_t bound);

/*
 * Record the answer that a guided scheduler (PCT, URW) wishes for, so that the
 * run replays as a plain list. Under REPLAY, PREFIX, BYTES and ODOMETER the
 * list gives the answer and `wish` is ignored.
 *
 * returns: the answer that was recorded
 */
uint32_t sim_choose_guided(struct sim_choices *choices, uint32_t bound,
                           enum sim_kind kind, uint16_t label, uint32_t wish);

/* Draw a new random number now, so that the next questions need none. */
static inline void
sim_choices_refresh(struct sim_choices *choices)
{
    choices->fraction = sim_rng_next(&choices->rng);
    choices->fraction_outcomes = 1;
}

/*
 * The slow paths of sim_choose(), kept apart so that the common path is short
 * enough to inline. sim_choices_refresh_apart() draws a new fraction;
 * sim_choose_otherwise() handles any back end and bound.
 */
__attribute__((noinline)) void
sim_choices_refresh_apart(struct sim_choices *choices);
__attribute__((noinline)) uint32_t
sim_choose_otherwise(struct sim_choices *choices, uint32_t bound,
                     enum sim_kind kind, uint16_t label);

__extension__ typedef unsigned __int128 sim_u128;

/*
 * The answer is the whole part of fraction * bound; the fractional part, with
 * fewer random bits, serves the next question. At least 32 bits are left at
 * each question, so the bias is below bound / 2^32.
 */
static inline uint32_t
sim_choices_draw(struct sim_choices *choices, uint32_t bound)
{
    sim_u128 product;

    if (choices->fraction_outcomes > UINT64_C(1) << 32)
        sim_choices_refresh_apart(choices);
    choices->fraction_outcomes *= bound;
    product = (sim_u128)choices->fraction * bound;
    choices->fraction = (uint64_t)product;
    return (uint32_t)(product >> 64);
}

/*
 * Choose one of `bound` outcomes.
 *
 * in:      bound > 0
 * returns: a value in [0, bound)
 */
static inline uint32_t
sim_choose(struct sim_choices *choices, uint32_t bound, enum sim_kind kind,
           uint16_t label)
{
    uint32_t value;

    if (bound <= 1 || choices->count >= choices->drawn_max)
        return sim_choose_otherwise(choices, bound, kind, label);
    value = sim_choices_draw(choices, bound);
    choices->list[choices->count++] =
        (struct sim_choice){bound, value, (uint16_t)kind, label};
    return value;
}

/*
 * The same, tuned for enumeration: answers carried over from the previous run
 * are already in the list.
 */
static inline uint32_t
sim_choose_carried(struct sim_choices *choices, uint32_t bound,
                   enum sim_kind kind, uint16_t label)
{
    const struct sim_choice *carried = &choices->list[choices->count];

    if (choices->count >= choices->fixed_count || carried->bound != bound ||
        carried->kind != (uint16_t)kind || carried->label != label)
        return sim_choose(choices, bound, kind, label);
    choices->count++;
    return carried->value;
}

/* returns: a hash of all answers so far, with their questions */
uint64_t sim_choices_hash(const struct sim_choices *choices);

#endif
