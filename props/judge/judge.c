/*
 * judge.c -- after every event, feed the model and compare the library's
 * counters with it; if the event read a profile, compare the profile too.
 *
 * The cheap comparisons (phase, totals, drops) follow every event, so a breach
 * is reported at the event that caused it and not at the next snapshot.
 */
#include "props/judge/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "props/era.h"
#include "sim/generate/generate.h"
#include "props/judge/judge_internal.h"
#include "common/rng.h"

/* Derived as in docs/semantics.md, 3 * 2^25; the library's constant is not
 * used. */

static struct model_limits
model_limits_of(const struct sim_config *config)
{
    const struct prof_rules *rules = config->rules;

    return (struct model_limits){
        .scheme = rules->heap == PROF_HEAP_STAGES ? MODEL_STAGES : MODEL_RING,
        .explicit_free_dropped = rules->explicit_free == PROF_EXPLICIT_DROPPED,
        .sizing_consumes_first = rules->sizing_consumes_first,
        .depth_max = config->depth_max != 0 ? config->depth_max : 32,
        .buckets_max = config->buckets_max,
        .frames_max = config->frames_max != 0
                          ? config->frames_max
                          : UINT64_C(16) * config->buckets_max,
        .era = props_era_of(rules),
        .seed = config->seed,
        .waiters_all = config->waiters_all,
        .ticks_per_second = 1000000000,
    };
}

/* Facts about what no instrument of the run watches never reach the library. */
static void
leave_out_unheard(struct model_limits *limits, const struct sim_world *world)
{
    const bool heap = sim_world_carries(world, SIM_HEAP_PROFILE);
    const bool waits = sim_world_carries(world, SIM_CONTENTION);

    for (int kind = 0; kind < TRUTH_KIND_COUNT; kind++) {
        const char calls = truth_calls((enum truth_kind)kind);

        limits->unheard[kind] = calls == 'w' ? !waits : calls != '-' && !heap;
    }
}

void
props_judge_begin(struct props_judge *judge)
{
    const struct sim_config *config = sim_world_config(judge->world);

    judge->limits = model_limits_of(config);
    leave_out_unheard(&judge->limits, judge->world);
    model_heap_reset(judge->model, &judge->limits,
                     sim_world_truth(judge->world));
    judge->breach.broken = 0;
    judge->breach.property = PROPS_NONE;
    judge->hash = 0;
    judge->events = 0;
    judge->truths_seen = 0;
    judge->buckets_marked = 0;
    judge->sampled = false;
    judge->is_ending = false;
    judge->truth = sim_world_truth(judge->world);
    judge->procs_count =
        config->scheduled ? (uint32_t)SIM_PROCS_MAX : config->procs;
    for (uint32_t i = 0; i < judge->procs_count; i++)
        judge->procs[i] = prof_proc_at(sim_world_prof(judge->world), i);
    for (uint32_t i = 0; i < SIM_PROCS_MAX; i++)
        judge->last_ticks[i] = INT64_MIN;
}

/* Check the cycle word: its number (H6) and its flag (H5). */
static void
judge_phase(struct props_judge *judge)
{
    const struct prof_heap_phase phase =
        prof_heap_phase(sim_world_prof(judge->world));
    const uint64_t cycle = judge_cycle(judge) % CYCLES_BEFORE_WRAP;
    const bool flushed = model_heap_flushed(judge->model);

    if (phase.cycle != cycle)
        judge_breach(judge, PROPS_H6,
                     "the cycle is %" PRIu32 ", expected %" PRIu64, phase.cycle,
                     cycle);
    if (phase.flushed != flushed)
        judge_breach(judge, PROPS_H5,
                     "the cycle counts as %sflushed, expected the opposite",
                     phase.flushed ? "" : "not ");
}

static void
judge_account(struct props_judge *judge, const char *what, uint64_t got,
              uint64_t expected)
{
    if (got != expected)
        judge_breach(judge, PROPS_H4, "%s: %" PRIu64 ", expected %" PRIu64,
                     what, got, expected);
}

/*
 * A wrong count stays wrong. So it is enough to check the totals once a cycle,
 * after each reading of the heap profile, and at the end.
 */
