/*
 * go_schedules.c -- schedules for the Go runtime, with our results.
 *
 * usage: go_schedules KIND FIRST COUNT SCHEDULES ANSWERS
 *
 *   world  the schedules of the campaign, by its seeds, under go1.17: what a
 *          program and a collector with its faults do. Buckets have room, since
 *          Go's table has no limit; explicit frees are dropped, since Go's
 *          profile has no such call.
 *   wild   the calls that a world makes, in any order at all.
 *   gaps   no calls, but gaps of the heap sampler (go_gaps.c).
 *
 * A schedule ends with a reading of each profile. The program prints one line
 * of counts, as NAME=NUMBER.
 *
 * build: ldflags='$$(cat props/peers/go_tape.wrap)'
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/generate/generate.h"
#include "props/peers/go_gaps.h"
#include "props/peers/go_tape.h"
#include "sim/instruments/guard.h"
#include "sim/world/world.h"

enum {
    BUCKETS_MAX = 512, /* far more than there are stacks, kinds and sizes */
    FRAMES_MAX = BUCKETS_MAX * SIM_FRAMES_MAX,
    CHOICES_MAX = 1 << 16,
    GO_DEPTH_MAX = 32,
};

/* When in the collector's cycle a profile was read. */
enum phase {
    PHASE_BEFORE_FIRST, /* no collection has ended */
    PHASE_UNFLUSHED,    /* restarted, but not flushed */
    PHASE_SWEEPING,
    PHASE_SWEPT,
    PHASE_POST_SWEPT,
    PHASES
};

static const char *const phase_names[PHASES] = {
    "before-first", "unflushed", "sweeping", "swept", "post-swept"};

/* What the schedules met, besides what the tape counts. */
struct met {
    uint64_t schedules;
    uint64_t reads[PHASES];
    uint64_t marking; /* readings while the collector marked */
    uint64_t near_wrap;
    uint64_t stw_sweeps;
    uint64_t missing_flushes;
    uint64_t late_frees;
    uint64_t gaps; /* gaps of the heap sampler that were compared */
};

static struct sim_choice choice_list[CHOICES_MAX];

static void
fail(const char *what, uint64_t seed, const char *why)
{
    fprintf(stderr, "go_schedules: %s, seed %" PRIu64 ": %s\n", what, seed,
            why);
    exit(1);
}

/* Make the tape record an instance and its stacks. */
static void
load_tape(struct prof *prof, const struct sim_config *config,
          const struct truth_log *truth, uint64_t seed)
{
    go_tape.prof = prof;
    go_tape.stacks = config->stacks;
    go_tape.stacks_count = config->stacks_count;
    go_tape.depth_max = config->depth_max;
    go_tape.truth = truth;
    go_tape.rng.state = sim_mix64(seed);
    if (config->depth_max > GO_DEPTH_MAX)
        fail("stacks", seed, "deeper than Go's");
    go_tape_begin(seed, config->cycle_first);
}

static void
check_drops(const struct prof *prof, uint64_t seed)
{
    const struct prof_drops drops = prof_drops(prof);

    if (drops.no_bucket + drops.no_frames + drops.no_mutex != 0)
        fail("library", seed, "dropped what Go does not drop");
}

static void
draw_world(struct sim_generator *generator, struct sim_choices *choices,
           uint64_t seed)
{
    sim_choices_random(choices, seed);
    sim_generator_begin(generator, choices, &prof_rules_go1_17,
                        SIM_WORLDS_HEAPS);
    generator->config.buckets_max = BUCKETS_MAX;
    generator->config.frames_max = FRAMES_MAX;
}

/* ---- world ---- */

static enum phase
phase_of(const struct sim_gc *gc)
{
    if (gc->cycles == 0)
        return PHASE_BEFORE_FIRST;
    if (gc->unflushed)
        return PHASE_UNFLUSHED;
    if (gc->post_swept)
        return PHASE_POST_SWEPT;
    return gc->dead > 0 ? PHASE_SWEEPING : PHASE_SWEPT;
}

