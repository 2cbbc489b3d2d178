/*
 * run.c -- one judged run.
 *
 *      events --> world --> judge (model)
 *             \-> shadow world ---> compared with the world's answer (H9)
 *
 * The shadow world has the same configuration under the other accounting
 * scheme. It runs as long as the two schemes must agree: until a post-sweep
 * (stages have none), a fault, an explicit free that only one scheme drops, or
 * a snapshot that only one scheme treats as the first. The shadow world lags
 * behind, and catches up only when there is a snapshot to compare; what happens
 * after the last snapshot cannot differ visibly.
 */
#include "props/judge/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "props/judge/judge_internal.h"
#include "common/rng.h"

/* Is there room for a trace? */
static bool
may_trace(const struct sim_limits *limits)
{
    return (limits->instruments & SIM_INSTRUMENT_BIT(SIM_TRACER)) != 0;
}

static bool
has_subject(const struct sim_limits *limits)
{
    return (limits->instruments & SIM_INSTRUMENT_BIT(SIM_SUBJECT)) != 0;
}

static void
note_difference(void *context, enum props_property property, const char *text)
{
    struct props_run *run = context;

    trace_judge_breach(&run->trace, property, "%s", text);
}

static size_t
crash_log_bytes(uint32_t events_max)
{
    return sizeof(struct props_crash_log) +
           events_max * sizeof(struct sim_event);
}

struct props_run *
props_run_new(const struct sim_limits *limits)
{
    struct props_run *run = calloc(1, sizeof *run);
    struct sim_limits unlogged = *limits;

    if (run == NULL)
        return NULL;
    unlogged.unlogged = true;
    run->events_max = limits->events_max;
    run->judge.world = sim_world_new(limits);
    run->shadow = sim_world_new(&unlogged);
    run->judge.model = model_heap_new(limits->objects_max, limits->buckets_max,
                                      sim_limits_truths(limits));
    run->crash_log =
        mmap(NULL, crash_log_bytes(run->events_max), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run->crash_log == MAP_FAILED)
        run->crash_log = NULL;
    else
        run->events = run->crash_log->events;
    run->judge.cover = &run->cover;
    run->trace.world = run->judge.world;
    run->trace.cover = &run->cover;
    run->subject.judge = &run->judge;
    run->cross.world = run->judge.world;
    run->cross.cover = &run->cover;
    run->cross.breach = note_difference;
    run->cross.context = run;
    run->without.limits = *limits;
    if (run->judge.world == NULL || run->judge.model == NULL ||
        run->shadow == NULL || run->events == NULL ||
        !subject_judge_init(&run->subject,
                            has_subject(limits) ? limits->objects_max : 0) ||
        (may_trace(limits) &&
         !trace_judge_init(&run->trace, sim_limits_truths(limits)))) {
        run->trace.oracle = NULL;
        props_run_delete(run);
        return NULL;
    }
    run->cross.order = run->trace.found;
    return run;
}

void
props_run_delete(struct props_run *run)
{
    if (run == NULL)
        return;
    if (run->trace.oracle != NULL)
        trace_judge_release(&run->trace);
    subject_judge_release(&run->subject);
    cross_release(&run->cross);
    cross_without_release(&run->without);
    sim_world_delete(run->judge.world);
    sim_world_delete(run->shadow);
    model_heap_delete(run->judge.model);
    if (run->crash_log != NULL)
        munmap(run->crash_log, crash_log_bytes(run->events_max));
    free(run);
}

/* ---- the shadow world ---- */

static bool
begin_shadow(struct props_run *run)
{
    const struct sim_config *config = sim_world_config(run->judge.world);
    const struct prof_rules *heap = config->rules->heap == PROF_HEAP_RING
                                        ? &prof_rules_go1_5
                                        : &prof_rules_exact;
    struct sim_config other = *config;

    /* The same configuration except for the heap. Not only heap buckets are
     * counted: contention events need buckets, too. */
    run->shadow_rules = *config->rules;
    run->shadow_rules.name = heap->name;
    run->shadow_rules.heap = heap->heap;
    run->shadow_rules.rotate = heap->rotate;
    run->shadow_rules.explicit_free = heap->explicit_free;
    run->shadow_rules.sizing_consumes_first = heap->sizing_consumes_first;
    other.rules = &run->shadow_rules;
    return sim_world_reset(run->shadow, &other) == NULL;
}