static bool
totals_are_due(enum truth_kind last)
{
    return last == TRUTH_NEXT_CYCLE || last == TRUTH_SNAPSHOT ||
           last == TRUTH_ITERATE;
}

static bool
reads_heap(enum sim_event_kind kind)
{
    return kind == SIM_EV_SNAPSHOT || kind == SIM_EV_SNAPSHOT_ALL ||
           kind == SIM_EV_ITERATE;
}

/* Check the counts of dropped events, by cause. */
static void
judge_drops(struct props_judge *judge)
{
    const struct prof_drops drops = prof_drops(sim_world_prof(judge->world));
    const struct model_drops lost = model_heap_drops(judge->model);

    judge_account(judge, "events dropped for buckets", drops.no_bucket,
                  lost.no_bucket);
    judge_account(judge, "events dropped for frames", drops.no_frames,
                  lost.no_frames);
    judge_account(judge, "explicit frees dropped", drops.no_free_path,
                  lost.no_free_path);
    judge_account(judge, "mutex events without a profile", drops.no_mutex,
                  lost.no_mutex);
}

/* Conservation: the sums over all buckets must equal the model's. */
static void
judge_totals(struct props_judge *judge)
{
    struct prof *prof = sim_world_prof(judge->world);
    const struct prof_heap_totals got = prof_heap_totals(prof);
    const struct model_sum *sum = model_heap_sum(judge->model);

    judge_account(judge, "allocations in all",
                  got.allocs_published + got.allocs_pending,
                  sum->allocs + sum->allocs_pending);
    judge_account(judge, "frees in all",
                  got.frees_published + got.frees_pending,
                  sum->frees + sum->frees_pending);
    /* Published totals matter only when the heap profile is read. */
    if (reads_heap(sim_world_answer(judge->world)->kind) &&
        (got.allocs_published != sum->allocs ||
         got.frees_published != sum->frees))
        judge_breach(judge, PROPS_H5,
                     "published %" PRIu64 " allocations and %" PRIu64
                     " frees, expected %" PRIu64 " and %" PRIu64,
                     got.allocs_published, got.frees_published, sum->allocs,
                     sum->frees);
}

/* Add the state of each processor's random numbers to the hash. */
static void
judge_draws(struct props_judge *judge)
{
    const struct model_contention *contention =
        model_heap_contention(judge->model);

    for (uint32_t i = 0; i < judge->procs_count; i++) {
        const uint64_t got = prof_proc_rng_state(judge->procs[i]);

        if (got != contention->states[i])
            judge_breach(judge, PROPS_S5,
                         "the random numbers of processor %" PRIu32
                         " stand at %016" PRIx64 ", expected %016" PRIx64,
                         i, got, contention->states[i]);
    }
}

/*
 * Repeat a call that must do nothing the second time (H5). Only every second
 * call is repeated: otherwise the repetition could hide a first call that did
 * only half of its work.
 */
static void
repeat_call(struct props_judge *judge, enum truth_kind last)
{
    struct prof *prof = sim_world_prof(judge->world);
    enum prof_status status = PROF_OK;

    if (last == TRUTH_FLUSH && judge->events % 2 != 0)
        status = prof_heap_flush(prof);
    else if (last == TRUTH_POST_SWEEP && judge->events % 2 != 0)
        status = prof_heap_post_sweep(prof);
    if (status != PROF_OK)
        judge_breach(judge, PROPS_H5, "a second call returns: %s",
                     prof_status_text(status));
}

/* returns: the kind of the event's last fact that is not about tasks, or
 * TRUTH_KIND_COUNT */
static enum truth_kind
last_fact(const struct props_judge *judge)
{
    const struct truth_log *truth = judge->truth;

    if (truth->entries[truth->entries_count - 1].kind < TRUTH_TASKS_FIRST)
        return truth->entries[truth->entries_count - 1].kind;
    for (uint32_t i = truth->entries_count; i > judge->truths_seen; i--) {
        if (truth->entries[i - 1].kind < TRUTH_TASKS_FIRST)
            return truth->entries[i - 1].kind;
    }
    return TRUTH_KIND_COUNT;
}

