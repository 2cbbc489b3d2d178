/*
 * log_builder.c -- see log_builder.h.
 */
#include "log_builder.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "unit_test.h"

void
props_log_begin(struct log_builder *builder, enum model_scheme scheme)
{
    memset(builder, 0, sizeof *builder);
    for (uint32_t i = 0; i < LOG_STACKS; i++) {
        /* Stacks differ in the leaf, and have the same callers. */
        builder->frames[i][0] = 'A' + (uintptr_t)i;
        builder->frames[i][1] = 1000;
        builder->frames[i][2] = 2000;
        builder->stacks[i].frames = builder->frames[i];
        builder->stacks[i].depth = LOG_DEPTH;
    }
    builder->log.entries = builder->entries;
    builder->log.entries_max = LOG_ENTRIES_MAX;
    builder->log.stacks = builder->stacks;
    builder->log.stacks_count = LOG_STACKS;
    builder->limits = (struct model_limits){
        .scheme = scheme,
        .depth_max = 32,
        .buckets_max = LOG_BUCKETS_MAX,
        .frames_max = 1000,
    };
    builder->model =
        model_heap_new(LOG_OBJECTS_MAX, LOG_BUCKETS_MAX, LOG_ENTRIES_MAX);
    assert_non_null(builder->model);
    props_log_again(builder);
}

void
props_log_end(struct log_builder *builder)
{
    model_heap_delete(builder->model);
}

void
props_log_again(struct log_builder *builder)
{
    builder->log.entries_count = 0;
    builder->objects = 0;
    model_heap_reset(builder->model, &builder->limits, &builder->log);
}

void
props_log_tell(struct log_builder *builder, const struct truth_entry *entry)
{
    assert_true(builder->log.entries_count < LOG_ENTRIES_MAX);
    builder->entries[builder->log.entries_count++] = *entry;
    model_heap_feed(builder->model);
}

void
props_log_call(struct log_builder *builder, enum truth_kind kind)
{
    props_log_tell(builder, &(struct truth_entry){.kind = kind});
}

uint32_t
props_log_alloc(struct log_builder *builder, char stack, uint64_t size_bytes)
{
    props_log_tell(builder, &(struct truth_entry){
                                .kind = TRUTH_ALLOC,
                                .object = builder->objects,
                                .stack = (uint32_t)(stack - 'A'),
                                .size_bytes = size_bytes,
                            });
    return builder->objects++;
}

void
props_log_object(struct log_builder *builder, enum truth_kind kind,
                 uint32_t object)
{
    props_log_tell(builder,
                   &(struct truth_entry){.kind = kind, .object = object});
}

struct model_answer
props_log_snapshot(struct log_builder *builder, bool all, uint32_t room)
{
    props_log_tell(builder, &(struct truth_entry){.kind = TRUTH_SNAPSHOT,
                                                  .flag = all,
                                                  .room = room});
    return model_heap_answer(builder->model);
}

void
props_log_gc(struct log_builder *builder)
{
    props_log_call(builder, TRUTH_TERMINATE);
    props_log_call(builder, TRUTH_NEXT_CYCLE);
}

static void
text_add(struct log_builder *builder, char name, uint64_t allocs,
         uint64_t frees)
{
    const size_t used = strlen(builder->text);

    if (allocs == 0 && frees == 0)
        return;
    snprintf(builder->text + used, LOG_TEXT_BYTES - used, "%s%c %llu/%llu",
             used == 0 || builder->text[used - 1] == ' ' ? "" : " ", name,
             (unsigned long long)allocs, (unsigned long long)frees);
}

const char *
props_log_published(struct log_builder *builder)
{
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(builder->model, &count);

    builder->text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add(builder, (char)b[i].frames[0], b[i].allocs, b[i].frees);
    return builder->text;
}

const char *
props_log_heap(struct log_builder *builder)
{
    uint32_t k;
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(builder->model, &count);

    if (!model_heap_at(builder->model, &k))
        return "unknown";
    snprintf(builder->text, LOG_TEXT_BYTES, "k=%u: ", k);
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add(builder, (char)b[i].frames[0], b[i].allocs_then,
                     b[i].frees_then);
    return builder->text;
}
