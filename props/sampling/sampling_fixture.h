/*
 * sampling_fixture.h -- an instance of the library with one processor, whose
 * random numbers the test chooses. Only public functions are used.
 */
#ifndef PROPS_SAMPLING_SAMPLING_FIXTURE_H
#define PROPS_SAMPLING_SAMPLING_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/era.h"
#include "prof/prof.h"

struct props_fixture {
    struct prof *prof;
    struct prof_proc *proc;
    enum prof_random random;
    enum model_era era; /* the era whose formulas must hold */
    void *block;
};

/* returns: false if there is not enough memory; call props_fixture_end() all
 * the same */
bool props_fixture_begin(struct props_fixture *fixture,
                         const struct prof_rules *rules);
void props_fixture_end(struct props_fixture *fixture);

/* returns: "block" or "mutex" */
const char *props_fixture_kind(enum prof_contention kind);

/* in: rate, of a block profile in ticks of 1 ns, or the mutex fraction */
void props_fixture_set_rate(struct props_fixture *fixture,
                            enum prof_contention kind, int64_t rate);

/* returns: the least random number that the rules can draw */
uint64_t props_fixture_first(const struct props_fixture *fixture);

/*
 * returns: a random number that leads to outcome u of `rate` equally likely
 * ones; by Go's rules the u-th number that can be drawn
 */
uint64_t props_fixture_number(const struct props_fixture *fixture, uint64_t u,
                              uint64_t rate);

/*
 * Let the next number be `wanted`, then offer an event.
 *
 * returns: how many numbers the event drew; 3 means more than 2
 */
uint32_t props_fixture_event(struct props_fixture *fixture,
                             enum prof_contention kind, uint64_t wanted,
                             int64_t cycles);

/* returns: the record of the only stack; zeros if there is none */
struct prof_contention_record
props_fixture_read(const struct props_fixture *fixture,
                   enum prof_contention kind);

#endif