bool
props_judge_event(struct props_judge *judge)
{
    const struct truth_log *truth = judge->truth;

    model_heap_feed(judge->model);
    if (truth->entries_count > judge->truths_seen) {
        const enum truth_kind last = last_fact(judge);

        if (last != TRUTH_KIND_COUNT && truth_calls(last) != '-' &&
            !judge->limits.unheard[last]) {
            repeat_call(judge, last);
            judge_phase(judge);
            judge_drops(judge);
            judge_draws(judge);
            if (totals_are_due(last))
                judge_totals(judge);
        }
    }
    if (sim_world_answer(judge->world)->kind != SIM_EV_COUNT)
        judge_answer(judge);
    judge_cover(judge);
    judge->truths_seen = truth->entries_count;
    return judge->breach.property == PROPS_NONE;
}

/* ---- the end ---- */

/* At most one step for each stalled processor, and one each for a thread, a
 * system call and a sweep. */
enum { PLACES_MAX = SIM_PROCS_MAX + 3 };

static bool
step(struct props_judge *judge, enum sim_event_kind kind, uint32_t object)
{
    const bool scheduled = sim_world_config(judge->world)->scheduled;
    struct sim_event place;
    struct sim_event event = {.kind = kind,
                              .delay_ticks =
                                  sim_world_stall_ticks(judge->world),
                              .object = object,
                              .stack = scheduled ? TRUTH_NO_STACK : 0,
                              .room = SIM_ROOM_ENOUGH};
    const char *why = NULL;

    for (int i = 0; i < PLACES_MAX && why == NULL &&
                    !sim_collector_place(judge->world, &place);
         i++)
        why = sim_world_apply(judge->world, &place);
    event.proc = place.proc;
    if (why == NULL)
        why = sim_world_apply(judge->world, &event);
    if (why != NULL)
        judge_breach(judge, PROPS_L1, "the collector is stuck at %s: %s",
                     sim_event_word(kind), why);
    return why == NULL;
}

/* Flush and sweep what a collection has left. */
static bool
finish_collection(struct props_judge *judge)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);
    uint32_t object = 0;

    if (gc->marking && !step(judge, SIM_EV_GC_TERMINATE, 0))
        return false;
    if (gc->unflushed && !step(judge, SIM_EV_GC_FLUSH, 0))
        return false;
    while (gc->dead > 0) { /* bounded by the number of objects */
        object = sim_world_find(judge->world, SIM_DEAD, object);
        if (!step(judge, SIM_EV_GC_SWEEP, object))
            return false;
    }
    return true;
}

static bool
collect_three_times(struct props_judge *judge)
{
    judge->is_ending = true;
    for (int i = 0; i < 3; i++) {
        if (!finish_collection(judge) || !step(judge, SIM_EV_GC_MARK, 0))
            return false;
    }
    return finish_collection(judge);
}

/*
 * Read every profile once more. Whatever the run did, after three collections
 * without faults both oracles know the heap.
 */
static void
judge_healed(struct props_judge *judge)
{
    uint32_t k;

    if (!step(judge, SIM_EV_SNAPSHOT_ALL, 0))
        return;
    model_heap_feed(judge->model);
    judge_answer(judge);
    if (!model_heap_at(judge->model, &k))
        judge_breach(judge, PROPS_L1,
                     "a snapshot still lacks something of the heap at mark "
                     "termination %" PRIu32,
                     k);
}

bool
props_judge_end(struct props_judge *judge)
{
    const char *broken = prof_check(sim_world_prof(judge->world));

    judge_totals(judge);
    if (broken != NULL)
        judge_breach(judge, PROPS_B1, "invariant %s of the library is broken",
                     broken);
    if ((judge->requested & PROPS_BIT(PROPS_L1)) == 0 ||
        judge->limits.unheard[TRUTH_SNAPSHOT])
        return judge->breach.property == PROPS_NONE;
    if (collect_three_times(judge)) {
        model_heap_feed(judge->model);
        judge_pending(judge);
        judge_healed(judge);
        props_cover_hit(judge->cover, COVER_DRAINED);
    }
    judge->is_ending = false;
    return judge->breach.property == PROPS_NONE;
}