/* Count the situations that an event, just before it happens, is in. */
static void
note(struct met *met, const struct sim_gc *gc, const struct sim_event *event)
{
    if (event->kind == SIM_EV_SNAPSHOT || event->kind == SIM_EV_SNAPSHOT_ALL) {
        met->reads[phase_of(gc)]++;
        met->marking += gc->marking;
    }
    met->stw_sweeps += event->kind == SIM_EV_GC_TERMINATE_STW;
    met->missing_flushes += event->kind == SIM_EV_GC_MARK && gc->unflushed;
    met->late_frees += event->kind == SIM_EV_GC_SWEEP && gc->post_swept;
}

static void
apply(struct sim_world *world, const struct sim_event *event, uint64_t seed)
{
    const char *why = sim_world_apply(world, event);
    const struct sim_answer *answer = sim_world_answer(world);

    if (why != NULL)
        fail("world", seed, why);
    if (answer->kind != SIM_EV_COUNT && sim_touched_beyond(answer))
        fail("library", seed, "wrote past what it says it wrote");
}

static void
world_schedule(struct sim_world *world, struct sim_choices *choices,
               uint64_t seed, struct met *met)
{
    static const enum sim_event_kind last[] = {
        SIM_EV_SNAPSHOT, SIM_EV_SNAPSHOT_ALL, SIM_EV_ITERATE,
        SIM_EV_BLOCK_SNAPSHOT, SIM_EV_MUTEX_SNAPSHOT};
    struct sim_event event = {.room = SIM_ROOM_ENOUGH};
    struct sim_generator generator;
    const char *why;

    draw_world(&generator, choices, seed);
    why = sim_world_reset(world, &generator.config);
    if (why != NULL)
        fail("world", seed, why);
    load_tape(sim_world_prof(world), &generator.config, sim_world_truth(world),
              seed);
    while (sim_generator_next(&generator, world, &event)) {
        note(met, sim_world_gc(world), &event);
        apply(world, &event, seed);
    }
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        event = (struct sim_event){.kind = last[i],
                                   .delay_ticks = sim_world_stall_ticks(world),
                                   .room = SIM_ROOM_ENOUGH};
        note(met, sim_world_gc(world), &event);
        apply(world, &event, seed);
    }
    met->near_wrap += generator.config.cycle_first >= PROF_CYCLE_WRAP - 8;
    check_drops(sim_world_prof(world), seed);
}

/* ---- wild ---- */

struct wild {
    struct sim_rng rng;
    const struct sim_config *config;
    struct prof *prof;
    uint32_t objects_count;
    prof_bucket buckets[SIM_EVENTS_MAX]; /* PROF_BUCKET_NONE: freed */
    struct prof_heap_record heap[BUCKETS_MAX];
    struct prof_contention_record waits[BUCKETS_MAX];
};

static uint32_t
below(struct wild *wild, uint32_t limit)
{
    return sim_rng_below(&wild->rng, limit);
}

/* Choose small numbers, powers of two and their neighbours, positive or
 * negative. */
static int64_t
odd_number(struct wild *wild)
{
    const uint64_t power = UINT64_C(1) << below(wild, 64);

    return (int64_t)(power - 1 + below(wild, 3));
}

static const struct truth_stack *
some_stack(struct wild *wild)
{
    return &wild->config->stacks[below(wild, wild->config->stacks_count)];
}

static void
wild_alloc(struct wild *wild, struct prof_proc *proc)
{
    static const uint64_t sizes[] = {16, 32, 0, 1, 4096, UINT64_C(1) << 63};
    const struct truth_stack *stack = some_stack(wild);

    if (wild->objects_count == SIM_EVENTS_MAX)
        return;
    go_tape.object = wild->objects_count;
    wild->buckets[wild->objects_count++] =
        prof_heap_alloc(proc, stack->frames, stack->depth,
                        sizes[below(wild, sizeof sizes / sizeof *sizes)]);
}

static void
wild_free(struct wild *wild, struct prof_proc *proc)
{
    if (wild->objects_count == 0)
        return;
    go_tape.object = below(wild, wild->objects_count);
    if (wild->buckets[go_tape.object] == PROF_BUCKET_NONE)
        return;
    prof_heap_free(proc, wild->buckets[go_tape.object]);
    wild->buckets[go_tape.object] = PROF_BUCKET_NONE;
}

