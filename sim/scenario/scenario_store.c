/*
 * scenario_store.c -- the memory of a scenario.
 *
 * Arrays double. The room of an array of `count` items is the next power of
 * two, at least 8, so the count alone tells when the array is full. Names and
 * frames come from a pool of blocks and are freed together.
 */
#include "sim/scenario/scenario_store.h"

#include <stdlib.h>
#include <string.h>

#include "sim/instruments/instrument_trace.h"
#include "common/rng.h"

enum { ITEMS_MIN = 8, POOL_BYTES = 65536, SLOTS_MIN = 64 };

struct sim_pool {
    struct sim_pool *next;
    size_t used_bytes;
    size_t size_bytes;
    uint64_t memory[];
};

struct sim_index_slot {
    uint64_t hash;
    uint32_t number_next; /* number + 1; 0: free */
};

const char *const sim_hash_words[PROF_HASH_COUNT] = {
    [PROF_HASH_MULTILINEAR] = "multilinear",
    [PROF_HASH_GO_64] = "go-64",
    [PROF_HASH_GO_32] = "go-32",
};

const struct sim_trace_config sim_trace_plain = {
    .buffers = SIM_TRACE_BUFFERS_MAX,
    .buffer_bytes = SIM_TRACE_BUFFER_BYTES_MAX,
    .tick_divisor = 64,
    .stacks_room = SIM_TRACE_STACKS_MAX,
    .ticks_per_us = 1000,
};

/* ---- memory ---- */

void *
sim_scenario_grow(void *array, uint32_t count, size_t item_bytes)
{
    if (count == 0 && array == NULL)
        return calloc(ITEMS_MIN, item_bytes);
    if (count < ITEMS_MIN || (count & (count - 1)) != 0)
        return array;
    return realloc(array, 2 * (size_t)count * item_bytes);
}

void *
sim_scenario_take(struct sim_scenario *scenario, size_t bytes)
{
    const size_t need = (bytes + 7) / 8 * 8;
    struct sim_pool *pool = scenario->pool;
    void *memory;

    if (pool == NULL || need > pool->size_bytes - pool->used_bytes) {
        const size_t size = need > POOL_BYTES ? need : POOL_BYTES;

        pool = malloc(sizeof *pool + size);
        if (pool == NULL)
            return NULL;
        pool->next = scenario->pool;
        pool->used_bytes = 0;
        pool->size_bytes = size;
        scenario->pool = pool;
    }
    memory = (char *)pool->memory + pool->used_bytes;
    pool->used_bytes += need;
    return memory;
}

