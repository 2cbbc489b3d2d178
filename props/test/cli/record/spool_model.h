/*
 * spool_model.h -- random spools, with all kinds of records, and what a
 * recording of each must say: written from embed/spool.h and docs/recording.md
 * alone.
 *
 * There are three places for modules. In each, files replace each other; one of
 * them has two mappings. None of the files exists.
 */
#ifndef SPOOL_MODEL_H
#define SPOOL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"
#include "spool.h"

enum {
    SPOOL_PLACES = 3,
    SPOOL_FILES = 4, /* of a place */
    SPOOL_DEPTH = 8,
    SPOOL_STACKS = 400,
    SPOOL_EVENTS = 4000,
    SPOOL_THREADS = 5,
    SPOOL_ADDRESSES = 40,
    SPOOL_RESIZES = 6,
    SPOOL_BYTES_MAX = 1 << 18
};

struct spool_pc {
    uint64_t pc;
    int place; /* -1: of no module */
    int file;
};

struct spool_stack {
    uint64_t offset;
    uint32_t depth;
    struct spool_pc pcs[SPOOL_DEPTH];
};

/* A resize that has begun. */
struct spool_resize {
    uint64_t offset; /* 0: none */
    uint64_t object; /* UINT64_MAX: not known */
};

struct spool_model {
    uint8_t bytes[SPOOL_BYTES_MAX];
    uint64_t now_ticks; /* of the event before */
    uint64_t base;      /* where this image's files are */

    struct sim_recorded events[SPOOL_EVENTS]; /* stack: index in stacks */
    uint64_t event_ends[SPOOL_EVENTS]; /* offset behind each one's record */
    uint32_t events_count;
    struct spool_stack stacks[SPOOL_STACKS];
    uint32_t stacks_count;
    uint64_t thread_numbers[SPOOL_THREADS];
    char thread_names[SPOOL_THREADS][16];
    uint32_t threads_count;
    uint64_t dropped[EMBED_DROP_COUNT];

    uint64_t object_at[SPOOL_ADDRESSES]; /* UINT64_MAX: none */
    uint64_t objects;
    uint64_t lock_numbers[8]; /* UINT64_MAX: not seen yet */
    uint64_t locks;
    struct spool_resize resizes[SPOOL_RESIZES];
    int current[SPOOL_PLACES];    /* the file that is mapped */
    bool is_logged[SPOOL_PLACES]; /* since the last unload */
    bool is_due[SPOOL_PLACES];    /* a stack of it was logged before it was */
    int layers[SPOOL_PLACES][SPOOL_FILES]; /* from 1; 0: never logged */
    int layers_count[SPOOL_PLACES];
};

/* Make a spool of about so many records. */
void spool_model_make(struct spool_model *model, uint64_t seed,
                      uint32_t records);

/* What convert() must find; in: whole, whether the spool was not cut: then
 * names and sums are checked, too */
void spool_model_check(const struct spool_model *model,
                       const struct sim_recording *recording, bool whole);

#endif