/* Apply the events so far to the shadow world. returns: false if it refuses
 * one */
static bool
shadow_follows(struct props_run *run)
{
    const char *why = NULL;

    if (run->shadow_events == 0 && !begin_shadow(run))
        return false;
    for (; run->shadow_events < run->events_count; run->shadow_events++)
        why = sim_world_apply(run->shadow, &run->events[run->shadow_events]);
    return why == NULL;
}

/* Do both schemes define the outcome of this event, and define it alike? */
static bool
shadow_may_go_on(const struct props_run *run, const struct sim_event *event)
{
    const struct sim_gc *gc = sim_world_gc(run->judge.world);
    const struct prof_rules *rules = sim_world_config(run->judge.world)->rules;

    switch ((int)event->kind) {
    case SIM_EV_GC_POST_SWEEP:
        return false;
    case SIM_EV_GC_MARK:
        return !gc->unflushed;
    case SIM_EV_FREE:
        return rules->explicit_free == PROF_EXPLICIT_RECENT;
    case SIM_EV_SNAPSHOT:
    case SIM_EV_SNAPSHOT_ALL:
        return event->room == SIM_ROOM_ENOUGH;
    default: /* an ITERATE shows what is published, which may be delayed */
        return true;
    }
}

static void
compare_with_shadow(struct props_run *run)
{
    const struct sim_answer *a = sim_world_answer(run->judge.world);
    const struct sim_answer *b = sim_world_answer(run->shadow);
    const char *name = sim_world_config(run->shadow)->rules->name;

    props_cover_hit(&run->cover, COVER_SCHEMES_COMPARED);
    if (a->count != b->count) {
        judge_breach(&run->judge, PROPS_H9, "lists %zu buckets, %s lists %zu",
                     a->count, name, b->count);
        return;
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct prof_heap_record *x = &a->heap[i];
        const struct prof_heap_record *y = &b->heap[i];

        if (x->allocs != y->allocs || x->frees != y->frees ||
            x->size_bytes != y->size_bytes)
            judge_breach(&run->judge, PROPS_H9,
                         "bucket %zu of %zu shows %" PRIu64 " allocations and "
                         "%" PRIu64 " frees, under %s %" PRIu64 " and %" PRIu64,
                         i + 1, a->count, x->allocs, x->frees, name, y->allocs,
                         y->frees);
    }
}

/* ---- the run ---- */

const char *
props_run_begin(struct props_run *run, const struct sim_config *config,
                props_set requested)
{
    const char *why = sim_world_reset(run->judge.world, config);

    run->events_count = 0;
    run->crash_log->count = 0;
    run->crash_log->attempting = 0;
    run->judge.requested = requested;
    run->judge.breach =
        (struct props_breach){.property = PROPS_NONE, .text = ""};
    if (why != NULL)
        return why;
    run->has_profiles = sim_world_prof(run->judge.world) != NULL;
    run->has_trace = sim_world_carries(run->judge.world, SIM_TRACER);
    run->has_subject = sim_world_carries(run->judge.world, SIM_SUBJECT);
    if (run->has_profiles)
        props_judge_begin(&run->judge);
    if (run->has_subject)
        subject_judge_begin(&run->subject);
    run->crosses = run->has_trace && (requested & PROPS_ACROSS) != 0 &&
                   config->instruments != SIM_INSTRUMENT_BIT(SIM_TRACER);
    run->trace.cross = run->crosses ? &run->cross : NULL;
    if (run->crosses)
        cross_begin(&run->cross);
    run->left_out = config->instruments;
    run->trace.requested = requested;
    run->trace.breach.property = PROPS_NONE;
    run->trace.hash = 0;
    run->shadow_runs =
        run->has_profiles && (requested & PROPS_BIT(PROPS_H9)) != 0;
    run->shadow_events = 0;
    return NULL;
}

static void
judge_profiles(struct props_run *run)
{
    const enum sim_event_kind read = sim_world_answer(run->judge.world)->kind;
    const bool is_compared =
        read == SIM_EV_SNAPSHOT || read == SIM_EV_SNAPSHOT_ALL;

    props_judge_event(&run->judge);
    if (run->shadow_runs && is_compared && shadow_follows(run))
        compare_with_shadow(run);
    run->judge.events++;
}

