/*
 * sched_failure.h -- what a failing seed of a traced world comes down to: the
 * smallest list of choices, then the smallest list of events, as a schedule
 * that fails the same way.
 */
#ifndef PROPS_SCHED_FAILURE_H
#define PROPS_SCHED_FAILURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario.h"
#include "sched_run.h"

struct sched_failure {
    struct props_breach breach; /* of the shrunk schedule */
    struct sched_run *run;      /* holds configuration and events */
    struct sim_sched_config config;
    bool crashed; /* the run ended its process */
    int signal;   /* crashed: by what, 0 if by exit */
    bool unstable;
    uint32_t choices_before;
    uint32_t choices_after;
    uint32_t events_before;
    uint64_t faults; /* that the shrunk schedule meets, a bit each */
    uint32_t runs;
    char header[1024]; /* of the schedule */
};

/*
 * Shrink the failure of a seed.
 *
 * out:     *failure, to be closed
 * in:      command, the words that show the failure again, for the header
 * returns: false if there is not enough memory
 */
bool sched_failure_of_seed(struct sched_failure *failure, props_set asked,
                           uint64_t seed, const char *command);

void sched_failure_close(struct sched_failure *failure);

/* Tell people: the sentence, the schedule, the difference. */
void sched_failure_print(FILE *file, const struct sched_failure *failure);

/*
 * Write the schedule to DIR/NAME.sim, whole or not at all.
 *
 * out:     path, where it is
 * returns: false and *error if that did not work
 */
bool sched_failure_save(const struct sched_failure *failure, const char *dir,
                        const char *name, char *path, size_t path_bytes,
                        struct sim_error *error);

#endif
