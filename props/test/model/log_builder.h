/*
 * log_builder.h -- write a truth log by hand, and read the model's results as
 * text. Stacks are named A, B, C, ...
 */
#ifndef PROPS_LOG_BUILDER_H
#define PROPS_LOG_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "heap.h"
#include "truth.h"

enum {
    LOG_STACKS = 8,
    LOG_DEPTH = 3,
    LOG_OBJECTS_MAX = 256,
    LOG_BUCKETS_MAX = 64,
    LOG_ENTRIES_MAX = 1024,
    LOG_TEXT_BYTES = 1024
};

struct log_builder {
    struct truth_log log;
    struct truth_entry entries[LOG_ENTRIES_MAX];
    struct truth_stack stacks[LOG_STACKS];
    uintptr_t frames[LOG_STACKS][LOG_DEPTH];
    uint32_t objects;
    struct model_limits limits;
    struct model_heap *model;
    char text[LOG_TEXT_BYTES];
};

/* Begin with an empty log, by the exact rules except for `scheme`. */
void props_log_begin(struct log_builder *builder, enum model_scheme scheme);
void props_log_end(struct log_builder *builder);

/* Begin again, with the current builder->limits. */
void props_log_again(struct log_builder *builder);

/* Append an entry and let the model read it. */
void props_log_tell(struct log_builder *builder,
                    const struct truth_entry *entry);
void props_log_call(struct log_builder *builder, enum truth_kind kind);

/* Append an allocation. returns: the object */
uint32_t props_log_alloc(struct log_builder *builder, char stack,
                         uint64_t size_bytes);
void props_log_object(struct log_builder *builder, enum truth_kind kind,
                      uint32_t object);
struct model_answer props_log_snapshot(struct log_builder *builder, bool all,
                                       uint32_t room);

/* Append a mark termination and a next_cycle. */
void props_log_gc(struct log_builder *builder);

/*
 * returns: the published allocations and frees of each heap bucket that has
 *          any, oldest first: "A 2/1 B 1/0"; valid until the next text
 */
const char *props_log_published(struct log_builder *builder);

/* returns: what the heap oracle says, as "k=1: A 2/1", or "unknown" */
const char *props_log_heap(struct log_builder *builder);

#endif
