/* flight.c -- kernels of the flight recorder: threads write and read while a
 * new generation begins. */
#include <stdalign.h>
#include <string.h>

#include "prof/flight.h"
#include "prof/fork.h"
#include "prof/prof.h"
#include "props/kernels/session.h"

enum {
    GENERATIONS = 3,
    READS_MAX = 8,
    FREQUENCY = 2 /* FREQUENCY: the first
                   * byte of a footer */
};

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 14];
static struct prof_flight *flight;
static struct session_file file;
static struct session_events events;
static uint64_t last_read; /* number of the generation read last */

/* The clock stands still: only the stamps put events in order. */
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

/* ---- a thread outside all processors emits while a generation ends ---- */

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

/* ---- a generation is read while others replace the oldest ones ---- */

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

/* ---- two readers at the end of a generation ---- */

static enum prof_status statuses[2];

/* Of one generation only the last part, its footer, is left to read; two more
 * generations follow. */
static void
nearly_read(void *context)
{
    struct prof_flight_part part;

    three_generations(context);
    next_generation();
    do
        if (prof_flight_read(flight, &part) != PROF_OK)
            sim_explore_fail("the generation has no footer");
    while (part.bytes[0] != FREQUENCY);
}

static void
read_part(void *context, uint32_t thread)
{
    struct prof_flight_part part;

    (void)context;
    statuses[thread] = prof_flight_read(flight, &part);
}

/* One reader ends the generation. The other is refused, or begins to read the
 * next one. */
static void
one_end(void *context)
{
    const int ends =
        (statuses[0] == PROF_ERR_END) + (statuses[1] == PROF_ERR_END);
    const int others =
        (statuses[0] == PROF_OK || statuses[0] == PROF_ERR_BUSY) +
        (statuses[1] == PROF_OK || statuses[1] == PROF_ERR_BUSY);

    (void)context;
    sim_explore_check(ends == 1 && others == 1,
                      "a reader found nothing where there is more");
}

const struct sim_kernel props_kernel_flight_readers = {
    .name = "flight-readers",
    .about = "of two readers one ends a generation, and the other is refused "
             "or begins the next",
    .setup = nearly_read,
    .finish = one_end,
    .threads = {{"first", read_part, NULL}, {"second", read_part, NULL}},
    .threads_count = 2,
};

/* ---- the end of a generation reports the losses of that generation only
 * ---- */

enum { EVENTS_MAX = 1000 };

static struct prof_flight_part last_part;
static uint64_t lost; /* of the first generation */

/* The first generation has lost events, and only its last part is left to
 * read. */
static void
some_are_lost(void *context)
{
    const uint64_t argument = 7;
    struct prof_trace *trace;
    struct prof_flight_part part;

    setup(context);
    trace = prof_flight_tracer(flight);
    for (int i = 0; i < EVENTS_MAX && prof_trace_drops(trace).no_buffer == 0;
         i++)
        prof_trace_emit(trace, PROF_TRACE_NO_PROC, PROF_EV_HEAP_ALLOC,
                        &argument, NULL, 0);
    next_generation();
    lost = prof_trace_drops(trace).no_buffer;
    sim_explore_check(lost > 0, "there is room for all");
    next_generation();
    do
        if (prof_flight_read(flight, &part) != PROF_OK)
            sim_explore_fail("the generation has no footer");
    while (part.bytes[0] != FREQUENCY);
    last_part = (struct prof_flight_part){0};
}

static void
read_the_end(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(prof_flight_read(flight, &last_part) == PROF_ERR_END,
                      "the generation does not end");
}

static void
losses_are_its_own(void *context)
{
    (void)context;
    sim_explore_check(last_part.generation == 1,
                      "another generation's end was read");
    sim_explore_check(last_part.losses.no_buffer == lost,
                      "the end tells the losses of another generation");
}

const struct sim_kernel props_kernel_flight_losses = {
    .name = "flight-losses",
    .about = "the end of a generation reports the losses of that generation",
    .setup = some_are_lost,
    .finish = losses_are_its_own,
    .threads = {{"control", go_on, NULL}, {"reader", read_the_end, NULL}},
    .threads_count = 2,
};

/* ---- a fork inside any call ---- */

/* The child has the thread that forked, and none of the parent's generations.
 */
static void
child_of_flight(void)
{
    prof_flight_after_fork_child(flight);
    sim_explore_check(prof_flight_stop(flight, 0, NULL, 0) == PROF_ERR_OFF &&
                          read_generation() == -1,
                      "the parent's generations go on in the child");
    for (int i = 0; i < GENERATIONS + 1; i++) {
        next_generation();
        emit_outside(NULL, 0);
        emit_outside(NULL, 0);
        if (i > 0)
            sim_explore_check(read_generation() == 2,
                              "the child has lost an event, or a buffer");
    }
    sim_explore_check(prof_flight_stop(flight, 0, NULL, 0) == PROF_OK &&
                          read_generation() == 2 && read_generation() == -1,
                      "the child's recorder does not end");
}

static void
fork_flight(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_flight);
}

static void
flight_all(void *context, uint32_t thread)
{
    struct prof_flight_part part;

    emit_outside(context, thread);
    go_on(context, thread);
    (void)!prof_flight_read(flight, &part);
    emit_outside(context, thread);
    go_on(context, thread);
    (void)!prof_flight_read(flight, &part);
    (void)!prof_flight_stop(flight, 0, NULL, 0);
}

const struct sim_kernel props_kernel_fork_flight = {
    .name = "fork-flight",
    .about = "after a fork inside a call of the flight recorder the child's "
             "recorder is off",
    .setup = setup,
    .threads = {{"control", flight_all, fork_flight}},
    .threads_count = 1,
};
