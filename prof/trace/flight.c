/*
 * flight.c -- a ring of tracers, each with one generation.
 *
 *      free --start, next--> being written --next, stop--> ended --read--> free
 *       ^                                                    |
 *       +-------------------- next, if it is the oldest -----+
 *
 * Invariants
 *   I1  At most one tracer is on, `current`; none if the recorder is off.
 *   I2  A tracer whose `number` is not 0 holds a whole session. No byte of it
 *       has been read, unless it is the one in `reading`.
 *   I3  The tracer of `reading` is never restarted: there are at least three
 *       tracers, so one is neither that one nor the current one.
 *   I4  Sequence numbers continue from one generation to the next: a stamp
 *       taken in one is below the first number of the next.
 *
 * Why a thread without a processor holds the lock `outside`: otherwise the
 * tracer that it got could be switched off before it writes, and no generation
 * would have its event.
 */
#include "prof/flight.h"
#include "prof/fork.h"

#include "prof/core/block.h"
#include "prof/core/assertion.h"
#include "prof/trace/tracer.h"

#include "prof/core/poison.h"

enum { NOBODY = PROF_FLIGHT_GENERATIONS_MAX };

struct generation {
    struct prof_trace *trace;
    uint64_t number; /* guarded by lock; 0: nothing to read */
};

struct prof_flight {
    uint32_t generations_count;
    shared_u32 current; /* written under outside, in the stopped world */

    struct prof_port_lock outside; /* held by start, next, stop; and from enter
                                      to leave */
    bool is_on;                    /* guarded by outside */
    uint64_t begun;                /* generations so far; guarded by outside */

    struct prof_port_lock reader_lock; /* one reader at a time; nobody waits */
    struct prof_port_lock lock;
    uint32_t reading; /* guarded by lock; NOBODY: none */
    struct generation generations[PROF_FLIGHT_GENERATIONS_MAX];
};

/* ---- building ---- */

size_t
prof_flight_bytes_needed(const struct prof_flight_config *config)
{
    const size_t tracer = aligned(prof_trace_bytes_needed(&config->trace));

    if (tracer == 0 || config->generations_max < PROF_FLIGHT_GENERATIONS_MIN ||
        config->generations_max > PROF_FLIGHT_GENERATIONS_MAX)
        return 0;
    return aligned(sizeof(struct prof_flight)) +
           config->generations_max * tracer;
}

enum prof_status
prof_flight_init(struct prof_flight **out,
                 const struct prof_flight_config *config, void *block,
                 size_t block_bytes)
{
    const size_t needed = prof_flight_bytes_needed(config);
    const size_t tracer = aligned(prof_trace_bytes_needed(&config->trace));
    unsigned char *base = block;
    struct prof_flight *flight;

    if (needed == 0)
        return PROF_ERR_CONFIG;
    if (block_bytes < needed || (uintptr_t)block % PROF_BLOCK_ALIGN != 0)
        return PROF_ERR_MEMORY;
    flight = block;
    flight->generations_count = config->generations_max;
    flight->reading = NOBODY;
    base += aligned(sizeof *flight);
    for (uint32_t i = 0; i < config->generations_max; i++, base += tracer) {
        const enum prof_status status = prof_trace_init(
            &flight->generations[i].trace, &config->trace, base, tracer);

        PROF_ASSERT(status == PROF_OK); /* it was measured */
        (void)status;
    }
    *out = flight;
    return PROF_OK;
}

/* ---- generations ---- */

struct prof_trace *
prof_flight_tracer(const struct prof_flight *flight)
{
    /* Relaxed: the stopped world orders it. */
    return flight->generations[load_relaxed(&flight->current)].trace;
}

struct prof_trace *
prof_flight_enter(struct prof_flight *flight)
{
    prof_port_lock_take(&flight->outside);
    return prof_flight_tracer(flight);
}

void
prof_flight_leave(struct prof_flight *flight)
{
    prof_port_lock_release(&flight->outside);
}

/*
 * The oldest generation that is neither being read nor `writing`.
 *
 * in:      least, the smallest number to accept; 0: also a tracer without one
 * returns: its index, NOBODY if there is none
 * context: lock held
 */
static uint32_t
oldest(const struct prof_flight *flight, uint64_t least, uint32_t writing)
{
    uint32_t found = NOBODY;

    for (uint32_t i = 0; i < flight->generations_count; i++) {
        const uint64_t number = flight->generations[i].number;

        if (number >= least && i != writing && i != flight->reading &&
            (found == NOBODY || number < flight->generations[found].number))
            found = i;
    }
    return found;
}

/* Choose a tracer for the next generation; its old session is lost. context:
 * outside held */
static uint32_t
take_oldest(struct prof_flight *flight)
{
    const uint32_t writing =
        flight->is_on ? load_relaxed(&flight->current) : NOBODY; /* ours */
    uint32_t index;

    prof_port_lock_take(&flight->lock);
    index = oldest(flight, 0, writing);
    PROF_ASSERT(index != NOBODY); /* I3 */
    flight->generations[index].number = 0;
    prof_port_lock_release(&flight->lock);
    return index;
}

/* Let the next generation continue the sequence numbers, and keep the timer
 * task. context: no thread takes a stamp */
