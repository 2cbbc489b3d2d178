/*
 * trace_init.c -- the layout of a tracer in its block.
 *
 *      struct prof_trace | procs | stacks: slots, entries, words | buffers
 */
#include <string.h>

#include "prof/core/block.h"
#include "prof/core/assertion.h"
#include "prof/trace/tracer.h"

#include "prof/core/poison.h"

#define STACKS_DEFAULT  16384U
#define DIVISOR_DEFAULT 64U
#define BUFFERS_LIMIT   (1U << 24)
#define BUFFER_LIMIT    (1U << 30)

_Static_assert(PROF_TRACE_BUFFER_BYTES_MIN >= BATCH_BYTES_MAX + EVENT_BYTES_MAX,
               "an empty buffer has room for a batch header and an event");

struct layout {
    struct table stacks;
    struct table_layout sizes;
    size_t procs;
    size_t slots;
    size_t entries;
    size_t words;
    size_t buffers;
    size_t buffer_stride;
    uint32_t buffer_bytes;
    size_t end;
};

static enum prof_status
layout_of(struct layout *layout, const struct prof_trace_config *config)
{
    const uint32_t stacks =
        config->stacks_max != 0 ? config->stacks_max : STACKS_DEFAULT;
    const struct prof_config table = {
        .buckets_max = stacks,
        .depth_max = PROF_TRACE_DEPTH_LIMIT,
        .frames_max = config->frames_max != 0 ? config->frames_max
                                              : UINT64_C(32) * stacks,
    };
    enum prof_status status;

    memset(layout, 0, sizeof *layout);
    layout->buffer_bytes = config->buffer_bytes != 0 ? config->buffer_bytes
                                                     : PROF_TRACE_BUFFER_BYTES;
    if (config->procs_max == 0 || config->procs_max > PROF_PROCS_LIMIT ||
        config->buffers_max < config->procs_max + 2 ||
        config->buffers_max > BUFFERS_LIMIT ||
        config->order > PROF_TRACE_ORDER_CLOCK ||
        layout->buffer_bytes < PROF_TRACE_BUFFER_BYTES_MIN ||
        layout->buffer_bytes > BUFFER_LIMIT)
        return PROF_ERR_CONFIG;
    status = prof_table_layout(&layout->stacks, &layout->sizes, &table);
    if (status != PROF_OK)
        return status;
    layout->buffer_stride =
        aligned(sizeof(struct trace_buffer) + layout->buffer_bytes);
    layout->procs = aligned(sizeof(struct prof_trace));
    layout->slots =
        layout->procs + config->procs_max * sizeof(struct trace_proc);
    layout->entries = layout->slots + aligned(layout->sizes.slots_bytes);
    layout->words = layout->entries + aligned(layout->sizes.entries_bytes);
    layout->buffers = layout->words + aligned(layout->sizes.words_bytes);
    layout->end = layout->buffers + config->buffers_max * layout->buffer_stride;
    return PROF_OK;
}

size_t
prof_trace_bytes_needed(const struct prof_trace_config *config)
{
    struct layout layout;

    return layout_of(&layout, config) == PROF_OK ? layout.end : 0;
}

static bool
is_power_of_2(uint32_t value)
{
    return (value & (value - 1)) == 0;
}

static uint32_t
bits_for(uint32_t lanes)
{
    return 32 - (uint32_t)__builtin_clz(lanes - 1);
}

static struct trace_buffer *
buffer_at(const struct prof_trace *trace, uint32_t index)
{
    return (void *)(trace->buffers + index * trace->buffer_stride);
}

void
prof_trace_empty_buffers(struct prof_trace *trace)
{
    trace->empty = NULL;
    for (uint32_t i = trace->buffers_count; i-- > 0;) {
        struct trace_buffer *buffer = buffer_at(trace, i);

        buffer->next = trace->empty;
        trace->empty = buffer;
    }
}

enum prof_status
prof_trace_init(struct prof_trace **out, const struct prof_trace_config *config,
                void *block, size_t block_bytes)
{
    unsigned char *const base = block;
    struct layout layout;
    struct prof_trace *trace;
    enum prof_status status = layout_of(&layout, config);

    if (status != PROF_OK)
        return status;
    if (block_bytes < layout.end || (uintptr_t)block % PROF_BLOCK_ALIGN != 0)
        return PROF_ERR_MEMORY;
    trace = block;
    trace->clock = config->clock;
    trace->tick_divisor =
        config->tick_divisor != 0 ? config->tick_divisor : DIVISOR_DEFAULT;
    trace->tick_shift = is_power_of_2(trace->tick_divisor)
                            ? (uint32_t)__builtin_ctz(trace->tick_divisor)
                            : 64;
    trace->order = config->order;
    trace->lane_bits = bits_for(config->procs_max + 2);
    trace->procs_count = config->procs_max;
    trace->procs = (void *)(base + layout.procs);
    trace->stacks = layout.stacks;
    trace->stacks.slots = (void *)(base + layout.slots);
    trace->stacks.entries = (void *)(base + layout.entries);
    trace->stacks.words = prof_table_words(base + layout.words);
    trace->stacks_layout = layout.sizes;
    trace->buffers = base + layout.buffers;
    trace->buffer_stride = layout.buffer_stride;
    trace->buffers_count = config->buffers_max;
    for (uint32_t i = trace->buffers_count; i-- > 0;)
        buffer_at(trace, i)->limit_bytes = layout.buffer_bytes;
    prof_trace_empty_buffers(trace);
    *out = trace;
    return PROF_OK;
}
