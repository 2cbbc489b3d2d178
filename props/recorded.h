/*
 * recorded.h -- judge the library on a recording of a real program.
 */
#ifndef PROPS_RECORDED_H
#define PROPS_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "judge.h"
#include "recording.h"

/* A place that allocates: what it had in use when the heap was largest. */
struct props_site {
    uint32_t stack; /* of the recording */
    uint64_t inuse_bytes;
    uint64_t inuse_objects;
    uint64_t alloc_bytes;
    uint64_t alloc_objects;
};

enum { PROPS_SITES_MAX = 64 };

struct props_recorded {
    struct props_breach breach; /* property PROPS_NONE: everything holds */
    uint64_t recorded_events;   /* replayed */
    uint64_t unpaired_releases; /* not replayed: nobody's wait was seen */
    uint64_t events;            /* of the world */
    uint32_t collections;
    uint64_t snapshots;
    uint64_t buckets;
    uint64_t peak_inuse_bytes; /* shown by the largest snapshot */
    uint64_t peak_inuse_objects;
    uint64_t hash;
    struct props_marks marks;
    struct props_site sites[PROPS_SITES_MAX]; /* of that snapshot, largest
                                                 first */
    uint32_t sites_count;
};

/*
 * What a replay can show besides its result. Stacks are the library's and gone
 * when `take` returns.
 */
struct props_recorded_taken {
    struct prof *prof;                   /* at the end of the replay */
    const struct prof_heap_record *heap; /* the largest snapshot */
    size_t heap_count;
};

struct props_recorded_taker {
    void (*take)(void *context, const struct props_recorded_taken *taken);
    void *context;
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
                               const struct prof_rules *rules, props_set asked,
                               void (*progress)(uint64_t done, uint64_t total));

/* The same, and show what there is to see to `taker` once it is over. */
const char *
props_recorded_run_taking(struct props_recorded *result,
                          const struct sim_recording *recording,
                          const struct prof_rules *rules, props_set asked,
                          void (*progress)(uint64_t done, uint64_t total),
                          const struct props_recorded_taker *taker);

#endif
