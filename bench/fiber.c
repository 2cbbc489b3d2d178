/*
 * fiber.c -- the cost of switching stacks, compared with the C library's
 * contexts and Go's goroutines; and of a step in a simulation with a fiber for
 * each actor: take the next event, switch to its actor, which traces an event
 * and waits for its next step.
 */
#include "fiber.h"

#include <stdlib.h>
#include <ucontext.h>

#include "bench.h"
#include "peers/peers.h"
#include "prof/trace.h"
#include "queue.h"
#include "rng.h"

enum {
    SWITCHES = 100000,
    FIBERS_MAX = 10000,
    ACTORS_MAX = 10000, /* in the step benchmark */
    CONTEXT_STACK_BYTES = 64 * 1024,
    BUFFERS = 64
};

static struct sim_fiber home;
static struct sim_fiber fibers[FIBERS_MAX];
static uint32_t running;

/* Switch back at once, again and again. */
static void
bounce(void)
{
    for (;;)
        sim_fiber_switch(&fibers[running], &home);
}

static void
make_fibers(uint32_t count, void (*entry)(void))
{
    for (uint32_t i = 0; i < count; i++) {
        if (fibers[i].stack == NULL)
            sim_fiber_init(&fibers[i]);
        sim_fiber_prepare(&fibers[i], entry);
    }
}

static double
switch_once(void *context, uint32_t round)
{
    const uint32_t count = *(const uint32_t *)context;
    uint64_t begun_ns;

    (void)round;
    make_fibers(count, bounce);
    for (running = 0; running < count; running++)
        sim_fiber_switch(&home, &fibers[running]);
    running = 0;
    begun_ns = bench_cpu_ns();
    for (uint32_t i = 0; i < SWITCHES; i++) {
        sim_fiber_switch(&home, &fibers[running]);
        running = running + 1 < count ? running + 1 : 0;
    }
    return (double)(bench_cpu_ns() - begun_ns) / (2 * SWITCHES);
}

/* ---- glibc's ---- */

static ucontext_t home_context, context_of;

static void
bounce_context(void)
{
    for (;;)
        swapcontext(&context_of, &home_context);
}

static double
swapcontext_once(void *context, uint32_t round)
{
    static unsigned char *stack;
    uint64_t begun_ns;

    (void)context;
    (void)round;
    if (stack == NULL)
        stack = bench_pages(CONTEXT_STACK_BYTES);
    getcontext(&context_of);
    context_of.uc_stack.ss_sp = stack;
    context_of.uc_stack.ss_size = CONTEXT_STACK_BYTES;
    makecontext(&context_of, bounce_context, 0);
    begun_ns = bench_cpu_ns();
    for (uint32_t i = 0; i < SWITCHES; i++)
        swapcontext(&home_context, &context_of);
    return (double)(bench_cpu_ns() - begun_ns) / (2 * SWITCHES);
}

/* ---- step ---- */

static struct steps {
    struct sim_queue queue;
    uint64_t words[SIM_QUEUE_WORDS(ACTORS_MAX)];
    struct sim_choices choices;
    struct sim_choice list[1];
    struct sim_rng rng;
    struct prof_trace *trace;
    uint64_t now_ticks;
    uint32_t actors;
    bool told;
} steps;

static uint64_t
clock_ticks(void *context)
{
    (void)context;
    return steps.now_ticks;
}

static bool
only_task(void *context, struct prof_trace_task *task)
{
    (void)context;
    if (steps.told)
        return false;
    steps.told = true;
    *task = (struct prof_trace_task){.id = 1};
    return true;
}

static void
act(void)
{
    for (;;) {
        const uint64_t argument = steps.now_ticks;

        prof_trace_emit(steps.trace, 0, PROF_EV_HEAP_ALLOC, &argument, NULL, 0);
        sim_queue_set(&steps.queue, running,
                      steps.now_ticks + 1 + (sim_rng_next(&steps.rng) & 1023));
        sim_fiber_switch(&fibers[running], &home);
    }
}

static void
read_trace(void)
{
    enum prof_status status = prof_trace_stop(steps.trace, 0, NULL, 0);

    while (status == PROF_OK) {
        const uint8_t *bytes;
        size_t count;

        status = prof_trace_read(steps.trace, &bytes, &count);
    }
    if (prof_trace_drops(steps.trace).no_buffer != 0)
        exit(1);
}

static double
step_once(void *context, uint32_t round)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = only_task};
    uint64_t begun_ns;
    double ns;

    (void)context;
    steps.rng.state = round;
    steps.told = false;
    sim_choices_random(&steps.choices, round);
    sim_queue_init(&steps.queue, steps.words, steps.actors);
    make_fibers(steps.actors, act);
    for (uint32_t who = 0; who < steps.actors; who++)
        sim_queue_set(&steps.queue, who, sim_rng_next(&steps.rng) % 1000);
    if (prof_trace_start(steps.trace, &world) != PROF_OK)
        return -1;
    begun_ns = bench_cpu_ns();
    for (uint32_t i = 0; i < SWITCHES; i++) {
        running = sim_queue_first(&steps.queue, &steps.choices, 0);
        steps.now_ticks = sim_queue_first_ticks(&steps.queue);
        sim_fiber_switch(&home, &fibers[running]);
    }
    ns = (double)(bench_cpu_ns() - begun_ns) / SWITCHES;
    read_trace();
    return ns;
}

static void
make_steps(void)
{
    const struct prof_trace_config config = {.procs_max = 1,
                                             .buffers_max = BUFFERS,
                                             .clock = {.ticks = clock_ticks}};
    const size_t bytes = prof_trace_bytes_needed(&config);

    sim_choices_init(&steps.choices, steps.list, 1);
    if (prof_trace_init(&steps.trace, &config, bench_pages(bytes), bytes) !=
        PROF_OK)
        exit(1);
}

/* ---- rows ---- */

static void
run_switches(struct bench *bench, struct bench_peer *go)
{
    static const uint32_t counts[] = {1, 1000, FIBERS_MAX};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t fibers_count = counts[i];
        const bool hot = fibers_count == 1;
        struct bench_command command = {go, "gosched"};
        const struct bench_row row = {.operation = "fiber-switch",
                                      .unit = "ns",
                                      .goal_peer = go->name,
                                      .goal_ratio = hot ? 18 : 0,
                                      .n = fibers_count};
        const struct bench_entrant entrants[] = {
            {"profsim", switch_once, &fibers_count},
            {"swapcontext", swapcontext_once, NULL},
            {go->name, bench_peer_once, &command}};
        const size_t others = go->to != NULL ? 3 : 2;

        bench_compare(bench, &row, entrants, hot ? others : 1);
    }
}

int
main(void)
{
    static const uint32_t actors[] = {8, 64, 1000, ACTORS_MAX};
    struct bench_peer go;
    struct bench bench;

    bench_begin(&bench, "fiber", 7);
    if (!bench_go_start(&go))
        bench_skip(&bench, go.name, "not built (make bench-peers)");
    run_switches(&bench, &go);
    make_steps();
    for (size_t i = 0; i < sizeof actors / sizeof *actors; i++) {
        const struct bench_entrant ours = {"profsim", step_once, NULL};
        const struct bench_row row = {
            .operation = "step", .unit = "ns", .n = actors[i]};

        steps.actors = actors[i];
        bench_compare(&bench, &row, &ours, 1);
    }
    bench_peer_stop(&go);
    return bench_end(&bench);
}