char *
sim_scenario_text(struct sim_scenario *scenario, const char *text, size_t bytes)
{
    char *copy = sim_scenario_take(scenario, bytes + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

struct sim_scenario *
sim_scenario_new(const char *name)
{
    struct sim_scenario *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->config.rules = &prof_rules_exact;
    s->config.hash = PROF_HASH_MULTILINEAR;
    s->config.buckets_max = SIM_SCENARIO_BUCKETS_DEFAULT;
    s->config.depth_max = 32;
    s->config.procs = 1;
    s->config.instruments = SIM_PROFILES;
    s->config.trace = sim_trace_plain;
    s->name = sim_scenario_text(s, name, strlen(name));
    s->header = calloc(1, 1);
    if (s->name == NULL || s->header == NULL) {
        sim_scenario_free(s);
        return NULL;
    }
    return s;
}

void
sim_scenario_free(struct sim_scenario *scenario)
{
    if (scenario == NULL)
        return;
    while (scenario->pool != NULL) {
        struct sim_pool *next = scenario->pool->next;

        free(scenario->pool);
        scenario->pool = next;
    }
    free(scenario->header);
    free(scenario->stacks);
    free(scenario->stack_names);
    free(scenario->events);
    free(scenario->event_lines);
    free(scenario->object_names);
    free(scenario->frame_names);
    free(scenario->expects);
    free(scenario->listed);
    free(scenario);
}

/* ---- index ---- */

uint64_t
sim_text_hash(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a */

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3U;
    return hash;
}

uint32_t
sim_index_next(const struct sim_index *index, uint64_t hash, uint32_t *probe)
{
    const uint32_t mask = index->slots_count - 1;

    while (*probe < index->slots_count) {
        const uint64_t home = (sim_mix64(hash) + *probe) & mask;
        const struct sim_index_slot *slot = &index->slots[home];

        (*probe)++;
        if (slot->number_next == 0)
            break;
        if (slot->hash == hash)
            return slot->number_next - 1;
    }
    return SIM_INDEX_NONE;
}

static void
slot_fill(struct sim_index *index, uint64_t hash, uint32_t number_next)
{
    uint64_t home = sim_mix64(hash);

    while (index->slots[home & (index->slots_count - 1)].number_next != 0)
        home++; /* this ends: at least half of the slots are free */
    index->slots[home & (index->slots_count - 1)] =
        (struct sim_index_slot){.hash = hash, .number_next = number_next};
    index->used++;
}

bool
sim_index_add(struct sim_index *index, uint64_t hash, uint32_t number)
{
    if (index->used >= index->slots_count / 2) {
        struct sim_index larger = {.slots_count = index->slots_count == 0
                                                      ? SLOTS_MIN
                                                      : 2 * index->slots_count};

        larger.slots = calloc(larger.slots_count, sizeof *larger.slots);
        if (larger.slots == NULL)
            return false;
        for (uint32_t i = 0; i < index->slots_count; i++) {
            if (index->slots[i].number_next != 0)
                slot_fill(&larger, index->slots[i].hash,
                          index->slots[i].number_next);
        }
        free(index->slots);
        *index = larger;
    }
    slot_fill(index, hash, number + 1);
    return true;
}

void
sim_index_free(struct sim_index *index)
{
    free(index->slots);
    *index = (struct sim_index){0};
}

/* ---- content ---- */

uintptr_t
sim_text_address(const char *function, size_t bytes)
{
    /* 2^46 .. 2^47: valid addresses of code, but unlikely ones. */
    const uint64_t home = sim_text_hash(function, bytes) % (UINT64_C(1) << 42);

    return (uintptr_t)((UINT64_C(1) << 46) + 16 * home + 5);
}

uintptr_t
sim_frame_address(const char *function)
{
    return sim_text_address(function, strlen(function));
}

bool
sim_function_byte(char byte)
{
    return (uint8_t)byte > ' ' && byte != 0x7f && byte != '>' && byte != '#' &&
           byte != '=';
}

struct sim_limits
sim_scenario_limits(const struct sim_scenario *scenario)
{
    return (struct sim_limits){
        .events_max = scenario->events_count + 1,
        .objects_max = scenario->objects_count + 1,
        .buckets_max = scenario->config.buckets_max,
        .frames_max = scenario->config.frames_max,
        .instruments = scenario->config.instruments,
    };
}

bool
sim_event_reads(enum sim_event_kind kind)
{
    return kind == SIM_EV_SNAPSHOT || kind == SIM_EV_SNAPSHOT_ALL ||
           kind == SIM_EV_ITERATE || kind == SIM_EV_BLOCK_SNAPSHOT ||
           kind == SIM_EV_MUTEX_SNAPSHOT;
}

static struct sim_event
only_used(const struct sim_config *config, const struct sim_event *event)
{
    const char *uses = sim_event_arguments(event->kind);
    const char by = sim_event_by(event->kind);
    const bool scheduled = config->scheduled;
    const bool is_proc = by == 'p' || (by == 'b' && scheduled);
    const bool has_stack =
        strchr(uses, 's') != NULL || (strchr(uses, 'S') != NULL && scheduled);
    const uint32_t none = scheduled ? TRUTH_NO_STACK : 0;

    return (struct sim_event){
        .kind = event->kind,
        .task = is_proc ? 0 : event->task,
        .delay_ticks = event->delay_ticks,
        .object = strpbrk(uses, "ot") != NULL ? event->object : 0,
        .stack = has_stack ? event->stack : none,
        .size_bytes = strpbrk(uses, "bn") != NULL ? event->size_bytes : 0,
        .cycles = strpbrk(uses, "cwa") != NULL ? event->cycles : 0,
        .lock = strpbrk(uses, "lh") != NULL ? event->lock : 0,
        .room = strpbrk(uses, "ra") != NULL ? event->room : 0,
        .proc = is_proc ? event->proc : 0,
    };
}

bool
sim_scenario_add_event(struct sim_scenario *scenario,
                       const struct sim_event *event, uint32_t line)
{
    const uint32_t count = scenario->events_count;
    struct sim_event *events =
        sim_scenario_grow(scenario->events, count, sizeof *events);
    uint32_t *lines;

    if (events == NULL)
        return false;
    scenario->events = events;
    lines = sim_scenario_grow(scenario->event_lines, count, sizeof *lines);
    if (lines == NULL)
        return false;
    scenario->event_lines = lines;
    lines[count] = line;
    events[count] = only_used(&scenario->config, event);
    scenario->events_count++;
    return true;
}

bool
sim_scenario_add_stack(struct sim_scenario *scenario, char *name,
                       const uintptr_t *frames, uint32_t depth)
{
    const uint32_t count = scenario->config.stacks_count;
    struct truth_stack *stacks =
        sim_scenario_grow(scenario->stacks, count, sizeof *stacks);
    char **names;

    if (stacks == NULL)
        return false;
    scenario->stacks = stacks;
    scenario->config.stacks = stacks;
    names = sim_scenario_grow(scenario->stack_names, count, sizeof *names);
    if (names == NULL)
        return false;
    scenario->stack_names = names;
    stacks[count] = (struct truth_stack){.frames = frames, .depth = depth};
    names[count] = name;
    scenario->config.stacks_count++;
    return true;
}

bool
sim_scenario_add_object(struct sim_scenario *scenario, char *name)
{
    char **names = sim_scenario_grow(scenario->object_names,
                                     scenario->objects_count, sizeof *names);

    if (names == NULL)
        return false;
    scenario->object_names = names;
    names[scenario->objects_count++] = name;
    return true;
}

bool
sim_scenario_add_frame_name(struct sim_scenario *scenario, uintptr_t frame,
                            const char *name)
{
    struct sim_frame_name *names = sim_scenario_grow(
        scenario->frame_names, scenario->frame_names_count, sizeof *names);

    if (names == NULL)
        return false;
    scenario->frame_names = names;
    names[scenario->frame_names_count++] =
        (struct sim_frame_name){.frame = frame, .name = name};
    return true;
}

static int
frame_order(const void *a, const void *b)
{
    const struct sim_frame_name *left = a;
    const struct sim_frame_name *right = b;

    return (left->frame > right->frame) - (left->frame < right->frame);
}

void
sim_scenario_sort_frame_names(struct sim_scenario *scenario)
{
    if (scenario->frame_names_count > 1)
        qsort(scenario->frame_names, scenario->frame_names_count,
              sizeof *scenario->frame_names, frame_order);
}

const char *
sim_scenario_frame_name(const struct sim_scenario *scenario, uintptr_t frame)
{
    const struct sim_frame_name wanted = {.frame = frame};
    const struct sim_frame_name *found = NULL;

    if (scenario->frame_names_count > 0)
        found =
            bsearch(&wanted, scenario->frame_names, scenario->frame_names_count,
                    sizeof wanted, frame_order);
    return found != NULL ? found->name : NULL;
}
