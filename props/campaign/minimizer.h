/*
 * minimizer.h -- reduces a failure: repeats the run with parts left out, as
 * long as it fails in the same way.
 *
 * Two failures are the same if they break the same property, or if both crash.
 * To repeat a crash, each attempt forks; its events are in shared memory.
 */
#ifndef PROPS_CAMPAIGN_MINIMIZER_H
#define PROPS_CAMPAIGN_MINIMIZER_H

#include <sys/types.h>

#include "props/campaign/campaign.h"
#include "props/campaign/failure.h"
#include "props/judge/run.h"

struct props_apart;

struct props_minimizer {
    const struct props_campaign *campaign;
    const char *command;
    struct props_run *run;
    struct props_failure *failure; /* if it crashed, attempts must, */
    enum props_property property;  /* ... else it must break this property */
    struct sim_choices choices;
    struct props_apart *apart; /* of child processes; or NULL */
};

/* Makes a run. returns: false if it broke a property */
typedef bool props_attempt(void *context);

/* Make an attempt in a child. returns: did it crash? Its events stay in shared
 * memory. */
bool props_minimizer_dies(struct props_minimizer *minimizer,
                          props_attempt *attempt, void *context);

/* Does an attempt fail in the same way? */
bool props_minimizer_fails(struct props_minimizer *minimizer,
                           props_attempt *attempt, void *context);

/* props_minimizer_share(): from now on make all attempts in child processes;
 * the other function ends that. returns: false without memory */
bool props_minimizer_share(struct props_minimizer *minimizer);
void props_minimizer_unshare(struct props_minimizer *minimizer);

/*
 * Make an attempt in a child process.
 *
 * returns: what the attempt returns; true if it ends its process
 */
bool props_minimizer_apart(struct props_minimizer *minimizer,
                           props_attempt *attempt, void *context);

/* Make an attempt, in a child if props_minimizer_share() was called. returns:
 * what the attempt returns */
bool props_minimizer_try(struct props_minimizer *minimizer,
                         props_attempt *attempt, void *context);

/* Wait for a child. out: *status. returns: false if there is none */
bool props_minimizer_wait(pid_t pid, int *status);

/* Repeat the attempt to be reported, and note what it breaks. */
void props_minimizer_end(struct props_minimizer *minimizer,
                         props_attempt *attempt, void *context);

/* Write what broke, as the comment at the beginning of a file. */
void props_minimizer_header(const struct props_minimizer *minimizer,
                            char *header, size_t header_bytes);

/* Shrink a failure's events and write them. returns: false without memory */
bool props_minimizer_report(struct props_minimizer *minimizer);

#endif
