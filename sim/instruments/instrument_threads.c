/*
 * instrument_threads.c -- the threadcreate profile of a world.
 *
 * A runtime starts a thread when a task becomes runnable and a processor has no
 * thread. So a thread's stack is that of the call that made the task runnable.
 */
#include "sim/instruments/instrument_threads.h"

#include <stdlib.h>

struct threads {
    struct sim_instrument instrument;
    uint32_t
        needed_by; /* stack of the call that needed it; TRUTH_NO_STACK: none */
    uint32_t count;
    uint32_t stacks[SIM_THREADS_LISTED_MAX];
};

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct threads *threads = calloc(1, sizeof *threads);

    (void)limits;
    if (threads == NULL)
        return NULL;
    threads->instrument.kind = &sim_threads;
    return &threads->instrument;
}

static void
destroy(struct sim_instrument *instrument)
{
    free(instrument);
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct threads *threads = (struct threads *)instrument;

    if (!sim_world_config(world)->scheduled)
        return "there are no threads to list where processors take no tasks";
    threads->needed_by = TRUTH_NO_STACK;
    threads->count = 0;
    return NULL;
}

static void
hear(struct sim_instrument *instrument, struct sim_world *world,
     const struct truth_entry *fact)
{
    struct threads *threads = (struct threads *)instrument;

    (void)world;
    if (fact->kind != TRUTH_PROC_START) {
        threads->needed_by = fact->stack;
        return;
    }
    if (threads->count < SIM_THREADS_LISTED_MAX)
        threads->stacks[threads->count++] = threads->needed_by;
    threads->needed_by = TRUTH_NO_STACK;
}

static sim_hear *
hears(enum truth_kind kind)
{
    return (kind == TRUTH_PROC_START || kind == TRUTH_CREATE ||
            kind == TRUTH_WAKE)
               ? hear
               : NULL;
}

const struct sim_instrument_kind sim_threads = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
};

enum prof_status
sim_threads_list(void *context, struct prof_count_record *records,
                 size_t records_max, size_t *count)
{
    const struct sim_world *world = context;
    const struct sim_config *config = sim_world_config(world);
    const struct threads *threads =
        (struct threads *)sim_world_instrument(world, SIM_THREADS);

    *count = threads->count;
    if (threads->count > records_max)
        return PROF_ERR_SHORT;
    for (uint32_t i = 0; i < threads->count; i++) {
        const uint32_t stack = threads->stacks[threads->count - 1 - i];

        records[i] = (struct prof_count_record){.depth = 0};
        if (stack == TRUTH_NO_STACK)
            continue;
        records[i].stack = config->stacks[stack].frames;
        records[i].depth = config->stacks[stack].depth;
    }
    return PROF_OK;
}
