/*
 * trace_read.c -- what the reader of a trace gets: header, buffers, stacks,
 * footer.
 *
 * The reader owns one buffer at a time, `reader_buffer`: a full one from the
 * queue, or one that it fills itself with header, stacks or footer. It writes
 * stacks one buffer at a time, from the table in which they are stored, so none
 * can be lost.
 *
 * Invariants
 *   I1  Bytes come in the order header, buffers as they were queued, stacks by
 *       number, footer; each part at most once a session.
 *   I2  Only the reader touches `reader_buffer`, until its next call.
 *   I3  Every stack that an event of the session names is among the stacks.
 */
#include <string.h>

#include "prof/core/assertion.h"
#include "prof/trace/tracer.h"
#include "prof/core/poison.h"

static const uint8_t header[16] = "go 1.5 trace";

/*
 * The integer part of 10^9 * a / c, computed in 64 bits. The product is built
 * bit by bit (from the top bit of 10^9); after each bit, what c divides moves
 * into the quotient.
 *
 * in:      a < 2^63, 0 < c < 2^62
 * returns: INT64_MAX if the result is larger
 */
static uint64_t
billion_over(uint64_t a, uint64_t c)
{
    const uint32_t billion = 1000000000; /* of 30 bits, the last is 0 */
    uint64_t whole = 0;
    uint64_t rest = 0; /* < c */

    for (int bit = 29; bit >= 0; bit--) {
        if (whole >> 62 != 0)
            return INT64_MAX;
        rest *= 2;
        whole *= 2;
        if ((billion >> bit & 1) != 0) {
            whole += a / c;
            rest += a % c;
        }
        for (; rest >= c; rest -= c)
            whole++;
    }
    return whole; /* twice what is below 2^62, plus 1 at most */
}

/* Ticks of the file per second; at least 1, whatever the clocks do. */
static uint64_t
frequency(const struct prof_trace *trace)
{
    uint64_t ticks = trace->ticks_end - trace->ticks_start;
    uint64_t ns = trace->ns_end - trace->ns_start;
    uint64_t hertz;

    if ((int64_t)ticks <= 0 || (int64_t)ns <= 0)
        return 1; /* a clock that stood still or went backwards */
    for (; ns >> 62 != 0; ns /= 2)
        ticks /= 2;
    hertz = billion_over(ticks, ns) / trace->tick_divisor;
    return hertz != 0 ? hertz : 1;
}

static void
put_footer(struct trace_buffer *buffer, const struct prof_trace *trace)
{
    trace_put_byte(buffer, EV_FREQUENCY);
    trace_put_number(buffer, frequency(trace));
    trace_put_number(buffer, 0);
    if (trace->timer_task_named != 0) {
        trace_put_byte(buffer, EV_TIMER_TASK);
        trace_put_number(buffer, trace->timer_task_named);
        trace_put_number(buffer, 0);
    }
}

static uint32_t
number_bytes(uint64_t value)
{
    uint32_t bytes = 1;

    for (; value >= 0x80; value >>= 7)
        bytes++;
    return bytes;
}

static bool
has_room(const struct trace_buffer *buffer, uint32_t bytes)
{
    return buffer->limit_bytes - buffer->used_bytes >= bytes;
}

/* A stack record up to its frames. */
static void
put_stack_head(struct trace_buffer *buffer, uint32_t id, struct bucket stack)
{
    uint32_t bytes = number_bytes(id) + number_bytes(stack.entry->depth);

    for (uint32_t i = 0; i < stack.entry->depth; i++)
        bytes += number_bytes(stack.frames[i]);
    trace_put_byte(buffer, EV_STACK | 3 << 6);
    trace_put_number(buffer, bytes);
    trace_put_number(buffer, id);
    trace_put_number(buffer, stack.entry->depth);
}

/*
 * Write as much of a stack as fits; the rest goes into the next buffer. So even
 * small buffers can take deep stacks.
 */
static bool
put_stack(struct trace_buffer *buffer, struct prof_trace *trace,
          struct bucket stack)
{
    if (trace->stack_done == 0) {
        if (!has_room(buffer, BATCH_BYTES_MAX)) /* as many numbers */
            return false;
        put_stack_head(buffer, trace->stack_next, stack);
        trace->stack_done = 1;
    }
    for (; trace->stack_done <= stack.entry->depth; trace->stack_done++) {
        if (!has_room(buffer, NUMBER_BYTES_MAX))
            return false;
        trace_put_number(buffer, stack.frames[trace->stack_done - 1]);
    }
    trace->stack_done = 0;
    return true;
}

