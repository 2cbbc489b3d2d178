/*
 * instrument_contention.c -- the block and mutex profiles as an instrument of a
 * world.
 *
 * As in a runtime, the profile's rate is read at the two moments at which the
 * clock is: when a wait begins, to see whether the profile is on, and when it
 * ends, to see how much to record.
 *
 * Invariant
 *   I1  between calls the snapshot buffer holds guard bytes, except in its
 *       first `dirty` records and where a faulty library wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/guard.h"
#include "sim/world/locks.h"
#include "sim/world/world.h"

struct contention {
    struct sim_instrument base;
    struct prof_contention_record *records;
    size_t records_max;
    size_t dirty;                 /* records that are not guard bytes */
    bool block_on[SIM_TASKS_MAX]; /* when the wait of a task began */
    bool mutex_on[SIM_TASKS_MAX];
};

static void
destroy(struct sim_instrument *instrument)
{
    struct contention *contention = (struct contention *)instrument;

    free(contention->records);
    free(contention);
}

static struct sim_instrument *
create(const struct sim_limits *limits)
{
    struct contention *contention = calloc(1, sizeof *contention);

    if (contention == NULL)
        return NULL;
    contention->base.kind = &sim_contention;
    contention->records_max = (size_t)limits->buckets_max + 1;
    contention->records =
        calloc(contention->records_max, sizeof *contention->records);
    if (contention->records != NULL)
        return &contention->base;
    destroy(&contention->base);
    return NULL;
}

static const char *
begin(struct sim_instrument *instrument, struct sim_world *world)
{
    struct contention *contention = (struct contention *)instrument;

    sim_world_answer_room(world)->contention = contention->records;
    contention->dirty =
        contention->records_max; /* the previous run may have written all */
    return NULL;
}

static void
record(struct sim_world *world, const struct truth_entry *fact,
       enum prof_contention kind, int64_t cycles)
{
    const struct truth_stack *stack =
        &sim_world_config(world)->stacks[fact->stack];

    prof_contention_event(prof_proc_at(sim_world_prof(world), fact->proc), kind,
                          stack->frames, stack->depth, cycles);
}

static void
hear_released(struct sim_instrument *instrument, struct sim_world *world,
              const struct truth_entry *fact)
{
    const struct contention *contention = (struct contention *)instrument;
    const struct sim_wake *wake = sim_world_wake(world);
    const int64_t now = fact->at_ticks;

    if (!contention->mutex_on[fact->task])
        return;
    record(world, fact, PROF_MUTEX,
           prof_mutex_cycles(sim_world_prof(world),
                             sim_clock_since(now, wake->waiter.since_ticks),
                             wake->others > 0
                                 ? sim_clock_since(now, wake->last_since_ticks)
                                 : 0,
                             wake->others));
}

static void
hear_snapshot(struct sim_instrument *instrument, struct sim_world *world,
              const struct truth_entry *fact)
{
    struct contention *contention = (struct contention *)instrument;
    struct sim_answer *answer = sim_world_answer_room(world);
    const size_t size = sizeof *contention->records;
    const uint32_t most = sim_world_config(world)->buckets_max;
    const size_t room = fact->room < most ? fact->room : most;
    const bool blocks = fact->kind == TRUTH_BLOCK_SNAPSHOT;
    size_t written;

    memset(contention->records, SIM_GUARD_BYTE, contention->dirty * size);
    answer->kind = blocks ? SIM_EV_BLOCK_SNAPSHOT : SIM_EV_MUTEX_SNAPSHOT;
    answer->status = prof_contention_snapshot(
        sim_world_prof(world), blocks ? PROF_BLOCK : PROF_MUTEX,
        contention->records, room, &answer->count);
    written = answer->status == PROF_OK ? answer->count : 0;
    answer->is_too_long = written > room;
    answer->beyond = &contention->records[written];
    answer->beyond_bytes =
        answer->is_too_long ? 0 : (room + 1 - written) * size;
    contention->dirty = answer->is_too_long ? room + 1 : written;
}

static void
hear_event(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    (void)instrument;
    record(world, fact, fact->kind == TRUTH_BLOCK ? PROF_BLOCK : PROF_MUTEX,
           fact->cycles);
}

static void
hear_wait(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct contention *contention = (struct contention *)instrument;
    struct prof *prof = sim_world_prof(world);

    contention->block_on[fact->task] = prof_block_rate_ticks(prof) > 0;
    contention->mutex_on[fact->task] = prof_mutex_fraction_set(prof, -1) > 0;
}

static void
hear_woken(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    const struct contention *contention = (struct contention *)instrument;

    if (contention->block_on[fact->task])
        record(world, fact, PROF_BLOCK,
               sim_clock_since(fact->at_ticks,
                               sim_world_wake(world)->waiter.began_ticks));
}

static void
hear_rate(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    (void)instrument;
    if (fact->kind == TRUTH_BLOCK_RATE)
        prof_block_rate_set(sim_world_prof(world), fact->cycles);
    else
        (void)prof_mutex_fraction_set(sim_world_prof(world), fact->cycles);
}

static sim_hear *
hears(enum truth_kind kind)
{
    switch ((int)kind) {
    case TRUTH_BLOCK:
    case TRUTH_MUTEX:
        return hear_event;
    case TRUTH_WAIT:
        return hear_wait;
    case TRUTH_RELEASED:
        return hear_released;
    case TRUTH_WOKEN:
        return hear_woken;
    case TRUTH_BLOCK_RATE:
    case TRUTH_MUTEX_FRACTION:
        return hear_rate;
    case TRUTH_BLOCK_SNAPSHOT:
    case TRUTH_MUTEX_SNAPSHOT:
        return hear_snapshot;
    default:
        return NULL;
    }
}

static void
stop(struct sim_instrument *instrument, struct sim_world *world, bool stops)
{
    (void)instrument;
    prof_block_rate_set(sim_world_prof(world), stops ? 0 : 1);
    (void)prof_mutex_fraction_set(sim_world_prof(world), stops ? 0 : 1);
}

const struct sim_instrument_kind sim_contention = {
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .hears = hears,
    .stop = stop,
};