static void
wild_wait(struct wild *wild, struct prof_proc *proc, enum prof_contention kind)
{
    const struct truth_stack *stack = some_stack(wild);

    prof_contention_event(proc, kind, stack->frames, stack->depth,
                          odd_number(wild));
}

static size_t
some_room(struct wild *wild)
{
    return below(wild, 2) == 0 ? BUCKETS_MAX : below(wild, 6);
}

/* The cycle advances rarely enough for events to happen in between. */
static enum prof_status
wild_control(struct wild *wild)
{
    switch (below(wild, 3)) {
    case 0:
        return prof_heap_next_cycle(wild->prof);
    case 1:
        return prof_heap_flush(wild->prof);
    default:
        return prof_heap_post_sweep(wild->prof);
    }
}

static void
ignore_record(void *context, const struct prof_heap_record *record)
{
    (void)context;
    (void)record;
}

static enum prof_status
wild_reading(struct wild *wild, uint32_t which, size_t room)
{
    size_t count;

    switch (which) {
    case 0:
        return prof_heap_snapshot(wild->prof, PROF_SELECT_INUSE, wild->heap,
                                  room, &count);
    case 1:
        return prof_heap_snapshot(wild->prof, PROF_SELECT_ALL, wild->heap, room,
                                  &count);
    case 2:
        prof_heap_iterate(wild->prof, ignore_record, NULL);
        return PROF_OK;
    case 3:
        return prof_contention_snapshot(wild->prof, PROF_BLOCK, wild->waits,
                                        room, &count);
    default:
        return prof_contention_snapshot(wild->prof, PROF_MUTEX, wild->waits,
                                        room, &count);
    }
}

static enum prof_status
wild_call(struct wild *wild)
{
    struct prof_proc *proc = prof_proc_at(wild->prof, 0);
    const uint32_t what = below(wild, 20);
    uint32_t which;

    if (what < 6)
        wild_alloc(wild, proc);
    else if (what < 10)
        wild_free(wild, proc);
    else if (what < 13)
        return wild_control(wild);
    else if (what < 15) {
        which = below(wild, 5);
        return wild_reading(wild, which, some_room(wild));
    } else if (what < 17)
        wild_wait(wild, proc, PROF_BLOCK);
    else if (what < 19)
        wild_wait(wild, proc, PROF_MUTEX);
    else if (below(wild, 2) == 0)
        prof_block_rate_set(wild->prof, odd_number(wild));
    else
        (void)prof_mutex_fraction_set(wild->prof, odd_number(wild));
    return PROF_OK;
}

static void
wild_schedule(struct wild *wild, const struct sim_config *config, void *block,
              size_t block_bytes, uint64_t seed)
{
    const struct prof_config library = {
        .rules = &prof_rules_go1_17,
        .hash = config->hash,
        .buckets_max = config->buckets_max,
        .depth_max = config->depth_max,
        .frames_max = config->frames_max,
        .cycle_first = config->cycle_first,
    };
    enum prof_status status;
    uint32_t calls;

    memset(block, 0, block_bytes);
    wild->rng.state = ~sim_mix64(seed);
    wild->config = config;
    wild->objects_count = 0;
    if (prof_init(&wild->prof, &library, block, block_bytes) != PROF_OK)
        fail("library", seed, "refuses the configuration");
    load_tape(wild->prof, config, NULL, seed);
    calls = 10 + below(wild, 150);
    for (uint32_t i = 0; i < calls + 5; i++) {
        status = i < calls ? wild_call(wild)
                           : wild_reading(wild, i - calls, BUCKETS_MAX);
        if (status != PROF_OK && status != PROF_ERR_SHORT)
            fail("library", seed, prof_status_text(status));
    }
    check_drops(wild->prof, seed);
}

/* ---- the run ---- */

