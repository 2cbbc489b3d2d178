/*
 * bucket_worlds.h -- random worlds of page_buckets.c, and what is published and
 * waits in each bucket after each of their events: a model of the ring and of
 * the two stages (docs/semantics.md).
 */
#ifndef PROPS_BUCKET_WORLDS_H
#define PROPS_BUCKET_WORLDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    WORLD_EVENTS = 60,
    WORLD_STACKS = 7,
    WORLD_KEPT = 3, /* frames of a stack */
    WORLD_BUCKETS = 64
};

enum world_kind { WORLD_HEAP, WORLD_BLOCK, WORLD_MUTEX };

struct world_bucket {
    enum world_kind kind;
    char frames[WORLD_KEPT + 1]; /* leaf first */
    uint64_t size_bytes;
    uint64_t shown[2];    /* published */
    uint64_t slots[3][2]; /* a ring; or the previous stage, the recent one */
    bool listed;          /* by the snapshot of this event */
};

enum world_life { UNBORN, LIVE, DROPPED, DOOMED, DEAD, GONE };

/* A world after an event. */
struct world_after {
    uint32_t rules;
    struct world_bucket buckets[WORLD_BUCKETS];
    uint32_t count;
    enum world_life lives[WORLD_EVENTS];
    uint32_t bucket_of[WORLD_EVENTS]; /* by object */
    uint32_t objects;
    uint32_t cycle;
    bool flushed;
    bool marking;
    bool fits; /* the snapshot's buckets fit into its room */
};

extern const char *world_stacks[WORLD_STACKS]; /* leaf first */
extern struct world_after world_after[2][WORLD_EVENTS];
extern char world_events[2][WORLD_EVENTS][64];

/* Draw the stacks and events of both worlds; they have their snapshots at the
 * same time. */
void worlds_draw(uint64_t seed);

/* Write one of them as a scenario. */
void world_write(int world, FILE *to);

#endif
