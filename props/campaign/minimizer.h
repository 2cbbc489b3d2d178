/*
 * minimizer.h -- reduces a failure: runs are repeated with less in them, as
 * long as they fail in the same way.
 *
 * "The same failure" is the same property. A crash is tried in a child process:
 * each attempt forks, and the events are in memory that both share.
 */
#ifndef PROPS_MINIMIZER_H
#define PROPS_MINIMIZER_H

#include <sys/types.h>

#include "campaign.h"
#include "failure.h"
#include "run.h"

struct props_apart;

struct props_minimizer {
    const struct props_campaign *campaign;
    const char *command;
    struct props_run *run;
    struct props_failure *failure; /* found so far; if it crashed, it must */
    enum props_property property;  /* ... or this one be broken again */
    struct sim_choices choices;
    struct props_apart *apart; /* attempts are made apart; NULL: here */
};

/* A run. returns: false if it broke a property; context is the caller's */
typedef bool props_attempt(void *context);

/* Let a child try; did it die? Its events stay in shared memory. */
bool props_minimizer_dies(struct props_minimizer *minimizer,
                          props_attempt *attempt, void *context);

/* Does an attempt fail in the same way? */
bool props_minimizer_fails(struct props_minimizer *minimizer,
                           props_attempt *attempt, void *context);

/* Make all attempts in processes of their own; end that. returns: false
 * without memory */
bool props_minimizer_share(struct props_minimizer *minimizer);
void props_minimizer_unshare(struct props_minimizer *minimizer);

/*
 * Make an attempt in a process of its own.
 *
 * returns: what it returns; true if it ends its process
 */
bool props_minimizer_apart(struct props_minimizer *minimizer,
                           props_attempt *attempt, void *context);

/* Make an attempt: apart, if all are; else here. returns: what it returns */
bool props_minimizer_try(struct props_minimizer *minimizer,
                         props_attempt *attempt, void *context);

/* Wait for a child. out: *status. returns: false if there is none */
bool props_minimizer_wait(pid_t pid, int *status);

/* Repeat the attempt that is to be reported, and say what it breaks. */
void props_minimizer_end(struct props_minimizer *minimizer,
                         props_attempt *attempt, void *context);

/* Write what broke as the comment that a file begins with. */
void props_minimizer_header(const struct props_minimizer *minimizer,
                            char *header, size_t header_bytes);

/* Shrink a failure's events and write them. returns: false without memory */
bool props_minimizer_tell(struct props_minimizer *minimizer);

#endif
