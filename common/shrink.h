/*
 * shrink.h -- make a failing choice list small.
 *
 * The shrinker works on values alone; a callback reruns the system that failed
 * (an instruction schedule, a heap scenario). Lists are ordered by length, then
 * lexicographically; trailing zeros do not count (choice.h). Every accepted
 * step is strictly smaller, so shrinking ends.
 */
#ifndef COMMON_SHRINK_H
#define COMMON_SHRINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"

struct sim_shrink {
    /*
     * Re-run the system under `values` (then zeros).
     *
     * returns: whether it fails in the same way. Compare at least the property
     *          and the location; otherwise the list drifts to another, easier
     *          failure.
     */
    bool (*still_fails)(void *context, const uint32_t *values, uint32_t count);
    void *context;
    /*
     * Optional: the choices that the last still_fails() recorded. They tell the
     * shrinker which values the run really used, and the kinds of the choices
     * left after a deletion.
     */
    const struct sim_choices *ran;
    /*
     * Order lists by their number of non-zero answers first. Set this for
     * schedules: a reader wants few switches and stale reads. The length of
     * such a list means little, because the number of questions depends on the
     * answers.
     */
    bool fewest_first;
    uint64_t calls_max; /* in: the most runs to make; 0: 20 000 */

    uint64_t calls;       /* out: runs made */
    uint64_t calls_saved; /* out: candidates not run, because known to pass */
    uint64_t accepted;    /* out: steps that kept the failure */
    bool cut;             /* out: calls_max was reached before a fixpoint */
    bool unstable;        /* out: the final list did not fail both times */
    bool fewest_known;    /* out, sim_shrink_fewest(): all lists with fewer
                             non-zero answers pass */
};

/*
 * Replace a failing list by the smallest one found.
 *
 * Passes, repeated until none helps: zero whole kinds (faults, stale reads,
 * clocks, schedule, then the rest); delete blocks from the end; zero blocks;
 * lower single values; sort and swap; move a context switch later; move
 * weight between neighbours. The result is run twice more.
 *
 * in/out:  shrink
 *          list, count answers; values and kinds are read and replaced
 * returns: the new count (trailing zeros removed); `count` unchanged and
 *          shrink->unstable if the list does not fail to begin with
 */
uint32_t sim_shrink(struct sim_shrink *shrink, struct sim_choice *list,
                    uint32_t count);

/*
 * Search for a failing list with fewer non-zero answers, by trying all of them,
 * fewest first. Needs shrink->ran.
 *
 * in/out:  list, which fails
 * in:      list_max >= count, room in list: no answer beyond it is varied
 *          calls_max, runs to spend on it
 * returns: the new count; sets shrink->fewest_known if every list with fewer
 *          non-zero answers was tried
 */
uint32_t sim_shrink_fewest(struct sim_shrink *shrink, struct sim_choice *list,
                           uint32_t count, uint32_t list_max,
                           uint64_t calls_max);

/*
 * Report for each non-zero answer whether the failure needs it, that is,
 * whether the run passes with only this answer set to 0.
 *
 * out:     necessary[0..count): zero answers get false
 * returns: how many are necessary
 */
uint32_t sim_shrink_necessary(struct sim_shrink *shrink,
                              const struct sim_choice *list, uint32_t count,
                              bool *necessary);

#endif
