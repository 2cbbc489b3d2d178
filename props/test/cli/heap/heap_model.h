/*
 * heap_model.h -- random recordings, and what `profsim run` and `profsim diff`
 * must show of them, added up from docs/recording.md and live_heap.h alone.
 *
 * Numbers are summed in a second walk up to the peak, which a first walk finds.
 */
#ifndef HEAP_MODEL_H
#define HEAP_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    MODEL_STACKS = 2100,
    MODEL_FRAMES = 400,
    MODEL_DEPTH = 128,
    MODEL_CALLS = 1024, /* of one stack; more are left out */
    MODEL_EVENTS = 6000,
    MODEL_THREADS = 24,
    MODEL_MODULES = 4,
    MODEL_CAUSES = 8,
    MODEL_SPANS = 32,
    MODEL_CLASSES = 65
};

enum model_measure { MODEL_PEAK, MODEL_EXIT, MODEL_ALLOCS, MODEL_MEASURES };

struct model_count {
    uint64_t objects;
    uint64_t bytes;
};

/* By measure, and what was allocated up to the peak. */
struct model_sums {
    struct model_count at[MODEL_MEASURES];
    struct model_count peak_allocs;
};

struct model_call {
    const char *symbol;
    const char *shown; /* its name as people read it */
    const char *file;
    const char *module;
    uint64_t address; /* of its own */
    uint64_t pc;
    uint64_t offset; /* in its function */
    uint32_t line;
    bool is_plumbing; /* malloc and the like */
    bool is_inlined;  /* into the next one */
};

struct model_stack {
    uint32_t frames[MODEL_DEPTH];
    uint32_t depth;
    struct model_sums sums;
};

enum model_kind {
    MODEL_ALLOC,
    MODEL_FREE,
    MODEL_RESIZE,
    MODEL_WAIT,
    MODEL_RELEASE
};

struct model_event {
    enum model_kind kind;
    uint32_t thread;
    uint32_t stack;
    uint64_t ticks;
    uint64_t object;
    uint64_t bytes;
    uint64_t usable_bytes; /* 0: not asked */
    uint64_t lock;
    uint64_t waited;
};

/* Objects of one size and stack. */
struct model_bucket {
    uint32_t stack;
    uint64_t bytes;
    uint64_t allocs, frees, peak_allocs, peak_frees;
};

struct model_thread {
    uint64_t number;
    char name[16];
    struct model_count at[MODEL_MEASURES];
    struct model_count freed;
};

struct model_span {
    struct model_count allocs;
    uint64_t most_bytes;
    uint64_t last_bytes;
};

struct heap_model {
    uint64_t ticks_per_second;
    uint64_t duration_ticks;
    uint64_t peak_ticks;
    uint64_t usable_bytes; /* at the peak */
    uint64_t dropped[MODEL_CAUSES];
    uint64_t waits;
    uint32_t process;
    uint32_t arguments;
    const char *argument[12];
    bool has_usable;
    struct model_call calls[MODEL_FRAMES];
    uint32_t calls_count;
    struct model_stack stacks[MODEL_STACKS];
    uint32_t stacks_count;
    struct model_event events[MODEL_EVENTS];
    uint32_t events_count;
    struct model_thread threads[MODEL_THREADS];
    uint32_t threads_count;
    struct model_bucket buckets[MODEL_EVENTS];
    uint32_t buckets_count;
    struct model_sums total;
    struct model_sums classes[MODEL_CLASSES];
    struct model_span spans[MODEL_SPANS];
};

extern const char *const heap_model_modules[MODEL_MODULES]; /* paths */

/* Make a recording and add it up. in: stacks_count, at least 3 */
void heap_model_make(struct heap_model *model, uint64_t seed,
                     uint32_t stacks_count);

void heap_model_write(const struct heap_model *model, const char *path);

/* The calls of a stack, leaf first. returns: how many */
uint32_t heap_model_calls(const struct heap_model *model, uint32_t stack,
                          const struct model_call **calls);

#endif
