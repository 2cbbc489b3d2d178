/*
 * instrument_subject.c -- see instrument_subject.h.
 *
 * Addresses. A block takes the slot that was freed last, or a new one: an
 * address comes again as soon as it can, which is what confuses profilers. A
 * realloc that moves takes its new slot before the old one is free.
 */
#include "instrument_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "world.h"

enum { SLOT_BITS = 21 }; /* the largest alignment */

struct block {
    uint32_t slot;
    uint64_t size_bytes;
    uint64_t align_bytes;
    bool zeroed;
};

struct watcher {
    struct sim_instrument base;
    const struct subject *subject;
    struct sim_world *world;
    void *state;
    bool begun;
    bool started[SIM_PROCS_MAX];
    uint64_t rate_bytes;
    struct sim_rng rng;
    void *memory;
    size_t memory_bytes;
    struct block *blocks; /* by object */
    uint32_t *free_slots;
    uint32_t free_slots_count;
    uint32_t slots_count;
    struct sim_subject_view views[2];
    struct sim_subject_view *reading;
    size_t records_max; /* of each view */
};

static struct watcher *
watcher_of(const struct sim_world *world)
{
    return (struct watcher *)sim_world_instrument(world, SIM_SUBJECT);
}

/* ---- Memory ---- */

static void
end(struct watcher *watcher)
{
    if (watcher->begun && watcher->subject->end != NULL)
        watcher->subject->end(watcher->state);
    watcher->begun = false;
}

static void
destroy(struct sim_instrument *instrument)
{
    struct watcher *watcher = (struct watcher *)instrument;

    end(watcher);
    free(watcher->memory);
    free(watcher->blocks);
    free(watcher->free_slots);
    free(watcher->views[0].records);
    free(watcher->views[1].records);
    free(watcher);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct watcher *watcher = calloc(1, sizeof *watcher);

    if (watcher == NULL)
        return NULL;
    watcher->base.kind = &sim_subject;
    /* A record an object and one a stack would be much already. */
    watcher->records_max =
        4 * ((size_t)limits->objects_max + limits->buckets_max) + 64;
    watcher->blocks = calloc(limits->objects_max, sizeof *watcher->blocks);
    watcher->free_slots =
        calloc((size_t)limits->objects_max + 1, sizeof *watcher->free_slots);
    for (int i = 0; i < 2; i++)
        watcher->views[i].records =
            calloc(watcher->records_max, sizeof *watcher->views[i].records);
    if (watcher->blocks != NULL && watcher->free_slots != NULL &&
        watcher->views[0].records != NULL && watcher->views[1].records != NULL)
        return &watcher->base;
    destroy(&watcher->base);
    return NULL;
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct watcher *watcher = (struct watcher *)instrument;
    const struct subject *subject = sim_world_config(world)->subject;

    end(watcher);
    if (subject == NULL)
        return "it is for a subject: say which with --subject FILE";
    if (sim_world_config(world)->scheduled)
        return "a subject is not told of processors that take tasks";
    watcher->subject = subject;
    watcher->world = world;
    watcher->rate_bytes = 1;
    watcher->rng.state = sim_world_config(world)->seed;
    watcher->free_slots_count = 0;
    watcher->slots_count = 0;
    watcher->views[0].count = 0;
    watcher->views[1].count = 0;
    memset(watcher->started, 0, sizeof watcher->started);
    if (watcher->memory_bytes < subject->memory_bytes) {
        free(watcher->memory);
        watcher->memory_bytes = (subject->memory_bytes + 63) / 64 * 64;
        watcher->memory = aligned_alloc(64, watcher->memory_bytes);
        if (watcher->memory == NULL)
            watcher->memory_bytes = 0;
        if (watcher->memory == NULL)
            return "there is not enough memory for the subject";
    }
    return NULL;
}

/* ---- Beginning ---- */

static uint64_t
give_random(void *context)
{
    return sim_rng_next(&((struct watcher *)context)->rng);
}

static uint64_t
give_now_ns(void *context)
{
    return sim_world_now_ticks(((struct watcher *)context)->world);
}

