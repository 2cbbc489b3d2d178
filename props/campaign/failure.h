/*
 * failure.h -- reduces a failing seed to a smallest list of choices, and that
 * to a smallest list of events: a scenario that fails in the same way.
 */
#ifndef PROPS_CAMPAIGN_FAILURE_H
#define PROPS_CAMPAIGN_FAILURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "props/campaign/campaign.h"
#include "props/judge/judge.h"
#include "sim/scenario/scenario.h"

struct props_failure {
    struct props_breach breach; /* of the shrunk events */
    char *text;                 /* the file; NULL if it could not be written */
    struct sim_error error;     /* why the file could not be written */
    bool crashed;               /* the run ended its process */
    int signal;                 /* of a crash: the signal, 0 if it exited */
    bool unstable;              /* the same choices do not fail again */
    uint32_t choices_before;
    uint32_t choices_after;
    uint32_t choices_necessary; /* not 0, and needed */
    uint32_t events_before;
    uint32_t events_after;
    uint64_t faults; /* bits: in the shrunk events */
    uint32_t runs;   /* how many runs were made for this */
};

/*
 * Shrink the failure of a seed.
 *
 * out:     *failure, to be freed
 * in:      command, which repeats the failure; written into the file's header
 * returns: false if there is not enough memory
 */
bool props_failure_of_seed(struct props_failure *failure,
                           const struct props_campaign *campaign, uint64_t seed,
                           const char *command);

/* The same for a run whose choices come from a fuzzer's bytes. */
bool props_failure_of_bytes(struct props_failure *failure,
                            const struct props_campaign *campaign,
                            const uint8_t *bytes, uint32_t bytes_count,
                            const char *command);

/*
 * Shrink a scenario that breaks a property: leave out events as long as the
 * same property breaks.
 *
 * out, returns: as above; failure->runs is 0 if `scenario` breaks none
 */
bool props_failure_of_scenario(struct props_failure *failure,
                               const struct sim_scenario *scenario,
                               props_set requested, const char *command);

void props_failure_free(struct props_failure *failure);

/*
 * Write the file DIR/NAME.sim, whole or not at all.
 *
 * out: path, of the file
 * returns: false and *error if it could not be written
 */
bool props_failure_save(const struct props_failure *failure, const char *dir,
                        const char *name, char *path, size_t path_bytes,
                        struct sim_error *error);

/* Print the failure: the sentence, the file, the difference. */
void props_failure_print(FILE *file, const struct props_failure *failure);

#endif
