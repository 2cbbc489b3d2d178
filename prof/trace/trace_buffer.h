/*
 * trace_buffer.h -- buffers of trace bytes: how numbers are written into one,
 * and the queue of full ones.
 */
#ifndef PROF_TRACE_TRACE_BUFFER_H
#define PROF_TRACE_TRACE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/core/assertion.h"
#include "prof/core/varint.h"

struct trace_buffer {
    struct trace_buffer *next; /* guarded by the trace lock while queued */
    uint64_t last_sequence;    /* only the owner uses this and the fields
                                  below */
    uint64_t last_ticks;
    uint32_t used_bytes;
    uint32_t limit_bytes; /* immutable */
    uint8_t bytes[];
};

enum {
    NUMBER_BYTES_MAX = VARINT_MAX, /* of a 64-bit number */
    BATCH_BYTES_MAX = 1 + 3 * NUMBER_BYTES_MAX,
    EVENT_BYTES_MAX = 2 + 5 * NUMBER_BYTES_MAX
};

/* Is there room for any event? in: NULL for no buffer */
static inline bool
trace_has_room(const struct trace_buffer *buffer)
{
    return buffer != NULL &&
           buffer->limit_bytes - buffer->used_bytes >= EVENT_BYTES_MAX;
}

/* in: room for NUMBER_BYTES_MAX in the buffer */
static inline void
trace_put_number(struct trace_buffer *buffer, uint64_t value)
{
    uint8_t *const at = &buffer->bytes[buffer->used_bytes];

    buffer->used_bytes = (uint32_t)(put_varint(at, value) - buffer->bytes);
}

static inline void
trace_put_byte(struct trace_buffer *buffer, uint8_t byte)
{
    buffer->bytes[buffer->used_bytes++] = byte;
}

/* A first-in first-out queue of full buffers. */
struct trace_queue {
    struct trace_buffer *head;
    struct trace_buffer *tail; /* NULL if head is */
};

static inline void
trace_queue_push(struct trace_queue *queue, struct trace_buffer *buffer)
{
    buffer->next = NULL;
    if (queue->tail == NULL)
        queue->head = buffer;
    else
        queue->tail->next = buffer;
    queue->tail = buffer;
}

static inline struct trace_buffer *
trace_queue_pop(struct trace_queue *queue)
{
    struct trace_buffer *buffer = queue->head;

    if (buffer != NULL) {
        queue->head = buffer->next;
        if (queue->head == NULL)
            queue->tail = NULL;
    }
    return buffer;
}

#endif
