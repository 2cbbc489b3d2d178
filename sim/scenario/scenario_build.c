/*
 * scenario_build.c -- makes a scenario from a configuration and events.
 *
 * Stacks and objects are renumbered without gaps: a stack gets its number at
 * its first event, an object when it is allocated. So two lists that differ
 * only in numbers build the same scenario. The limits of the file format are
 * checked here too, so that every scenario built can be printed and read again.
 */
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/locks.h"
#include "sim/scenario/scenario_store.h"

enum { EVENT_BYTES = 128 }; /* of an event's line, with generated names */

struct builder {
    const struct sim_scenario_source *source;
    struct sim_scenario *s;
    struct sim_error *error;
    struct sim_index objects; /* the source's number -> ours */
    uint32_t *stacks;         /* the source's number -> ours + 1; 0: unused */
    struct sim_index frames;  /* those that have a name already */
    uint64_t frames_count;
    uint64_t text_bytes; /* an upper bound of the printed text's length */
    uint64_t now_ticks;
    uint32_t event;
};

static bool __attribute__((format(printf, 2, 3)))
fail(struct builder *b, const char *format, ...)
{
    char *text = b->error->text;
    const size_t room = sizeof b->error->text;
    va_list arguments;
    int used;

    used = snprintf(text, room, "built:%" PRIu32 ": ", b->event);
    va_start(arguments, format);
    (void)vsnprintf(text + used, room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- configuration ---- */

static bool
is_text(uint8_t byte)
{
    return (byte >= ' ' && byte != 0x7f) || byte == '\t';
}

/* Lines as the parser would keep them: text, no blanks at the end, not long. */
static bool
build_header(struct builder *b, const char *header)
{
    enum { COMMENT_MAX = SIM_SCENARIO_LINE_MAX - 2 };
    char *copy = malloc(strlen(header) + 2);
    size_t used = 0;
    size_t begin = 0;

    if (copy == NULL)
        return fail(b, "not enough memory");
    while (*header != '\0') {
        const size_t bytes = strcspn(header, "\n");

        for (size_t i = 0; i < bytes && i < COMMENT_MAX; i++)
            copy[used++] = is_text((uint8_t)header[i]) ? header[i] : '?';
        while (used > begin &&
               (copy[used - 1] == ' ' || copy[used - 1] == '\t'))
            used--;
        copy[used++] = '\n';
        begin = used;
        header += bytes + (header[bytes] == '\n');
    }
    copy[used] = '\0';
    b->text_bytes += 3 * (uint64_t)used;
    free(b->s->header);
    b->s->header = copy;
    return true;
}

static bool
build_clocks(struct builder *b)
{
    const struct sim_config *from = b->source->config;

    for (uint32_t i = 0; i < (from->scheduled ? SIM_PROCS_MAX : from->procs);
         i++) {
        const struct sim_clock *clock = &from->clocks[i];

        if (clock->offset_ticks > SIM_SCENARIO_OFFSET_MAX ||
            clock->offset_ticks < -SIM_SCENARIO_OFFSET_MAX ||
            clock->drift_ppm > SIM_SCENARIO_DRIFT_MAX ||
            clock->drift_ppm < -SIM_SCENARIO_DRIFT_MAX)
            return fail(b, "clock %" PRIu32 " is out of range", i);
        b->s->config.clocks[i] = *clock;
    }
    return true;
}

static bool
build_config(struct builder *b)
{
    const struct sim_config *from = b->source->config;
    struct sim_config *to = &b->s->config;

    if (from->rules != NULL)
        to->rules = prof_rules_find(from->rules->name);
    if (to->rules == NULL)
        return fail(b, "the rules '%.40s' have no preset", from->rules->name);
    to->hash = from->hash;
    if (from->buckets_max != 0)
        to->buckets_max = from->buckets_max;
    if (from->depth_max != 0)
        to->depth_max = from->depth_max;
    to->frames_max = from->frames_max;
    to->cycle_first = from->cycle_first;
    to->seed = from->seed;
    to->subject = from->subject;
    to->waiters_all = from->waiters_all;
    if (from->procs != 0)
        to->procs = from->procs;
    to->scheduled = from->scheduled;
    if (from->instruments != 0)
        to->instruments = from->instruments;
    if (from->scheduled)
        to->trace = from->trace;
    if ((unsigned)to->hash >= PROF_HASH_COUNT ||
        to->buckets_max > PROF_BUCKETS_LIMIT ||
        to->depth_max > PROF_DEPTH_LIMIT || to->frames_max > UINT32_MAX ||
        to->cycle_first >= PROF_CYCLE_WRAP || to->procs > SIM_PROCS_MAX)
        return fail(b, "a field of the configuration is out of range");
    return build_clocks(b);
}

/* ---- stacks, frames ---- */

/* Name a frame, with bytes that no name may have replaced by '_'. */
static bool
build_frame_name(struct builder *b, uintptr_t frame)
{
    uint32_t probe = 0;
    const char *given;
    size_t bytes;
    char *name;

    if (b->source->frame_name == NULL ||
        sim_index_next(&b->frames, frame, &probe) != SIM_INDEX_NONE)
        return true;
    given = b->source->frame_name(b->source->context, frame);
    if (given == NULL || *given == '\0')
        return true;
    bytes = strlen(given);
    if (bytes > SIM_SCENARIO_FUNCTION_MAX)
        bytes = SIM_SCENARIO_FUNCTION_MAX;
    name = sim_scenario_text(b->s, given, bytes);
    if (name == NULL)
        return fail(b, "not enough memory");
    for (size_t i = 0; i < bytes; i++) {
        if (!sim_function_byte(name[i]) || strncmp(name + i, "@0x", 3) == 0)
            name[i] = '_';
    }
    if (name[0] >= '0' && name[0] <= '9')
        name[0] = '_';
    if (strcmp(name, "-") == 0)
        name[0] = '_';
    if (!sim_scenario_add_frame_name(b->s, frame, name) ||
        !sim_index_add(&b->frames, frame, b->s->frame_names_count - 1))
        return fail(b, "not enough memory");
    return true;
}

static bool
build_stack(struct builder *b, uint32_t *stack)
{
    const struct truth_stack *from;
    const uint32_t number = b->s->config.stacks_count;
    uintptr_t *frames;
    char name[16];
    char *kept;

    if (*stack >= b->source->config->stacks_count)
        return fail(b, "there is no stack %" PRIu32, *stack);
    if (b->stacks[*stack] != 0) {
        *stack = b->stacks[*stack] - 1;
        return true;
    }
    from = &b->source->config->stacks[*stack];
    b->frames_count += from->depth;
    if (number == SIM_SCENARIO_STACKS_MAX ||
        from->depth > SIM_SCENARIO_DEPTH_MAX ||
        b->frames_count > SIM_SCENARIO_FRAMES_MAX)
        return fail(b, "too many stacks or frames");
    (void)snprintf(name, sizeof name, "s%" PRIu32, number + 1);
    kept = sim_scenario_text(b->s, name, strlen(name));
    frames = sim_scenario_take(b->s, from->depth * sizeof *frames);
    if (kept == NULL || frames == NULL ||
        !sim_scenario_add_stack(b->s, kept, frames, from->depth))
        return fail(b, "not enough memory");
    for (uint32_t i = 0; i < from->depth; i++) {
        frames[i] = from->frames[i];
        b->text_bytes += SIM_SCENARIO_FUNCTION_MAX + 20;
        if (!build_frame_name(b, frames[i]))
            return false;
    }
    b->stacks[*stack] = number + 1;
    *stack = number;
    return true;
}

/* ---- events ---- */

static uint32_t
object_find(const struct builder *b, uint32_t source)
{
    uint32_t probe = 0;

    return sim_index_next(&b->objects, source, &probe);
}

static bool
build_object(struct builder *b, enum sim_event_kind kind, uint32_t *object)
{
    const uint32_t source = *object;
    const uint32_t number = object_find(b, source);
    char name[16];
    char *kept;

    *object = number;
    if (kind != SIM_EV_ALLOC)
        return number != SIM_INDEX_NONE
                   ? true
                   : fail(b, "object %" PRIu32 " was never allocated", source);
    if (number != SIM_INDEX_NONE)
        return fail(b, "object %" PRIu32 " was allocated before", source);
    *object = b->s->objects_count;
    (void)snprintf(name, sizeof name, "o%" PRIu32, *object + 1);
    kept = sim_scenario_text(b->s, name, strlen(name));
    if (kept == NULL || !sim_scenario_add_object(b->s, kept) ||
        !sim_index_add(&b->objects, source, *object))
        return fail(b, "not enough memory");
    return true;
}

static bool
build_event(struct builder *b, struct sim_event event)
{
    const char *uses;

    if ((unsigned)event.kind >= SIM_EV_COUNT)
        return fail(b, "there is no event of kind %d", (int)event.kind);
    uses = sim_event_arguments(event.kind);
    if (event.task >= SIM_TASKS_MAX)
        return fail(b, "task %" PRIu32 " is out of range", event.task);
    if (event.delay_ticks >= SIM_SCENARIO_TICKS_LIMIT - b->now_ticks)
        return fail(b, "the delays add up to 2^43 ticks or more");
    b->now_ticks += event.delay_ticks;
    if (strchr(uses, 'l') != NULL && event.lock >= SIM_LOCKS_MAX)
        return fail(b, "lock %" PRIu32 " is out of range", event.lock);
    if (strchr(uses, 'o') != NULL &&
        !build_object(b, event.kind, &event.object))
        return false;
    if ((strchr(uses, 's') != NULL || b->s->config.scheduled) &&
        strpbrk(uses, "sS") != NULL && event.stack != TRUTH_NO_STACK &&
        !build_stack(b, &event.stack))
        return false;
    if (strchr(uses, 'h') != NULL && !build_stack(b, &event.lock))
        return false;
    if (event.proc >= SIM_PROCS_MAX)
        return fail(b, "processor %" PRIu32 " is out of range", event.proc);
    if (!sim_scenario_add_event(b->s, &event, 0))
        return fail(b, "not enough memory");
    return true;
}

static bool
build_outcome(struct builder *b)
{
    const char *property = b->source->property;

    b->s->outcome = b->source->outcome;
    if (b->s->outcome != SIM_OUTCOME_BROKEN)
        return true;
    if (property == NULL || *property == '\0' ||
        strlen(property) > SIM_SCENARIO_PROPERTY_MAX)
        return fail(b, "the property has no id");
    memcpy(b->s->property, property, strlen(property));
    return true;
}

static bool
build_all(struct builder *b)
{
    const struct sim_scenario_source *source = b->source;

    b->stacks =
        calloc((size_t)source->config->stacks_count + 1, sizeof *b->stacks);
    if (b->stacks == NULL)
        return fail(b, "not enough memory");
    if (source->events_count > SIM_SCENARIO_EVENTS_MAX)
        return fail(b, "more than %d events", SIM_SCENARIO_EVENTS_MAX);
    if (!build_config(b) ||
        !build_header(b, source->header != NULL ? source->header : ""))
        return false;
    for (uint32_t i = 0; i < source->events_count; i++) {
        b->event = i;
        if (!build_event(b, source->events[i]))
            return false;
    }
    sim_scenario_sort_frame_names(b->s);
    b->text_bytes += EVENT_BYTES * (uint64_t)source->events_count;
    if (b->text_bytes > SIM_SCENARIO_FILE_MAX - 4096)
        return fail(b, "the scenario does not fit into a file");
    return build_outcome(b);
}

struct sim_scenario *
sim_scenario_build(const struct sim_scenario_source *source,
                   struct sim_error *error)
{
    struct builder b = {.source = source, .error = error};

    b.s = sim_scenario_new("built");
    if (b.s == NULL) {
        (void)fail(&b, "not enough memory");
    } else if (!build_all(&b)) {
        sim_scenario_free(b.s);
        b.s = NULL;
    }
    sim_index_free(&b.objects);
    sim_index_free(&b.frames);
    free(b.stacks);
    return b.s;
}
