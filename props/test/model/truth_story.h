/*
 * truth_story.h -- write a truth log by hand and read the model's answers as
 * text. Stacks have the names A, B, C, ...
 */
#ifndef PROPS_TRUTH_STORY_H
#define PROPS_TRUTH_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "heap.h"
#include "truth.h"

enum {
    STORY_STACKS = 8,
    STORY_DEPTH = 3,
    STORY_OBJECTS_MAX = 256,
    STORY_BUCKETS_MAX = 64,
    STORY_ENTRIES_MAX = 1024,
    STORY_TEXT_BYTES = 1024
};

struct story {
    struct truth_log log;
    struct truth_entry entries[STORY_ENTRIES_MAX];
    struct truth_stack stacks[STORY_STACKS];
    uintptr_t frames[STORY_STACKS][STORY_DEPTH];
    uint32_t objects;
    struct model_limits limits;
    struct model_heap *model;
    char text[STORY_TEXT_BYTES];
};

/* Begin a story with an empty log; exact rules but for `scheme`. */
void props_story_begin(struct story *story, enum model_scheme scheme);
void props_story_end(struct story *story);

/* Begin again, under story->limits as they are now. */
void props_story_again(struct story *story);

/* Append an entry and let the model read it. */
void props_story_tell(struct story *story, const struct truth_entry *entry);
void props_story_call(struct story *story, enum truth_kind kind);

/* returns: the object */
uint32_t props_story_alloc(struct story *story, char stack,
                           uint64_t size_bytes);
void props_story_object(struct story *story, enum truth_kind kind,
                        uint32_t object);
struct model_answer props_story_snapshot(struct story *story, bool all,
                                         uint32_t room);

/* Mark termination and next_cycle. */
void props_story_gc(struct story *story);

/*
 * returns: what is published of each heap bucket that has anything published,
 *          oldest first, as "A 2/1 B 1/0"; valid until the next text
 */
const char *props_story_published(struct story *story);

/* returns: what the heap oracle says, as "k=1: A 2/1", or "unknown" */
const char *props_story_heap(struct story *story);

/* ---- The story of a test, told in words ---- */

extern struct story story_told;

/* As fixtures: it begins, with either scheme, and ends. */
int story_of_ring(void **state);
int story_of_stages(void **state);
int story_end(void **state);

/* returns: the object, of 8 bytes */
uint32_t story_alloc(char stack);
void story_dead(uint32_t object);
void story_sweep(uint32_t object);
void story_flush(void);
void story_post_sweep(void);
void story_gc(void);

/* A whole background collection in which nothing dies. */
void story_gc_and_flush(void);

/* What a snapshot taken now shows, and what the heap oracle says of it. */
void story_shows(const char *published, const char *heap);

#endif