bool
props_run_event(struct props_run *run, const struct sim_event *event,
                const char **refused)
{
    run->shadow_runs = run->shadow_runs && shadow_may_go_on(run, event);
    *refused = "too many events";
    if (run->events_count == run->events_max)
        return false;
    if (event != &run->events[run->events_count])
        run->events[run->events_count] = *event;
    run->crash_log->attempting = 1;
    *refused = sim_world_apply(run->judge.world, event);
    if (*refused != NULL)
        return false;
    run->crash_log->count = ++run->events_count;
    run->crash_log->attempting = 0;
    if (run->crosses)
        cross_event(&run->cross, event);
    if (run->has_profiles)
        judge_profiles(run);
    if (run->has_subject)
        subject_judge_event(&run->subject);
    return run->judge.breach.property == PROPS_NONE;
}

/* X6: repeat the run without each instrument that is to be left out. */
static void
try_without(struct props_run *run)
{
    const struct sim_config *config = sim_world_config(run->judge.world);
    const uint32_t left_out = config->instruments & run->left_out;

    if (!run->crosses || (run->judge.requested & PROPS_BIT(PROPS_X6)) == 0)
        return;
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        if ((left_out >> i & 1) == 0)
            continue;
        if (!cross_without_try(&run->without, config, run->events,
                               run->events_count, (enum sim_instrument_id)i))
            judge_breach(&run->judge, PROPS_X6, "%s", run->without.difference);
        props_cover_hit(&run->cover, COVER_CROSS_WITHOUT);
        if (run->without.switches == 2)
            props_cover_hit(&run->cover, COVER_CROSS_STOPPED);
    }
}

static void
hash_run(struct props_run *run)
{
    if (run->has_profiles) {
        judge_hash(&run->judge, truth_hash(sim_world_truth(run->judge.world)));
        run->hash = sim_mix64(run->judge.hash);
    } else {
        run->hash = 0;
    }
    if (run->has_trace)
        run->hash = sim_hash_step(run->hash, run->trace.hash);
    if (run->has_subject)
        run->hash = sim_hash_step(truth_hash(sim_world_truth(run->judge.world)),
                                  run->subject.hash);
}

bool
props_run_end(struct props_run *run)
{
    struct props_breach *breach = &run->judge.breach;

    if (run->has_trace)
        trace_judge_quiet(run->judge.world, run->trace.pending,
                          sizeof run->trace.pending);
    if (run->has_profiles && breach->property == PROPS_NONE)
        props_judge_end(&run->judge);
    if (run->has_subject && breach->property == PROPS_NONE)
        subject_judge_end(&run->subject);
    if (sim_world_truth(run->judge.world)->lost > 0)
        judge_breach(&run->judge, PROPS_D1, "the truth log was too short");
    else if (run->has_trace && !trace_judge_run(&run->trace) &&
             breach->property == PROPS_NONE)
        *breach = run->trace.breach;
    if (breach->property == PROPS_NONE)
        try_without(run);
    hash_run(run);
    return breach->property == PROPS_NONE;
}

bool
props_run_choices(struct props_run *run, struct sim_choices *choices,
                  const struct prof_rules *rules, uint32_t worlds,
                  props_set requested)
{
    struct sim_event *event = run->events; /* generated in place */
    const char *refused;

    event->kind = SIM_EV_COUNT;

    sim_generator_begin(&run->generator, choices, rules, worlds);
    refused = props_run_begin(run, &run->generator.config, requested);
    run->left_out = run->generator.left_out;
    while (refused == NULL && run->events_count < run->events_max) {
        event = &run->events[run->events_count];
        if (!sim_generator_next(&run->generator, run->judge.world, event) ||
            !props_run_event(run, event, &refused))
            break;
    }
    if (refused != NULL) /* the generator chooses only possible events */
        judge_breach(&run->judge, PROPS_D1, "the world refused %s: %s",
                     event->kind == SIM_EV_COUNT ? "to begin"
                                                 : sim_event_word(event->kind),
                     refused);
    return props_run_end(run);
}
