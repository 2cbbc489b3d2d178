/*
 * trace_clock.c -- PROF_TRACE_ORDER_CLOCK: events ordered by the clock alone.
 * All processors read the same clock, and share nothing else.
 *
 *      sequence number:   | clock - clock_first | lane  |
 *
 * The lane is the processor's number; events of no processor have the next
 * lane, stamps the one after that. So sequence numbers are unique and sort by
 * the clock. An event touches only its processor's cache line and buffer, and
 * executes no locked instruction. Each session reads `clock_first` anew, so
 * numbers do not grow with the uptime. The stamps of prof_trace_stamp() hold
 * plain readings, which can be compared across sessions.
 *
 * Invariants
 *   I1  Readings of one lane grow: a reading that is not above the previous one
 *       is replaced by the previous one plus 1.
 *   I2  A buffer has its batch header from the moment it is owned.
 *   I3  A cut trace has no gaps: `cut_before` is read from the clock under the
 *       lock. Buffers that the reader got before hold only earlier events. From
 *       later ones it gets only the events before the cut.
 *   I4  Numbers stay below 2^63; readers take larger ones for negative. A
 *       session that has used half of them gets no more buffers, and ends.
 *
 * Why I1: an event stores the difference of its sequence number from the
 * previous one. A difference of 0 would give two events the same number. A
 * negative one would take ten bytes, and readers would see a time far in the
 * future.
 *
 * How events of different processors are ordered. Say event A of one processor
 * causes event B of another. A's processor reads the counter before its later
 * stores, and other processors see its stores in order. So A has its number
 * before B's processor can see its effect. But CPUs execute loads early, so B's
 * processor might read the counter before it sees that effect. So events of a
 * kind that another processor may cause (CROSSES) wait for all earlier loads
 * before they read the counter. All other events are caused on their own
 * processor (I1) and do not wait; their numbers may be early by the CPU's
 * look-ahead, a few hundred instructions.
 */
#include "prof/trace/trace_clock.h"
#include "prof/trace/trace_stamp.h"

#include "prof/core/poison.h"

/* ---- the clock ---- */

static uint64_t
sequence_of(const struct prof_trace *trace, uint64_t clock, uint32_t lane)
{
    return (clock - trace->clock_first) << trace->lane_bits | lane;
}

struct raw_stamp
prof_trace_clock_stamp(struct prof_trace *trace)
{
    const uint64_t clock =
        trace_clock_later(trace_ticks_now(trace), trace->stamp_clock);

    trace->stamp_clock = clock;
    return (struct raw_stamp){.sequence = clock, .clock_ticks = clock};
}

uint64_t
prof_trace_clock_moment(const struct prof_trace *trace, uint64_t clock)
{
    return sequence_of(trace, clock, trace->procs_count + 1);
}

static inline void
raise(uint64_t *clock, uint64_t to)
{
    if ((int64_t)(to - *clock) > 0)
        *clock = to;
}

/* The clock now, or the latest reading of any lane if that is later. */
static uint64_t
latest_clock(const struct prof_trace *trace)
{
    uint64_t latest = trace_ticks_now(trace);

    if (!trace->has_met) /* nothing was read before */
        return latest;
    for (uint32_t i = 0; i < trace->procs_count; i++)
        raise(&latest, trace->procs[i].last_clock);
    raise(&latest, trace->outside.last_clock);
    raise(&latest, trace->stamp_clock);
    return latest;
}

/* Let later events of a lane count from `clock`. */
static void
go_on_from(struct trace_proc *own, uint64_t clock)
{
    if (own->buffer == NULL)
        own->last_clock = clock;
}

void
prof_trace_clock_meet(struct prof_trace *trace, bool begins)
{
    const uint64_t word = trace_hold_stamp(trace);
    const uint64_t latest = latest_clock(trace);

    if (begins)
        trace->clock_first = latest;
    for (uint32_t i = 0; i < trace->procs_count; i++)
        go_on_from(&trace->procs[i], latest);
    go_on_from(&trace->outside, latest);
    trace->stamp_clock = latest;
    signal_fence(); /* so that a fork copies it in this order */
    trace->has_met = true;
    /* Release [pair: stamp]: set where stamps go on, before the next one. */
    store_release(&trace->stamp, word + 2);
}

void
prof_trace_clock_go_on(struct prof_trace *trace, const struct prof_trace *after)
{
    if (trace->has_met || !after->has_met)
        return;
    for (uint32_t i = 0; i < trace->procs_count; i++)
        go_on_from(&trace->procs[i], after->stamp_clock);
    go_on_from(&trace->outside, after->stamp_clock);
    trace->has_met = true;
}

/* ---- the buffers ---- */

/* Is half of the numbers used (I4)? Events that still go into buffers at hand
 * use the other half. */
static bool
is_over(const struct prof_trace *trace, uint64_t clock)
{
    return (clock - trace->clock_first) >> (62 - trace->lane_bits) != 0;
}

/* Cut the trace at the current clock, unless it is cut already. */
static void
cut_here(struct prof_trace *trace)
{
    prof_port_lock_take(&trace->lock);
    if (!trace->is_cut) {
        trace->is_cut = true;
        trace->cut_before = sequence_of(trace, trace_ticks_now(trace), 0);
    }
    prof_port_lock_release(&trace->lock);
}

