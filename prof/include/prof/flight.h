/*
 * prof/flight.h -- a flight recorder: the execution tracer is always on, and
 * the last events can be read when something has gone wrong.
 *
 * The recorder is a ring of tracers (prof/trace.h). Each generation is a
 * session of one of them: it begins with the state of the world, so its file
 * can be read without those before it. A new generation replaces the oldest,
 * but never one that is being read. Memory is bounded, and nothing is read or
 * written until you ask.
 *
 *      prof_flight_start()  once
 *      prof_flight_next()   when the world is stopped anyway, and when
 *                           prof_flight_is_filling()
 *
 * and when something has gone wrong
 *
 *      prof_flight_next()   so that the events up to now can be read
 *      prof_flight_read()   until there is no more
 */
#ifndef PROF_FLIGHT_H
#define PROF_FLIGHT_H

#include "prof/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_flight; /* a flight recorder; opaque */

#define PROF_FLIGHT_GENERATIONS_MIN 3U
#define PROF_FLIGHT_GENERATIONS_MAX 64U

struct prof_flight_config {
    /* For each generation. Each processor that has written holds a buffer, so
     * set buffers_max to 4 * procs_max or more; with fewer,
     * prof_flight_is_filling() is soon true. */
    struct prof_trace_config trace;
    /* Generations kept, including the one being written and the one being read;
     * PROF_FLIGHT_GENERATIONS_MIN .. _MAX. */
    uint32_t generations_max;
};

/* returns: bytes that prof_flight_init() needs, 0 for a wrong configuration */
size_t prof_flight_bytes_needed(const struct prof_flight_config *config);

/*
 * Build a flight recorder inside `block`; it is off.
 *
 * out:     *flight, valid until the caller reuses `block`
 * in:      block, aligned to 64 bytes, all bytes zero; the recorder's from now
 *          on
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_MEMORY. On error nothing is
 *          touched.
 */
PROF_NODISCARD enum prof_status
prof_flight_init(struct prof_flight **flight,
                 const struct prof_flight_config *config, void *block,
                 size_t block_bytes);

/* ---- control calls: with the world stopped, as prof_trace_start() ---- */

/* returns: PROF_OK; PROF_ERR_BUSY if the recorder is on */
PROF_NODISCARD enum prof_status
prof_flight_start(struct prof_flight *flight,
                  const struct prof_trace_world *world);

/*
 * End the generation and begin the next: the one that ended can be read.
 *
 * in:      stack, of the caller, whose processor is world->proc. The generation
 *          that ends shows the caller descheduled
 * returns: PROF_OK; PROF_ERR_OFF if the recorder is not on
 */
PROF_NODISCARD enum prof_status
prof_flight_next(struct prof_flight *flight,
                 const struct prof_trace_world *world, const uintptr_t *stack,
                 uint32_t depth);

/*
 * End the last generation. Generations not read yet can still be read.
 *
 * in:      the caller's processor and stack
 * returns: PROF_OK; PROF_ERR_OFF if the recorder is not on
 */
PROF_NODISCARD enum prof_status prof_flight_stop(struct prof_flight *flight,
                                                 uint32_t proc,
                                                 const uintptr_t *stack,
                                                 uint32_t depth);

/* ---- record calls ---- */

/*
 * The tracer that takes events of processors: for prof_trace_emit(),
 * prof_trace_sysexit(), prof_trace_proc_free(). It changes only while the world
 * is stopped.
 *
 * context: as prof_trace_emit() on a processor
 */
struct prof_trace *prof_flight_tracer(const struct prof_flight *flight);

/*
 * The same for a thread without a processor, which keeps running while the
 * world is stopped: for prof_trace_emit() with PROF_TRACE_NO_PROC,
 * prof_trace_stamp() and prof_trace_timer_task(). No generation begins or ends
 * until prof_flight_leave().
 *
 * context: a thread on no processor; not a signal handler. It may wait for
 *          prof_flight_next()
 */
struct prof_trace *prof_flight_enter(struct prof_flight *flight);
void prof_flight_leave(struct prof_flight *flight);

/*
 * Is it time for prof_flight_next()? Once all buffers of a generation are full,
 * its further events are dropped and counted.
 *
 * returns: whether less than half of the generation's buffers are empty
 * context: any thread; not a signal handler. May be out of date when it returns
 */
bool prof_flight_is_filling(struct prof_flight *flight);

/* ---- reading ---- */

struct prof_flight_part {
    uint64_t generation;            /* counted from 1; each is a file */
    const uint8_t *bytes;           /* valid until the next call */
    size_t bytes_count;             /* > 0 */
    struct prof_trace_drops losses; /* complete with PROF_ERR_END */
};

/*
 * Take the next bytes of the oldest generation that has ended. Concatenated,
 * the bytes of a generation are its file, as in prof_trace_read(). A generation
 * can be read only once.
 *
 * out:     *part; without bytes after PROF_ERR_END
 * returns: PROF_OK; PROF_ERR_END after the last bytes of a generation, after
 *          which the next call reads the next one; PROF_ERR_OFF if there is
 *          none; PROF_ERR_BUSY if another reader is in this call
 * context: any thread, one at a time; the world need not be stopped
 */
PROF_NODISCARD enum prof_status prof_flight_read(struct prof_flight *flight,
                                                 struct prof_flight_part *part);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
