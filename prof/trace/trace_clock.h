/*
 * trace_clock.h -- the fast path that writes an event into its buffer; theory
 * in trace_clock.c.
 */
#ifndef PROF_TRACE_TRACE_CLOCK_H
#define PROF_TRACE_TRACE_CLOCK_H

#include "prof/core/assertion.h"
#include "prof/trace/tracer.h"

/* The reading to use: later than last_clock (I1 of trace_clock.c). */
static inline uint64_t
trace_clock_later(uint64_t clock, uint64_t last_clock)
{
    return (int64_t)(clock - last_clock) > 0 ? clock : last_clock + 1;
}

static inline void
trace_clock_done(struct trace_proc *own, struct trace_buffer *buffer,
                 const uint8_t *end, uint64_t clock)
{
    own->last_clock = clock;
    buffer->used_bytes = (uint32_t)(end - buffer->bytes);
    PROF_ASSERT(buffer->used_bytes <= buffer->limit_bytes);
}

/* As trace_clock_put(), for numbers of any size. in: clock, of the event */
void prof_trace_put_large(const struct prof_trace *trace,
                          struct trace_proc *own,
                          const struct trace_shape *shape, uint64_t number,
                          uint64_t clock);

#if defined(__x86_64__)
/*
 * Write a short event (struct trace_shape), with its argument if it has one.
 * Its only call is the last thing it does, so that it needs few registers.
 *
 * context: a session ordered by the CPU's cycle counter; room in the buffer
 */
static inline void
trace_clock_put(const struct prof_trace *trace, struct trace_proc *own,
                const struct trace_shape *shape, uint64_t number)
{
    struct trace_buffer *const buffer = own->buffer;
    const uint64_t last_clock = own->last_clock;
    uint64_t clock;
    uint64_t step;
    uint8_t *at;

    if (shape->crosses)
        __builtin_ia32_lfence();
    clock = trace_clock_later(__builtin_ia32_rdtsc(), last_clock);
    step = (clock - last_clock) << trace->lane_bits;
    if (!__builtin_expect(varint_is_short(step | number), 1)) {
        prof_trace_put_large(trace, own, shape, number, clock);
        return;
    }
    at = &buffer->bytes[buffer->used_bytes];
    at[0] = shape->first;
    at = put_short_varint(at + 1, (uint32_t)step);
    at = put_short_varint(at, (uint32_t)((clock >> trace->tick_shift) -
                                         (last_clock >> trace->tick_shift)));
    if (shape->args != 0)
        at = put_short_varint(at, (uint32_t)number);
    trace_clock_done(own, buffer, at, clock);
}
#endif

#endif
