/*
 * prof/rules.h -- what differs between the eras, as data.
 *
 * A rule set is one struct; a preset exists per era of the Go runtime, and
 * `prof_rules_exact`, the default, takes the best of each.
 * Source: docs/semantics.md, "Rule sets".
 */
#ifndef PROF_RULES_H
#define PROF_RULES_H

#include <stdbool.h>

/* How a heap event waits until its allocation and its free agree. */
enum prof_heap_scheme {
    PROF_HEAP_STAGES, /* previous and recent, moved up one stage at each GC */
    PROF_HEAP_RING    /* three future slots, one per cycle number modulo 3 */
};

/* When PROF_HEAP_STAGES moves its stages up. */
enum prof_stage_turn {
    PROF_TURN_STOPPED,  /* in next_cycle, while the world is stopped */
    PROF_TURN_RESTARTED /* in flush, after the restart: golang/go#19311 */
};

/* Where prof_heap_free_explicit() counts. */
enum prof_explicit_free {
    PROF_EXPLICIT_DROPPED, /* the era has no such path: dropped and counted */
    PROF_EXPLICIT_RECENT   /* with the allocations of now */
};

struct prof_rules {
    const char *name;
    enum prof_heap_scheme heap;
    enum prof_stage_turn turn; /* PROF_HEAP_STAGES only */
    enum prof_explicit_free explicit_free;
    /*
     * A snapshot call that is too short still spends the first-snapshot rule
     * (as Go does), so the call that follows it shows less.
     */
    bool sizing_consumes_first;
};

extern const struct prof_rules prof_rules_exact;
extern const struct prof_rules prof_rules_go1_5;
extern const struct prof_rules prof_rules_go1_6_late; /* known bad */
extern const struct prof_rules prof_rules_go1_10;
extern const struct prof_rules prof_rules_go1_17;

/*
 * in:      name, as in `name` above: "exact", "go1.5", "go1.6-late", ...
 * returns: the preset, NULL if there is none of that name
 */
const struct prof_rules *prof_rules_find(const char *name);

#endif
