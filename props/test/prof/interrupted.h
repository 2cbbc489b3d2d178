/*
 * interrupted.h -- an instance, a CPU profile and a trace; the calls on them
 * that a signal may interrupt; and counts of everything that was recorded.
 */
#ifndef PROPS_INTERRUPTED_H
#define PROPS_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>

enum { INTERRUPTED_CALLS = 12 };

struct interrupted_call {
    const char *name;
    void (*call)(void);
    bool records; /* true: a record call; false: a control call */
};

extern const struct interrupted_call interrupted_calls[INTERRUPTED_CALLS];

/* The set-up of a group of tests. It sets an alarm, which ends a call that
 * hangs. */
int interrupted_open(void **state);
int interrupted_close(void **state);

/* Begin anew, with one live object. returns: NULL, or what went wrong */
const char *interrupted_begin(void);

/*
 * Record two allocations with their frees, two waits and a tick, all on the
 * same processor.
 *
 * context: signal handlers, too
 */
void interrupted_live(void);

/*
 * Publish everything, end the profiles, and compare with what was recorded.
 *
 * returns: NULL, or the first difference (static text)
 */
const char *interrupted_check(void);

#endif
