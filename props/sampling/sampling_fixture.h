/*
 * sampling_fixture.h -- an instance of the library under test: one processor,
 * random numbers chosen by the test, profiles read back. It uses public
 * functions only.
 */
#ifndef PROPS_SAMPLING_FIXTURE_H
#define PROPS_SAMPLING_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "era.h"
#include "prof/prof.h"

struct props_fixture {
    struct prof *prof;
    struct prof_proc *proc;
    enum prof_random random;
    enum model_era era; /* whose formulas are to hold */
    void *block;
};

/* returns: false if there is not enough memory; end the fixture all the same */
bool props_fixture_begin(struct props_fixture *fixture,
                         const struct prof_rules *rules);
void props_fixture_end(struct props_fixture *fixture);

/* returns: "block" or "mutex" */
const char *props_fixture_kind(enum prof_contention kind);

/* in: rate, of blocking in ticks of a nanosecond, or the mutex fraction */
void props_fixture_set_rate(struct props_fixture *fixture,
                            enum prof_contention kind, int64_t rate);

/* returns: the least number that a draw of the rules can be */
uint64_t props_fixture_first(const struct props_fixture *fixture);

/*
 * returns: the random number that leads to the u-th of `rate` equally likely
 *          outcomes. Under Go's rules it is the u-th number of a draw
 */
uint64_t props_fixture_number(const struct props_fixture *fixture, uint64_t u,
                              uint64_t rate);

/*
 * Let the next number be `wanted`, then offer an event.
 *
 * returns: how many numbers the event took; 3 stands for more than 2
 */
uint32_t props_fixture_event(struct props_fixture *fixture,
                             enum prof_contention kind, uint64_t wanted,
                             int64_t cycles);

/* The only stack's record; zeros if it has none. */
struct prof_contention_record
props_fixture_read(const struct props_fixture *fixture,
                   enum prof_contention kind);

#endif