static void
begin_subject(struct watcher *watcher)
{
    const struct subject_config config = {
        .rate_bytes = watcher->rate_bytes,
        .memory = watcher->subject->memory_bytes > 0 ? watcher->memory : NULL,
        .context = watcher,
        .random = give_random,
        .now_ns = give_now_ns,
    };

    if (config.memory != NULL)
        memset(config.memory, 0, watcher->memory_bytes);
    watcher->begun = true;
    watcher->state = watcher->subject->begin(&config);
    if (watcher->state != NULL)
        return;
    (void)fprintf(stderr, "the subject's begin() returned NULL\n");
    abort();
}

/* The subject, which knows the thread. returns: its state */
static void *
state_at(struct watcher *watcher, uint32_t thread)
{
    if (!watcher->begun)
        begin_subject(watcher);
    if (!watcher->started[thread]) {
        watcher->started[thread] = true;
        if (watcher->subject->thread_start != NULL)
            watcher->subject->thread_start(watcher->state, thread);
    }
    return watcher->state;
}

/* ---- Blocks ---- */

static uint64_t
address_of(uint32_t slot)
{
    return ((uint64_t)slot + 1) << SLOT_BITS;
}

static uint32_t
take_slot(struct watcher *watcher)
{
    if (watcher->free_slots_count > 0)
        return watcher->free_slots[--watcher->free_slots_count];
    return watcher->slots_count++;
}

static void
give_slot(struct watcher *watcher, uint32_t slot)
{
    watcher->free_slots[watcher->free_slots_count++] = slot;
}

static struct subject_block
subject_block_of(const struct block *block)
{
    return (struct subject_block){
        .address = address_of(block->slot),
        .size_bytes = block->size_bytes,
        .align_bytes = block->align_bytes,
        .zeroed = block->zeroed,
    };
}

static struct subject_site
site_of(const struct watcher *watcher, const struct truth_entry *fact)
{
    const struct truth_stack *stack =
        &sim_world_config(watcher->world)->stacks[fact->stack];

    return (struct subject_site){stack->frames, stack->depth};
}

static void
hear_alloc(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);
    const struct subject_site site = site_of(watcher, fact);
    struct block block = {
        .size_bytes = fact->size_bytes,
        .align_bytes = (uint64_t)fact->cycles,
        .zeroed = fact->room != 0,
    };
    struct subject_block told;

    (void)world;
    if (fact->kind == TRUTH_ALLOC) {
        block.slot = take_slot(watcher);
        watcher->blocks[fact->object] = block;
    }
    told = subject_block_of(&block);
    if (fact->kind != TRUTH_ALLOC)
        told.address = 0;
    watcher->subject->alloc(state, fact->proc, &site, &told);
}

static void
hear_realloc(struct sim_instrument *instrument, struct sim_world *world,
             const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);
    const struct subject_site site = site_of(watcher, fact);
    struct block *kept = &watcher->blocks[fact->object];
    const struct block old = *kept;
    const struct subject_block from = subject_block_of(&old);
    struct subject_block to;

    (void)world;
    kept->size_bytes = fact->size_bytes;
    kept->align_bytes = (uint64_t)fact->cycles;
    kept->zeroed = fact->room != 0;
    if (fact->kind == TRUTH_REALLOC && !fact->flag) {
        kept->slot = take_slot(watcher);
        give_slot(watcher, old.slot);
    }
    to = subject_block_of(kept);
    if (fact->kind == TRUTH_REALLOC_FAILED) {
        to.address = 0;
        *kept = old;
    }
    watcher->subject->realloc(state, fact->proc, &site, &from, &to);
}

static void
hear_free(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);
    const struct block *block = &watcher->blocks[fact->object];
    const struct subject_block told = subject_block_of(block);

    (void)world;
    give_slot(watcher, block->slot);
    watcher->subject->free(state, fact->proc, &told, fact->kind == TRUTH_SWEEP);
}

/* ---- Threads, processes, collections ---- */

static void
hear_exit(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);

    (void)world;
    if (watcher->subject->thread_exit != NULL)
        watcher->subject->thread_exit(state, fact->proc);
    watcher->started[fact->proc] = false;
}

static void
hear_fork(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);

    (void)world;
    for (uint32_t i = 0; i < SIM_PROCS_MAX && fact->flag; i++)
        watcher->started[i] &= i == fact->proc;
    watcher->subject->fork(state, fact->proc, fact->flag);
}

static void
hear_cycle(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = state_at(watcher, fact->proc);
    void (*call)(void *) = fact->kind == TRUTH_FLUSH ? watcher->subject->flush
                                                     : watcher->subject->cycle;

    (void)world;
    if (call != NULL)
        call(state);
}

