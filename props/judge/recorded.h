/*
 * recorded.h -- judge the library on a recording of a real program.
 */
#ifndef PROPS_JUDGE_RECORDED_H
#define PROPS_JUDGE_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "props/judge/judge.h"
#include "common/recording/recording.h"

struct props_recorded {
    struct props_breach breach; /* PROPS_NONE: all hold */
    uint64_t recorded_events;   /* replayed */
    uint64_t unpaired_releases; /* their waits were not recorded */
    uint64_t events;            /* of the world */
    uint32_t collections;
    uint64_t snapshots;
    uint64_t buckets;
    uint64_t hash;
    struct props_coverage cover;
};

/*
 * Replay a recording through the simulated collector, and judge every event.
 *
 * out:     *result
 * in:      progress, called now and then with done and total events; or NULL
 * returns: NULL, or why it could not be done (static text)
 */
const char *props_recorded_run(struct props_recorded *result,
                               const struct sim_recording *recording,
                               const struct prof_rules *rules,
                               props_set requested,
                               void (*progress)(uint64_t done, uint64_t total));

#endif