/* returns: the buffer with room for an event, NULL if the trace has ended */
static struct trace_buffer *
room_for_event(struct prof_trace *trace, struct trace_proc *own, uint32_t lane)
{
    struct prof_trace_stamp stamp;

    if (trace_has_room(own->buffer))
        return own->buffer;
    prof_trace_give_up(trace, &own->buffer);
    if (!is_over(trace, own->last_clock))
        own->buffer = prof_trace_take_empty(trace);
    if (own->buffer == NULL) {
        cut_here(trace);
        return NULL;
    }
    stamp = (struct prof_trace_stamp){
        .sequence = sequence_of(trace, own->last_clock, lane),
        .ticks = trace_file_ticks(trace, own->last_clock)};
    prof_trace_put_batch(own->buffer,
                         lane < trace->procs_count ? lane : UINT64_MAX, &stamp);
    return own->buffer;
}

/* ---- the event ---- */

struct event_numbers {
    const uint64_t *args;
    uint32_t args_count;
    bool has_stack;
    uint64_t stack; /* id */
};

/* in: at, behind the event's first bytes. returns: the end of its numbers */
static uint8_t *
put_numbers(uint8_t *at, const struct prof_trace *trace,
            const struct trace_proc *own, uint64_t clock,
            const struct event_numbers *numbers)
{
    at = put_varint(at, (clock - own->last_clock) << trace->lane_bits);
    at = put_varint(at, trace_file_ticks(trace, clock) -
                            trace_file_ticks(trace, own->last_clock));
    for (uint32_t i = 0; i < numbers->args_count; i++)
        at = put_varint(at, numbers->args[i]);
    return numbers->has_stack ? put_varint(at, numbers->stack) : at;
}

void
prof_trace_put_large(const struct prof_trace *trace, struct trace_proc *own,
                     const struct trace_shape *shape, uint64_t number,
                     uint64_t clock)
{
    struct trace_buffer *const buffer = own->buffer;
    const struct event_numbers numbers = {.args = &number,
                                          .args_count = shape->args};
    uint8_t *const start = &buffer->bytes[buffer->used_bytes];

    start[0] = shape->first;
    trace_clock_done(own, buffer,
                     put_numbers(start + 1, trace, own, clock, &numbers),
                     clock);
}

void
prof_trace_emit_clocked(struct prof_trace *trace, uint32_t proc,
                        enum prof_trace_event kind, const uint64_t *args,
                        uint64_t stack)
{
    const struct trace_shape *const shape = &prof_trace_shapes[kind];
    const struct event_numbers numbers = {args, shape->args, shape->stack,
                                          stack};
    const bool has_length = shape->args + shape->stack >= 3;
    const bool is_on_proc = proc != PROF_TRACE_NO_PROC;
    struct trace_proc *const own =
        is_on_proc ? &trace->procs[proc] : &trace->outside;
    struct trace_buffer *const buffer =
        room_for_event(trace, own, is_on_proc ? proc : trace->procs_count);
    uint64_t clock;
    uint8_t *start;
    uint8_t *end;

    if (buffer == NULL) {
        add_relaxed(&trace->no_buffer, 1); /* a count, nothing hangs on it */
        return;
    }
    clock = trace_clock_later(trace_ticks_now(trace), own->last_clock);
    start = &buffer->bytes[buffer->used_bytes];
    start[0] = shape->first;
    end = put_numbers(start + 1 + has_length, trace, own, clock, &numbers);
    if (has_length) /* below 128, so one byte */
        start[1] = (uint8_t)(end - start - 2);
    trace_clock_done(own, buffer, end, clock);
}

/* ---- the cut ---- */

/* Read a number of an event. in, out: *at, where it begins; then its end */
static uint64_t
take_number(const uint8_t **at)
{
    uint64_t value = 0;
    uint32_t shift = 0;

    for (; (**at & 0x80) != 0; shift += 7)
        value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
    return value | (uint64_t) * (*at)++ << shift;
}

/* Skip the event at `at`, and add its difference to *sequence. returns: its
 * end */
static const uint8_t *
take_event(const uint8_t *at, uint64_t *sequence)
{
    const uint32_t numbers = *at++ >> 6;

    if (numbers == 3) {
        const uint8_t *const end = at + 1 + *at;

        at++;
        *sequence += take_number(&at);
        return end;
    }
    *sequence += take_number(&at);
    for (uint32_t i = 0; i < 1 + numbers; i++)
        (void)take_number(&at);
    return at;
}

bool
prof_trace_cut(struct prof_trace *trace, struct trace_buffer *buffer)
{
    const uint8_t *const end = &buffer->bytes[buffer->used_bytes];
    const uint8_t *at = &buffer->bytes[1];
    const uint8_t *events;
    const uint8_t *kept;
    uint64_t sequence;
    uint64_t lost = 0;

    (void)take_number(&at); /* the processor */
    sequence = take_number(&at);
    (void)take_number(&at); /* ticks */
    events = kept = at;
    while (at < end) {
        at = take_event(at, &sequence);
        if (sequence < trace->cut_before)
            kept = at;
        else
            lost++;
    }
    PROF_ASSERT(at == end);
    add_relaxed(&trace->no_buffer, lost); /* a count, nothing hangs on it */
    buffer->used_bytes = (uint32_t)(kept - buffer->bytes);
    return kept > events;
}