/* Fill the buffer with stacks. returns: whether all have been written */
static bool
put_stacks(struct trace_buffer *buffer, struct prof_trace *trace)
{
    const uint32_t rows = prof_table_rows(&trace->stacks);

    for (; trace->stack_next <= rows; trace->stack_next++) {
        const struct bucket stack =
            prof_table_bucket(&trace->stacks, trace->stack_next);

        if (stack.entry != NULL && !put_stack(buffer, trace, stack))
            return false;
    }
    return true;
}

/* ---- the reader ---- */
/* Put the reader's buffer on the empty list. context: lock held */
static void
take_back(struct prof_trace *trace)
{
    if (trace->reader_buffer == NULL)
        return;
    trace->reader_buffer->next = trace->empty;
    trace->empty = trace->reader_buffer;
    trace->reader_buffer = NULL;
}

/* Give the reader an empty buffer to fill. context: lock held */
static struct trace_buffer *
lend_empty(struct prof_trace *trace)
{
    struct trace_buffer *buffer = trace->empty;

    PROF_ASSERT(buffer != NULL); /* the queue is empty, so buffers are free */
    trace->empty = buffer->next;
    buffer->used_bytes = 0;
    trace->reader_buffer = buffer;
    return buffer;
}

/* The parts after the events. context: lock held, session stopped */
static enum prof_status
next_of_rest(struct prof_trace *trace)
{
    struct trace_buffer *buffer = lend_empty(trace);

    if (trace->part == PART_EVENTS)
        trace->part = PART_STACKS;
    if (trace->part == PART_STACKS) {
        if (put_stacks(buffer, trace))
            trace->part = PART_FOOTER;
        if (buffer->used_bytes > 0)
            return PROF_OK;
    }
    if (trace->part == PART_FOOTER) {
        put_footer(buffer, trace);
        trace->part = PART_END;
        return PROF_OK;
    }
    take_back(trace);
    trace->stage = STAGE_OFF;
    /* Release [pair: end]: all was taken, before the word of it. */
    add_release(&trace->ends, 1);
    return PROF_ERR_END;
}

/* context: lock held */
static enum prof_status
next_part(struct prof_trace *trace)
{
    struct trace_buffer *buffer;

    take_back(trace);
    if (trace->stage == STAGE_OFF)
        return PROF_ERR_OFF;
    if (trace->part == PART_HEADER) {
        trace->part = PART_EVENTS;
        return PROF_OK; /* no buffer is out: the header is constant */
    }
    while ((buffer = trace_queue_pop(&trace->full)) != NULL) {
        trace->reader_buffer = buffer;
        if (!trace->is_cut || prof_trace_cut(trace, buffer))
            return PROF_OK;
        take_back(trace);
    }
    return trace->stage == STAGE_ON ? PROF_ERR_AGAIN : next_of_rest(trace);
}

enum prof_status
prof_trace_read(struct prof_trace *trace, const uint8_t **bytes,
                size_t *bytes_count)
{
    enum prof_status status;

    if (!prof_port_lock_try(&trace->reader_lock))
        return PROF_ERR_BUSY;
    prof_port_lock_take(&trace->lock);
    status = next_part(trace);
    prof_port_lock_release(&trace->lock);
    if (status == PROF_OK && trace->reader_buffer == NULL) {
        *bytes = header;
        *bytes_count = sizeof header;
    } else if (status == PROF_OK) {
        *bytes = trace->reader_buffer->bytes;
        *bytes_count = trace->reader_buffer->used_bytes;
    }
    prof_port_lock_release(&trace->reader_lock);
    if (status == PROF_ERR_END)
        prof_port_wake(trace_word(&trace->ends));
    return status;
}

/* Would prof_trace_read() return anything but PROF_ERR_AGAIN? */
static bool
has_something(struct prof_trace *trace)
{
    bool has;

    prof_port_lock_take(&trace->lock);
    has = trace->stage != STAGE_ON || trace->part == PART_HEADER ||
          trace->full.head != NULL;
    prof_port_lock_release(&trace->lock);
    return has;
}

/*
 * If the wake-up comes between the check and the sleep, the word has changed,
 * and the sleep ends at once.
 */
enum prof_status
prof_trace_wait(struct prof_trace *trace)
{
    uint32_t seen;

    if (!prof_port_lock_try(&trace->reader_lock))
        return PROF_ERR_BUSY;
    /* Acquire [pair: reader-wakeup]: see what the wake-up is for. */
    seen = load_acquire(&trace->reader_wakeups);
    if (!has_something(trace))
        prof_port_wait(trace_word(&trace->reader_wakeups), seen);
    prof_port_lock_release(&trace->reader_lock);
    return PROF_OK;
}
