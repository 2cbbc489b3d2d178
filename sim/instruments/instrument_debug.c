/* instrument_debug.c -- the lines of each allocation, free and collection. */
#include "sim/instruments/instrument_debug.h"

#include <stdlib.h>
#include <string.h>

#include "sim/instruments/task_list.h"

struct debug {
    struct sim_instrument instrument;
    struct prof_symbols symbols;
    char *bytes;
    size_t bytes_count;
    size_t bytes_room;
    uint32_t events;
    struct sim_task_list list; /* of a collection */
};

static struct debug *
debug_of(const struct sim_world *world)
{
    return (struct debug *)sim_world_instrument(world, SIM_DEBUG_LINES);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct debug *debug = calloc(1, sizeof *debug);

    (void)limits;
    if (debug == NULL)
        return NULL;
    debug->instrument.kind = &sim_debug_lines;
    return &debug->instrument;
}

static void
destroy(struct sim_instrument *instrument)
{
    free(((struct debug *)instrument)->bytes);
    free(instrument);
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct debug *debug = (struct debug *)instrument;

    (void)world;
    debug->symbols = (struct prof_symbols){.find = NULL};
    debug->bytes_count = 0;
    debug->events = 0;
    return NULL;
}

static enum prof_status
append(void *context, const void *bytes, size_t bytes_count)
{
    struct debug *debug = context;
    const size_t need = debug->bytes_count + bytes_count;

    if (need > debug->bytes_room) {
        char *const larger = realloc(debug->bytes, 2 * need);

        if (larger == NULL)
            abort(); /* without memory the run cannot be judged */
        debug->bytes = larger;
        debug->bytes_room = 2 * need;
    }
    memcpy(debug->bytes + debug->bytes_count, bytes, bytes_count);
    debug->bytes_count = need;
    return PROF_OK;
}

/* The acting goroutine: the task, or goroutine 0, the thread itself. */
static void
describe(struct prof_task_stack *task, uintptr_t *start,
         const struct sim_world *world, const struct truth_entry *fact)
{
    const struct sim_config *config = sim_world_config(world);

    *task = (struct prof_task_stack){.id = fact->task, .state = "running"};
    if (config->scheduled && fact->task == 0)
        task->state = "idle";
    else if (config->scheduled)
        sim_task_describe(task, start, world, fact->task);
    if (fact->stack < config->stacks_count && fact->kind == TRUTH_ALLOC) {
        task->stack = config->stacks[fact->stack].frames;
        task->depth = config->stacks[fact->stack].depth;
    }
}

static void
hear(struct sim_instrument *instrument, struct sim_world *world,
     const struct truth_entry *fact)
{
    struct debug *debug = (struct debug *)instrument;
    const struct prof_output output = {
        .sink = {.write = append, .context = debug}, .symbols = debug->symbols};
    const uintptr_t address = SIM_OBJECT_ADDRESS(fact->object);
    struct prof_task_stack task;
    uintptr_t start;
    enum prof_status status;

    if (fact->kind == TRUTH_MARK) {
        debug->list.count = 0;
        if (sim_world_config(world)->scheduled)
            sim_task_list(&debug->list, world, 0, true);
        status =
            prof_text_trace_gc(&output, debug->list.tasks, debug->list.count);
    } else {
        describe(&task, &start, world, fact);
        status =
            fact->kind == TRUTH_ALLOC
                ? prof_text_trace_alloc(&output, address, fact->size_bytes,
                                        NULL, &task)
                : prof_text_trace_free(
                      &output, address,
                      sim_world_object(world, fact->object)->size_bytes, &task);
    }
    debug->events++;
    (void)status; /* a write to memory cannot fail */
}

static sim_hear *
hears(enum truth_kind kind)
{
    return (kind == TRUTH_ALLOC || kind == TRUTH_FREE_EXPLICIT ||
            kind == TRUTH_SWEEP || kind == TRUTH_MARK)
               ? hear
               : NULL;
}

const struct sim_instrument_kind sim_debug_lines = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
};

struct sim_debug_text
sim_debug_text(const struct sim_world *world)
{
    const struct debug *debug = debug_of(world);

    return (struct sim_debug_text){debug->bytes, debug->bytes_count,
                                   debug->events};
}

void
sim_debug_name(struct sim_world *world, const struct prof_symbols *symbols)
{
    debug_of(world)->symbols = *symbols;
}
