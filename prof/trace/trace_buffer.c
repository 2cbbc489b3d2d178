/*
 * trace_buffer.c -- moves buffers between the empty list, their owners and the
 * queue of full ones; see trace.c, I2 to I4. Each call takes `lock`; none
 * writes an event.
 */
#include "prof/core/assertion.h"
#include "prof/trace/tracer.h"

#include "prof/core/poison.h"

void
prof_trace_notify_reader(struct prof_trace *trace)
{
    /* Release [pair: reader-wakeup]: the data first, then the wake-up. */
    add_release(&trace->reader_wakeups, 1);
    prof_port_wake(trace_word(&trace->reader_wakeups));
}

void
prof_trace_give_up(struct prof_trace *trace, struct trace_buffer **owned)
{
    struct trace_buffer *const buffer = *owned;
    bool has_bytes;

    if (buffer == NULL)
        return;
    *owned = NULL;
    has_bytes = buffer->used_bytes > 0;
    prof_port_lock_take(&trace->lock);
    if (has_bytes) {
        trace_queue_push(&trace->full, buffer);
    } else {
        buffer->next = trace->empty;
        trace->empty = buffer;
    }
    prof_port_lock_release(&trace->lock);
    if (has_bytes)
        prof_trace_notify_reader(trace);
}

struct trace_buffer *
prof_trace_take_empty(struct prof_trace *trace)
{
    struct trace_buffer *buffer;

    prof_port_lock_take(&trace->lock);
    buffer = trace->is_cut ? NULL : trace->empty;
    if (buffer != NULL)
        trace->empty = buffer->next;
    prof_port_lock_release(&trace->lock);
    if (buffer != NULL)
        buffer->used_bytes = 0; /* the batch header sets the rest */
    return buffer;
}

bool
prof_trace_is_filling(struct prof_trace *trace)
{
    const uint32_t half = (trace->buffers_count + 1) / 2; /* rounded up */
    uint32_t empty = 0;

    prof_port_lock_take(&trace->lock);
    for (const struct trace_buffer *buffer = trace->empty;
         buffer != NULL && empty < half; buffer = buffer->next)
        empty++;
    prof_port_lock_release(&trace->lock);
    return empty < half;
}

void
prof_trace_put_batch(struct trace_buffer *buffer, uint64_t proc,
                     const struct prof_trace_stamp *stamp)
{
    trace_put_byte(buffer, EV_BATCH | 1 << 6);
    trace_put_number(buffer, proc);
    trace_put_number(buffer, stamp->sequence);
    trace_put_number(buffer, stamp->ticks);
    buffer->last_sequence = stamp->sequence;
    buffer->last_ticks = stamp->ticks;
}