static void
run_world(uint64_t first, uint64_t count, struct met *met)
{
    const struct sim_limits limits = {
        .events_max = SIM_EVENTS_MAX + 8,
        .objects_max = SIM_EVENTS_MAX,
        .buckets_max = BUCKETS_MAX,
        .frames_max = FRAMES_MAX,
    };
    struct sim_world *world = sim_world_new(&limits);
    struct sim_choices choices;

    if (world == NULL)
        fail("world", first, "not enough memory");
    sim_choices_init(&choices, choice_list, CHOICES_MAX);
    for (uint64_t seed = first; seed - first < count; seed++)
        world_schedule(world, &choices, seed, met);
    sim_world_delete(world);
}

static void
run_wild(uint64_t first, uint64_t count, struct met *met)
{
    const struct prof_config largest = {.buckets_max = BUCKETS_MAX,
                                        .frames_max = FRAMES_MAX};
    const size_t bytes = prof_bytes_needed(&largest);
    void *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    struct wild *wild = calloc(1, sizeof *wild);
    struct sim_generator generator;
    struct sim_choices choices;

    if (block == NULL || wild == NULL)
        fail("wild", first, "not enough memory");
    sim_choices_init(&choices, choice_list, CHOICES_MAX);
    for (uint64_t seed = first; seed - first < count; seed++) {
        draw_world(&generator, &choices, seed);
        wild_schedule(wild, &generator.config, block, bytes, seed);
        met->near_wrap += generator.config.cycle_first >= PROF_CYCLE_WRAP - 8;
    }
    free(wild);
    free(block);
}

static void
print_met(const struct met *met, const char *kind)
{
    const struct go_tape_counts *counts = &go_tape.counts;

    printf("schedules=%" PRIu64, met->schedules);
    if (strcmp(kind, "gaps") == 0) {
        printf(" gaps=%" PRIu64 "\n", met->gaps);
        return;
    }
    printf(" calls=%" PRIu64 " near-wrap=%" PRIu64 " wraps=%" PRIu64
           " shorts=%" PRIu64 " firsts=%" PRIu64 " draws=%" PRIu64
           " undrawn=%" PRIu64 " edges=%" PRIu64 " heap-records=%" PRIu64
           " wait-records=%" PRIu64,
           counts->calls, met->near_wrap, counts->wraps, counts->shorts,
           counts->firsts, counts->draws, counts->undrawn, counts->edges,
           counts->heap_read, counts->waits_read);
    if (strcmp(kind, "world") == 0) {
        printf(" stw-sweeps=%" PRIu64 " missing-flushes=%" PRIu64
               " late-frees=%" PRIu64 " marking=%" PRIu64,
               met->stw_sweeps, met->missing_flushes, met->late_frees,
               met->marking);
        for (int i = 0; i < PHASES; i++)
            printf(" %s=%" PRIu64, phase_names[i], met->reads[i]);
    }
    printf("\n");
}

static bool
run_kind(const char *kind, uint64_t first, struct met *met)
{
    if (strcmp(kind, "world") == 0)
        run_world(first, met->schedules, met);
    else if (strcmp(kind, "wild") == 0)
        run_wild(first, met->schedules, met);
    else if (strcmp(kind, "gaps") == 0)
        met->gaps = go_gaps_run(first, met->schedules);
    else
        return false;
    return true;
}

int
main(int argc, char **argv)
{
    struct met met = {0};
    uint64_t first;

    if (argc != 6) {
        fprintf(stderr, "usage: go_schedules world|wild|gaps FIRST COUNT "
                        "SCHEDULES ANSWERS\n");
        return 1;
    }
    first = strtoull(argv[2], NULL, 10);
    met.schedules = strtoull(argv[3], NULL, 10);
    go_tape.schedule = fopen(argv[4], "w");
    go_tape.answers = fopen(argv[5], "w");
    if (go_tape.schedule == NULL || go_tape.answers == NULL)
        fail("files", first, "cannot be written");
    if (!run_kind(argv[1], first, &met))
        fail(argv[1], first, "there is no such kind");
    if ((ferror(go_tape.schedule) | ferror(go_tape.answers)) != 0 ||
        (fclose(go_tape.schedule) | fclose(go_tape.answers)) != 0)
        fail("files", first, "were not written whole");
    print_met(&met, argv[1]);
    return 0;
}