/* ---- Reading ---- */

static void
keep_record(void *context, const struct subject_record *record)
{
    struct watcher *watcher = context;
    struct sim_subject_view *view = watcher->reading;
    const struct sim_config *config = sim_world_config(watcher->world);
    const uint32_t depth_max = watcher->subject->depth_max;
    struct sim_subject_record *kept;

    view->cut |= view->count == watcher->records_max;
    if (view->cut)
        return;
    kept = &view->records[view->count++];
    *kept = (struct sim_subject_record){
        .site = SIM_SUBJECT_NOWHERE,
        .depth = record->site.depth,
        .leaf = record->site.depth > 0 ? record->site.frames[0] : 0,
        .address = record->address,
        .live = record->live,
        .allocated = record->allocated,
        .freed = record->freed,
    };
    for (uint32_t i = config->stacks_count; i-- > 0;) {
        const struct truth_stack *stack = &config->stacks[i];
        const uint32_t depth = depth_max != 0 && depth_max < stack->depth
                                   ? depth_max
                                   : stack->depth;

        if (depth == record->site.depth &&
            (depth == 0 || memcmp(stack->frames, record->site.frames,
                                  depth * sizeof *stack->frames) == 0))
            kept->site = i;
    }
}

static void
read_into(struct watcher *watcher, int which)
{
    watcher->reading = &watcher->views[which];
    watcher->reading->count = 0;
    watcher->reading->cut = false;
    watcher->subject->snapshot(watcher->state, keep_record, watcher);
}

static void
hear_snapshot(struct sim_instrument *instrument, struct sim_world *world,
              const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    struct sim_answer *answer = sim_world_answer_room(world);

    (void)state_at(watcher, fact->proc);
    read_into(watcher, 0);
    read_into(watcher, 1);
    answer->status = PROF_OK;
    answer->count = 0;
    answer->is_too_long = false;
    answer->beyond_bytes = 0;
}

static void
hear_rate(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;

    (void)world;
    watcher->rate_bytes = fact->cycles < 0 ? 0 : (uint64_t)fact->cycles;
    if (!watcher->begun)
        return;
    read_into(watcher, 0);
    watcher->subject->set_rate(watcher->state, watcher->rate_bytes);
    read_into(watcher, 1);
}

static sim_hear *
hears(enum truth_kind kind)
{
    switch ((int)kind) {
    case TRUTH_ALLOC:
    case TRUTH_ALLOC_FAILED:
        return hear_alloc;
    case TRUTH_REALLOC:
    case TRUTH_REALLOC_FAILED:
        return hear_realloc;
    case TRUTH_FREE_EXPLICIT:
    case TRUTH_SWEEP:
        return hear_free;
    case TRUTH_THREAD_EXIT:
        return hear_exit;
    case TRUTH_FORK:
        return hear_fork;
    case TRUTH_NEXT_CYCLE:
    case TRUTH_FLUSH:
        return hear_cycle;
    case TRUTH_SNAPSHOT:
        return hear_snapshot;
    case TRUTH_HEAP_RATE:
        return hear_rate;
    default:
        return NULL;
    }
}

const struct sim_instrument_kind sim_subject = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
};

/* ---- For those who judge ---- */

const struct sim_subject_view *
sim_subject_view(const struct sim_world *world, int which)
{
    return &watcher_of(world)->views[which];
}

uint64_t
sim_subject_address(const struct sim_world *world, uint32_t object)
{
    return address_of(watcher_of(world)->blocks[object].slot);
}

uint32_t
sim_subject_site(const struct sim_world *world, uint32_t stack)
{
    const struct sim_config *config = sim_world_config(world);
    const struct truth_stack *wanted = &config->stacks[stack];
    const uint32_t depth_max = config->subject->depth_max;

    for (uint32_t i = 0; i < stack; i++) {
        const struct truth_stack *other = &config->stacks[i];
        const bool is_cut = depth_max != 0 && wanted->depth >= depth_max;
        const uint32_t depth = is_cut ? depth_max : wanted->depth;

        if ((is_cut ? other->depth >= depth : other->depth == depth) &&
            (depth == 0 || memcmp(other->frames, wanted->frames,
                                  depth * sizeof *other->frames) == 0))
            return i;
    }
    return stack;
}

void
sim_subject_end(struct sim_world *world)
{
    end(watcher_of(world));
}
