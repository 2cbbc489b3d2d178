/* flight.c -- kernels of the flight recorder: who writes or reads while a new
 * generation begins. */
#include <stdalign.h>
#include <string.h>

#include "prof/flight.h"
#include "prof/prof.h"
#include "session.h"

enum { GENERATIONS = 3, READS_MAX = 8 };

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 14];
static struct prof_flight *flight;
static struct session_file file;
static struct session_events events;
static uint64_t last_read; /* generation */

/* The stamps alone put events in order. */
static uint64_t
same_moment(void *context)
{
    (void)context;
    return 1;
}

static void
next_generation(void)
{
    bool given = false;
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = session_one_task, .context = &given};

    if (prof_flight_next(flight, &world, NULL, 0) == PROF_ERR_OFF &&
        prof_flight_start(flight, &world) != PROF_OK)
        sim_explore_fail("the recorder does not start");
}

static void
setup(void *context)
{
    const struct prof_flight_config config = {
        .trace = {.procs_max = 1,
                  .buffers_max = 3,
                  .buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN,
                  .stacks_max = 2,
                  .frames_max = 4,
                  .tick_divisor = 1,
                  .clock = {.ticks = same_moment, .now_ns = same_moment}},
        .generations_max = GENERATIONS};

    (void)context;
    memset(block, 0, sizeof block);
    last_read = 0;
    if (prof_flight_init(&flight, &config, block, sizeof block) != PROF_OK)
        sim_explore_fail("the recorder does not fit its block");
    next_generation();
}

/* Read one generation. returns: its events of emit_outside(), -1 if there is no
 * generation */
static int
read_generation(void)
{
    struct prof_flight_part part;
    enum prof_status status = PROF_OK;

    file.count = 0;
    for (int i = 0; i < READS_MAX && status == PROF_OK; i++) {
        status = prof_flight_read(flight, &part);
        if (status != PROF_OK)
            break;
        sim_explore_check(file.count == 0 || part.generation == last_read,
                          "a file has bytes of two generations");
        sim_explore_check(file.count > 0 || part.generation > last_read,
                          "generations are read out of order");
        last_read = part.generation;
        memcpy(&file.bytes[file.count], part.bytes, part.bytes_count);
        file.count += part.bytes_count;
    }
    if (status == PROF_ERR_OFF)
        return -1;
    sim_explore_check(status == PROF_ERR_END, "a generation has no end");
    session_check(&file, &events);
    return (int)session_count(&events, PROF_EV_HEAP_ALLOC);
}

/* ---- threads ---- */

static void
go_on(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    next_generation();
}

static void
emit_outside(void *context, uint32_t thread)
{
    const uint64_t argument = 7;

    (void)context;
    (void)thread;
    prof_trace_emit(prof_flight_enter(flight), PROF_TRACE_NO_PROC,
                    PROF_EV_HEAP_ALLOC, &argument, NULL, 0);
    prof_flight_leave(flight);
}

static void
read_one(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    (void)prof_flight_is_filling(flight);
    (void)read_generation();
}

/* ---- A thread on no processor writes while a generation ends ---- */

static void
one_event(void *context)
{
    int count = 0;

    (void)context;
    if (prof_flight_stop(flight, 0, NULL, 0) != PROF_OK)
        sim_explore_fail("the recorder does not stop");
    for (int i = 0; i < GENERATIONS; i++) {
        const int found = read_generation();

        count += found > 0 ? found : 0;
    }
    sim_explore_check(count == 1, "an event is lost, or there twice");
}

const struct sim_kernel props_kernel_flight_outside = {
    .name = "flight-outside",
    .about = "an event from no processor is in one generation or the next",
    .setup = setup,
    .finish = one_event,
    .threads = {{"control", go_on, NULL}, {"monitor", emit_outside, NULL}},
    .threads_count = 2,
};

/* ---- A generation is read while others take the oldest places ---- */

static void
three_generations(void *context)
{
    setup(context);
    next_generation();
    next_generation();
}

static void
the_rest_is_whole(void *context)
{
    (void)context;
    for (int i = 0; i < GENERATIONS; i++)
        (void)read_generation();
    sim_explore_check(last_read == 3, "the last generation is missing");
}

const struct sim_kernel props_kernel_flight_reader = {
    .name = "flight-reader",
    .about = "a generation that is being read stays as it is",
    .setup = three_generations,
    .finish = the_rest_is_whole,
    .threads = {{"control", go_on, NULL}, {"reader", read_one, NULL}},
    .threads_count = 2,
};

/* ---- Two readers ---- */

static struct prof_flight_part parts[2];

static void
read_part(void *context, uint32_t thread)
{
    enum prof_status status;

    (void)context;
    parts[thread].bytes = NULL;
    status = prof_flight_read(flight, &parts[thread]);
    sim_explore_check(status == PROF_OK || status == PROF_ERR_BUSY,
                      "a generation can be read, or is being read");
}

static void
no_part_twice(void *context)
{
    (void)context;
    sim_explore_check(parts[0].bytes != parts[1].bytes,
                      "two readers have the same bytes");
}

const struct sim_kernel props_kernel_flight_readers = {
    .name = "flight-readers",
    .about = "two readers never get the same bytes",
    .setup = three_generations,
    .finish = no_part_twice,
    .threads = {{"first", read_part, NULL}, {"second", read_part, NULL}},
    .threads_count = 2,
};
