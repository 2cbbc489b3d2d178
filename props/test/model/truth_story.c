/*
 * truth_story.c -- write a truth log by hand and read the model's answers.
 */
#include "truth_story.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void
props_story_begin(struct story *story, enum model_scheme scheme)
{
    memset(story, 0, sizeof *story);
    for (uint32_t i = 0; i < STORY_STACKS; i++) {
        /* The leaves differ, the callers are the same. */
        story->frames[i][0] = 'A' + (uintptr_t)i;
        story->frames[i][1] = 1000;
        story->frames[i][2] = 2000;
        story->stacks[i].frames = story->frames[i];
        story->stacks[i].depth = STORY_DEPTH;
    }
    story->log.entries = story->entries;
    story->log.entries_max = STORY_ENTRIES_MAX;
    story->log.stacks = story->stacks;
    story->log.stacks_count = STORY_STACKS;
    story->limits = (struct model_limits){
        .scheme = scheme,
        .depth_max = 32,
        .buckets_max = STORY_BUCKETS_MAX,
        .frames_max = 1000,
    };
    story->model =
        model_heap_new(STORY_OBJECTS_MAX, STORY_BUCKETS_MAX, STORY_ENTRIES_MAX);
    assert_non_null(story->model);
    props_story_again(story);
}

void
props_story_end(struct story *story)
{
    model_heap_delete(story->model);
}

void
props_story_again(struct story *story)
{
    story->log.entries_count = 0;
    story->objects = 0;
    model_heap_reset(story->model, &story->limits, &story->log);
}

void
props_story_tell(struct story *story, const struct truth_entry *entry)
{
    assert_true(story->log.entries_count < STORY_ENTRIES_MAX);
    story->entries[story->log.entries_count++] = *entry;
    model_heap_feed(story->model);
}

void
props_story_call(struct story *story, enum truth_kind kind)
{
    props_story_tell(story, &(struct truth_entry){.kind = kind});
}

uint32_t
props_story_alloc(struct story *story, char stack, uint64_t size_bytes)
{
    props_story_tell(story, &(struct truth_entry){
                                .kind = TRUTH_ALLOC,
                                .object = story->objects,
                                .stack = (uint32_t)(stack - 'A'),
                                .size_bytes = size_bytes,
                            });
    return story->objects++;
}

void
props_story_object(struct story *story, enum truth_kind kind, uint32_t object)
{
    props_story_tell(story,
                     &(struct truth_entry){.kind = kind, .object = object});
}

struct model_answer
props_story_snapshot(struct story *story, bool all, uint32_t room)
{
    props_story_tell(story, &(struct truth_entry){.kind = TRUTH_SNAPSHOT,
                                                  .flag = all,
                                                  .room = room});
    return model_heap_answer(story->model);
}

void
props_story_gc(struct story *story)
{
    props_story_call(story, TRUTH_TERMINATE);
    props_story_call(story, TRUTH_NEXT_CYCLE);
}

static void
text_add(struct story *story, char name, uint64_t allocs, uint64_t frees)
{
    const size_t used = strlen(story->text);

    if (allocs == 0 && frees == 0)
        return;
    snprintf(story->text + used, STORY_TEXT_BYTES - used, "%s%c %llu/%llu",
             used == 0 || story->text[used - 1] == ' ' ? "" : " ", name,
             (unsigned long long)allocs, (unsigned long long)frees);
}

const char *
props_story_published(struct story *story)
{
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(story->model, &count);

    story->text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add(story, (char)b[i].frames[0], b[i].allocs, b[i].frees);
    return story->text;
}

const char *
props_story_heap(struct story *story)
{
    uint32_t k;
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(story->model, &count);

    if (!model_heap_at(story->model, &k))
        return "unknown";
    snprintf(story->text, STORY_TEXT_BYTES, "k=%u: ", k);
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add(story, (char)b[i].frames[0], b[i].allocs_then,
                     b[i].frees_then);
    return story->text;
}

/* ---- in words ---- */

struct story story_told;

int
story_of_ring(void **state)
{
    (void)state;
    props_story_begin(&story_told, MODEL_RING);
    return 0;
}

int
story_of_stages(void **state)
{
    (void)state;
    props_story_begin(&story_told, MODEL_STAGES);
    return 0;
}

int
story_end(void **state)
{
    (void)state;
    props_story_end(&story_told);
    return 0;
}

uint32_t
story_alloc(char stack)
{
    return props_story_alloc(&story_told, stack, 8);
}

void
story_dead(uint32_t object)
{
    props_story_object(&story_told, TRUTH_DEAD, object);
}

void
story_sweep(uint32_t object)
{
    props_story_object(&story_told, TRUTH_SWEEP, object);
}

void
story_flush(void)
{
    props_story_call(&story_told, TRUTH_FLUSH);
}

void
story_post_sweep(void)
{
    props_story_call(&story_told, TRUTH_POST_SWEEP);
}

void
story_gc(void)
{
    props_story_gc(&story_told);
}

void
story_gc_and_flush(void)
{
    story_gc();
    story_flush();
}

void
story_shows(const char *published, const char *heap)
{
    props_story_snapshot(&story_told, true, TRUTH_ROOM_ENOUGH);
    assert_string_equal(props_story_published(&story_told), published);
    assert_string_equal(props_story_heap(&story_told), heap);
}
