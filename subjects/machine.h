/*
 * machine.h -- runs a rule set: one thread, random numbers from a seed.
 *
 * Checks the code that computes the averages (carried.h, kept.h, renewal.h). It
 * shares with them the description of a rule set and JFR's buffer (jfr.h), and
 * implements the countdown anew, one allocation after the other, as the tools
 * do.
 */
#ifndef SUBJECTS_MACHINE_H
#define SUBJECTS_MACHINE_H

#include "subjects/rules/jfr.h"
#include "subjects/rules/rule_set.h"
#include "subjects/strata.h"

struct subjects_thread {
    const struct subjects_rules *rules;
    uint64_t rate;
    uint64_t numbers;   /* state of the generator */
    uint64_t threshold; /* RENEWAL */
    uint64_t sum_ticks; /* RENEWAL: since it was drawn */
    int64_t left;       /* CARRIED, KEPT: ticks to the next point */
    struct subjects_buffer buffer;
    struct subjects_stratum strata[SUBJECTS_CLASSES];
};

void subjects_thread_start(struct subjects_thread *thread,
                           const struct subjects_rules *rules, uint64_t rate,
                           uint64_t seed);

/*
 * out:     *estimate, the bytes that the sample stands for, 0 if there is none
 * returns: whether the allocation is sampled
 */
bool subjects_thread_step(struct subjects_thread *thread, uint64_t size_bytes,
                          double *estimate);

#endif