static void
go_on(struct prof_trace *to, struct prof_trace *from)
{
    uint64_t timer_task;

    store_relaxed(&to->stamp, load_relaxed(&from->stamp)); /* both are off */
    to->stamp_clock = from->stamp_clock;
    prof_port_lock_take(&from->lock);
    timer_task = from->timer_task;
    prof_port_lock_release(&from->lock);
    prof_trace_timer_task(to, timer_task);
    prof_trace_clock_go_on(to, from);
}

/* context: outside held, the tracer of the current generation is off */
static void
begin(struct prof_flight *flight, uint32_t index,
      const struct prof_trace_world *world)
{
    struct prof_trace *const trace = flight->generations[index].trace;
    enum prof_status status;

    prof_trace_discard(trace); /* nobody reads it: I3 */
    go_on(trace, prof_flight_tracer(flight));
    status = prof_trace_start(trace, world);
    PROF_ASSERT(status == PROF_OK); /* it is off */
    (void)status;
    store_relaxed(&flight->current, index); /* the stopped world orders it */
    flight->begun++;
    flight->is_on = true;
}

/* context: outside held, the recorder is on */
static void
end(struct prof_flight *flight, uint32_t proc, const uintptr_t *stack,
    uint32_t depth)
{
    struct generation *const generation =
        &flight->generations[load_relaxed(&flight->current)]; /* ours */
    const enum prof_status status =
        prof_trace_stop(generation->trace, proc, stack, depth);

    PROF_ASSERT(status == PROF_OK);
    (void)status;
    prof_port_lock_take(&flight->lock);
    generation->number = flight->begun;
    prof_port_lock_release(&flight->lock);
}

enum prof_status
prof_flight_start(struct prof_flight *flight,
                  const struct prof_trace_world *world)
{
    bool was_on;

    prof_port_lock_take(&flight->outside);
    was_on = flight->is_on;
    if (!was_on)
        begin(flight, take_oldest(flight), world);
    prof_port_lock_release(&flight->outside);
    return was_on ? PROF_ERR_BUSY : PROF_OK;
}

enum prof_status
prof_flight_next(struct prof_flight *flight,
                 const struct prof_trace_world *world, const uintptr_t *stack,
                 uint32_t depth)
{
    bool was_on;

    prof_port_lock_take(&flight->outside);
    was_on = flight->is_on;
    if (was_on) {
        const uint32_t index = take_oldest(flight);

        end(flight, world->proc, stack, depth);
        begin(flight, index, world);
    }
    prof_port_lock_release(&flight->outside);
    return was_on ? PROF_OK : PROF_ERR_OFF;
}

enum prof_status
prof_flight_stop(struct prof_flight *flight, uint32_t proc,
                 const uintptr_t *stack, uint32_t depth)
{
    bool was_on;

    prof_port_lock_take(&flight->outside);
    was_on = flight->is_on;
    if (was_on)
        end(flight, proc, stack, depth);
    flight->is_on = false;
    prof_port_lock_release(&flight->outside);
    return was_on ? PROF_OK : PROF_ERR_OFF;
}

bool
prof_flight_is_filling(struct prof_flight *flight)
{
    return prof_trace_is_filling(prof_flight_tracer(flight));
}

/* ---- reading ---- */

/* The generation to read: the one already begun, else the oldest that ended.
 * returns: its index, NOBODY if there is none */
static uint32_t
claim(struct prof_flight *flight, uint64_t *number)
{
    uint32_t index;

    prof_port_lock_take(&flight->lock);
    if (flight->reading == NOBODY)
        flight->reading = oldest(flight, 1, NOBODY);
    index = flight->reading;
    if (index != NOBODY)
        *number = flight->generations[index].number;
    prof_port_lock_release(&flight->lock);
    return index;
}

static void
release(struct prof_flight *flight, uint32_t index)
{
    prof_port_lock_take(&flight->lock);
    flight->generations[index].number = 0;
    flight->reading = NOBODY;
    prof_port_lock_release(&flight->lock);
}

enum prof_status
prof_flight_read(struct prof_flight *flight, struct prof_flight_part *part)
{
    enum prof_status status = PROF_ERR_OFF;
    uint64_t number = 0;
    uint32_t index;

    if (!prof_port_lock_try(&flight->reader_lock))
        return PROF_ERR_BUSY;
    index = claim(flight, &number);
    if (index != NOBODY) {
        struct prof_trace *const trace = flight->generations[index].trace;

        *part = (struct prof_flight_part){.generation = number};
        status = prof_trace_read(trace, &part->bytes, &part->bytes_count);
        part->losses = prof_trace_drops(trace);
        if (status == PROF_ERR_END)
            release(flight, index);
    }
    prof_port_lock_release(&flight->reader_lock);
    return status;
}

/* ---- in the child of a fork ---- */

void
prof_flight_after_fork_child(struct prof_flight *flight)
{
    prof_port_lock_reset(&flight->outside);
    prof_port_lock_reset(&flight->reader_lock);
    prof_port_lock_reset(&flight->lock);
    flight->is_on = false;
    flight->reading = NOBODY;
    for (uint32_t i = 0; i < flight->generations_count; i++) {
        flight->generations[i].number = 0;
        prof_trace_after_fork_child(flight->generations[i].trace);
    }
}
