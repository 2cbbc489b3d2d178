/*
 * instrument_subject.c -- see instrument_subject.h.
 *
 * Addresses. A block takes the slot that was freed last, or else a new one:
 * addresses are reused as soon as possible, because reuse confuses profilers. A
 * realloc that moves takes its new slot before it frees the old one.
 */
#include "sim/instruments/instrument_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/subject_watcher.h"

enum { SLOT_BITS = 21 }; /* the largest alignment */

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
    subject_reading_destroy(watcher);
    free(watcher);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct watcher *watcher = calloc(1, sizeof *watcher);

    if (watcher == NULL)
        return NULL;
    watcher->base.kind = &sim_subject;
    watcher->blocks = calloc(limits->objects_max, sizeof *watcher->blocks);
    watcher->free_slots =
        calloc((size_t)limits->objects_max + 1, sizeof *watcher->free_slots);
    if (subject_reading_create(watcher, limits) && watcher->blocks != NULL &&
        watcher->free_slots != NULL)
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
    watcher->is_read = false;
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
    void *state = subject_state(watcher, fact->proc);
    const struct subject_site site = site_of(watcher, fact);
    struct block block = {
        .size_bytes = fact->size_bytes,
        .align_bytes = (uint64_t)fact->cycles,
        .zeroed = fact->room != 0,
    };
    struct subject_block reported;

    (void)world;
    if (fact->kind == TRUTH_ALLOC) {
        block.slot = take_slot(watcher);
        watcher->blocks[fact->object] = block;
    }
    reported = subject_block_of(&block);
    if (fact->kind != TRUTH_ALLOC)
        reported.address = 0;
    watcher->subject->alloc(state, fact->proc, &site, &reported);
}

static void
hear_realloc(struct sim_instrument *instrument, struct sim_world *world,
             const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = subject_state(watcher, fact->proc);
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
    void *state = subject_state(watcher, fact->proc);
    const struct block *block = &watcher->blocks[fact->object];
    const struct subject_block reported = subject_block_of(block);

    (void)world;
    give_slot(watcher, block->slot);
    watcher->subject->free(state, fact->proc, &reported,
                           fact->kind == TRUTH_SWEEP);
}

/* ---- Threads, processes, collections ---- */

static void
hear_exit(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = subject_state(watcher, fact->proc);

    (void)world;
    if (watcher->subject->thread_exit != NULL)
        watcher->subject->thread_exit(state, fact->proc);
    watcher->started[fact->proc] = false;
}

void
sim_subject_forked(struct sim_world *world, uint32_t thread, bool is_child)
{
    struct watcher *watcher = watcher_of(world);
    void *state = subject_state(watcher, thread);

    for (uint32_t i = 0; i < SIM_PROCS_MAX && is_child; i++)
        watcher->started[i] &= i == thread;
    if (watcher->subject->fork != NULL)
        watcher->subject->fork(state, thread, is_child);
}

static void
hear_fork(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;

    (void)subject_state(watcher, fact->proc);
    if ((watcher->subject->can & SUBJECT_FORKS) == 0)
        sim_subject_forked(world, fact->proc, fact->flag);
}

static void
hear_cycle(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = subject_state(watcher, fact->proc);
    void (*call)(void *) = fact->kind == TRUTH_FLUSH ? watcher->subject->flush
                                                     : watcher->subject->cycle;

    (void)world;
    if (call != NULL)
        call(state);
}

static void
hear_wait(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    const struct truth_stack *stacks = sim_world_config(world)->stacks;
    const struct truth_stack *waited = &stacks[fact->stack];
    const struct truth_stack *released = &stacks[fact->lock];
    const struct subject_wait wait = {
        .waited = {waited->frames, waited->depth},
        .released = {released->frames, released->depth},
        .waiter = fact->proc,
        .holder = fact->object,
        .ticks = (uint64_t)fact->cycles,
    };

    (void)subject_state(watcher, fact->object);
    watcher->subject->wait(subject_state(watcher, fact->proc), &wait);
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
    case TRUTH_CONTENDED:
        return hear_wait;
    default:
        return subject_reading_hears(kind);
    }
}

const struct sim_instrument_kind sim_subject = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
    .refuses = subject_reading_refuses,
};

/* ---- For the judge ---- */

uint64_t
sim_subject_address(const struct sim_world *world, uint32_t object)
{
    return address_of(watcher_of(world)->blocks[object].slot);
}

void
sim_subject_end(struct sim_world *world)
{
    end(watcher_of(world));
}
