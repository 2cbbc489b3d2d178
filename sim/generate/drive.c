/*
 * drive.c -- the pace of the simulated collector under a real program.
 *
 *      IDLE --heap has doubled--> MARKING --objects/64 events--> TERMINATED
 *        ^                                                            |
 *        |                                                          flush
 *        +--(every 4th: post-sweep)-- SWEEPING <---------------------+
 *
 * A snapshot is taken in each phase, so that each row of the table "Which
 * events a snapshot shows" (docs/semantics.md) occurs once per collection. The
 * pace is counted in recorded events and leaves no choices, so a recording
 * determines the run.
 */
#include "sim/generate/drive.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum phase {
    IDLE,
    MARKING,
    MARKED, /* a snapshot while marking was taken */
    TERMINATED,
    UNFLUSHED, /* a snapshot before the flush was taken */
    SWEEPING,
    SWEPT,
    POST_SWEPT,
    SIZED, /* the last snapshot but one had room for one record */
    OVER
};

enum {
    HEAP_MIN_BYTES = 64 << 10, /* no collection below that */
    MARKING_MIN_EVENTS = 16,
    EVENTS_TO_FLUSH = 2, /* between the restart and the flush */
    POST_SWEEP_EVERY = 4,
    CYCLES_TO_WRAP = 3 /* so that every recording crosses it (H6) */
};

#define EVENTS_LIMIT (UINT64_C(1) << 24)

/* ---- opening ---- */

static int
compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

/* Count the buckets of the allocations: distinct (stack, size). */
static bool
count_buckets(const struct sim_recording *recording, uint64_t allocs,
              uint64_t *count, uint64_t *frames_count)
{
    uint64_t(*keys)[2] = calloc(allocs + 1, sizeof *keys);
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint64_t n = 0;

    if (keys == NULL)
        return false;
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind != SIM_RECORDED_ALLOC &&
            event.kind != SIM_RECORDED_RESIZE)
            continue;
        keys[n][0] = event.stack;
        keys[n][1] = event.size_bytes;
        n++;
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    *count = 0;
    *frames_count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i > 0 && compare_keys(keys[i - 1], keys[i]) == 0)
            continue;
        *frames_count +=
            sim_recording_stack(recording, (uint32_t)keys[i][0], NULL, 0);
        ++*count;
    }
    free(keys);
    return true;
}

static bool
load_stacks(struct sim_drive *drive, uint32_t stacks_count,
            uint64_t frames_count)
{
    uintptr_t *frames;

    drive->stacks = calloc((size_t)stacks_count + 1, sizeof *drive->stacks);
    drive->frames = calloc(frames_count + 1, sizeof *drive->frames);
    if (drive->stacks == NULL || drive->frames == NULL)
        return false;
    frames = drive->frames;
    for (uint32_t i = 0; i < stacks_count; i++) {
        drive->stacks[i].frames = frames;
        drive->stacks[i].depth = sim_recording_stack_pcs(
            drive->recording, i, frames, SIM_RECORDED_DEPTH_MAX);
        frames += drive->stacks[i].depth;
    }
    return true;
}

const char *
sim_drive_open(struct sim_drive *drive, const struct sim_recording *recording,
               const struct prof_rules *rules)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    const uint64_t events = sim_recording_events(recording) + totals->resizes;
    uint64_t buckets;
    uint64_t frames;
    uint64_t all_frames = 0; /* of all stacks */

    memset(drive, 0, sizeof *drive);
    drive->recording = recording;
    if (events > EVENTS_LIMIT)
        return "the recording has more than 16 million events";
    for (uint32_t i = 0; i < totals->stacks; i++)
        all_frames += sim_recording_stack(recording, i, NULL, 0);
    if (!count_buckets(recording, totals->allocs + totals->resizes, &buckets,
                       &frames))
        return "not enough memory";
    buckets += totals->waits < totals->stacks ? totals->waits : totals->stacks;
    buckets +=
        totals->releases < totals->stacks ? totals->releases : totals->stacks;
    frames += 2 * all_frames; /* of waits, and of releases */
    if (buckets > PROF_BUCKETS_LIMIT - 1 ||
        sim_memory_of_run((uint32_t)buckets, frames, SIM_PROCS_MAX) +
                all_frames * sizeof *drive->frames >
            sim_memory_ceiling(sim_recording_bytes(recording)))
        return "its stacks and sizes make more buckets than may be checked: "
               "64 MiB and 64 times the file of memory";
    if (!load_stacks(drive, totals->stacks, all_frames) ||
        !sim_releases_open(&drive->releases, recording))
        return "not enough memory";
    drive->sizes_bytes = calloc(totals->allocs + 1, sizeof *drive->sizes_bytes);
    drive->numbers = calloc(totals->allocs + 1, sizeof *drive->numbers);
    if (drive->sizes_bytes == NULL || drive->numbers == NULL)
        return "not enough memory";

    drive->config.rules = rules;
    drive->config.instruments = SIM_PROFILES;
    drive->config.buckets_max = (uint32_t)buckets + 1;
    drive->config.depth_max = SIM_RECORDED_DEPTH_MAX;
    drive->config.frames_max = frames + 1;
    drive->config.cycle_first = PROF_CYCLE_WRAP - CYCLES_TO_WRAP;
    drive->config.procs = SIM_PROCS_MAX;
    drive->config.stacks = drive->stacks;
    drive->config.stacks_count = totals->stacks;
    /* An object is allocated, dropped and swept; the rest is for
     * collections. */
    drive->limits.events_max = (uint32_t)(4 * events + 65536);
    drive->limits.objects_max =
        (uint32_t)(totals->allocs + totals->resizes) + 1;
    drive->limits.buckets_max = drive->config.buckets_max;
    drive->limits.frames_max = drive->config.frames_max;
    sim_recording_begin(recording, &drive->cursor);
    drive->has_ahead = sim_recording_next(&drive->cursor, &drive->ahead);
    return NULL;
}

void
sim_drive_close(struct sim_drive *drive)
{
    free(drive->stacks);
    free(drive->frames);
    free(drive->sizes_bytes);
    free(drive->numbers);
    sim_releases_close(&drive->releases);
    memset(drive, 0, sizeof *drive);
}

/* ---- driving ---- */

static void
enter(struct sim_drive *drive, enum phase phase)
{
    drive->phase = phase;
    drive->phase_events = 0;
}

static void
take_object(struct sim_drive *drive, struct sim_event *event)
{
    const struct sim_recorded *r = &drive->ahead;

    event->kind = SIM_EV_ALLOC;
    event->object = drive->objects;
    event->stack = r->stack;
    event->size_bytes = r->size_bytes;
    drive->numbers[r->object] = drive->objects++;
    drive->sizes_bytes[r->object] = r->size_bytes;
    drive->live_bytes += r->size_bytes;
    drive->since_bytes += r->size_bytes;
}

static void
drop_object(struct sim_drive *drive, struct sim_event *event)
{
    event->kind = SIM_EV_DROP;
    event->object = drive->numbers[drive->ahead.object];
    drive->live_bytes -= drive->sizes_bytes[drive->ahead.object];
}

/*
 * Translate the next recorded event into one of the world. A collected heap
 * cannot resize an object, so a resize drops the old object and allocates a new
 * one.
 */
static bool
take_recorded(struct sim_drive *drive, struct sim_event *event)
{
    const struct sim_recorded *r = &drive->ahead;

    event->task = r->thread;
    event->delay_ticks = r->ticks - drive->last_ticks;
    switch (r->kind) {
    case SIM_RECORDED_ALLOC:
        take_object(drive, event);
        break;
    case SIM_RECORDED_FREE:
        drop_object(drive, event);
        break;
    case SIM_RECORDED_RESIZE:
        if (drive->is_dropped)
            take_object(drive, event);
        else
            drop_object(drive, event);
        drive->is_dropped = !drive->is_dropped;
        break;
    case SIM_RECORDED_WAIT:
        event->kind = SIM_EV_BLOCK;
        event->stack = r->stack;
        event->cycles = (int64_t)r->wait_ticks;
        break;
    case SIM_RECORDED_RELEASE:
        if (!sim_releases_find(&drive->releases, drive->released++,
                               &event->cycles))
            return false; /* it ended no recorded wait */
        event->kind = SIM_EV_MUTEX;
        event->stack = r->stack;
        break;
    }
    drive->last_ticks = r->ticks;
    return true;
}

static bool
program_step(struct sim_drive *drive, struct sim_event *event)
{
    while (drive->has_ahead) {
        const bool taken = take_recorded(drive, event);

        if (!drive->is_dropped)
            drive->has_ahead =
                sim_recording_next(&drive->cursor, &drive->ahead);
        if (taken) {
            drive->phase_events++;
            drive->recorded += !drive->is_dropped;
            return true;
        }
    }
    return false;
}

static bool
snapshot_step(struct sim_event *event)
{
    event->kind = SIM_EV_SNAPSHOT_ALL;
    event->room = SIM_ROOM_ENOUGH;
    return true;
}

static bool
collector_step(struct sim_event *event, enum sim_event_kind kind)
{
    event->kind = kind;
    return true;
}

/* Sweep one dead object, if any is left. */
static bool
sweep_step(struct sim_drive *drive, const struct sim_world *world,
           struct sim_event *event)
{
    if (sim_world_gc(world)->dead == 0)
        return false;
    drive->sweep_from = sim_world_find(world, SIM_DEAD, drive->sweep_from);
    event->object = drive->sweep_from;
    return collector_step(event, SIM_EV_GC_SWEEP);
}

static uint64_t
heap_goal_bytes(const struct sim_drive *drive)
{
    return drive->marked_bytes > HEAP_MIN_BYTES ? drive->marked_bytes
                                                : HEAP_MIN_BYTES;
}

/* What the collector or the observer does before the next event of the
 * program. */
static bool
phase_step(struct sim_drive *drive, const struct sim_world *world,
           struct sim_event *event)
{
    switch ((enum phase)drive->phase) {
    case IDLE:
        if (drive->since_bytes < heap_goal_bytes(drive) && drive->has_ahead)
            return false;
        drive->since_bytes = 0;
        drive->marking_lasts =
            MARKING_MIN_EVENTS + sim_world_objects_count(world) / 64;
        enter(drive, MARKING);
        return collector_step(event, SIM_EV_GC_MARK);
    case MARKING:
        enter(drive, MARKED);
        return snapshot_step(event);
    case MARKED:
        if (drive->phase_events < drive->marking_lasts && drive->has_ahead)
            return false;
        drive->marked_bytes = drive->live_bytes;
        drive->collections++;
        drive->sweep_from = 0;
        enter(drive, TERMINATED);
        return collector_step(event, SIM_EV_GC_TERMINATE);
    case TERMINATED:
        if (drive->phase_events < EVENTS_TO_FLUSH && drive->has_ahead)
            return false;
        enter(drive, UNFLUSHED);
        return snapshot_step(event);
    case UNFLUSHED:
        enter(drive, SWEEPING);
        return collector_step(event, SIM_EV_GC_FLUSH);
    case SWEEPING:
        if (drive->phase_events % 2 == 1 && drive->has_ahead)
            return false; /* one object swept, one event of the program */
        drive->phase_events++;
        if (sweep_step(drive, world, event))
            return true;
        enter(drive, SWEPT);
        return snapshot_step(event);
    case SWEPT:
        if (drive->collections % POST_SWEEP_EVERY != 0 && drive->has_ahead) {
            enter(drive, IDLE);
            return false;
        }
        enter(drive, POST_SWEPT);
        return collector_step(event, SIM_EV_GC_POST_SWEEP);
    case POST_SWEPT:
        enter(drive, drive->has_ahead ? IDLE : SIZED);
        return snapshot_step(event);
    case SIZED:
        enter(drive, OVER);
        snapshot_step(event);
        event->room = 1;
        return true;
    case OVER:
        break;
    }
    return false;
}

bool
sim_drive_next(struct sim_drive *drive, const struct sim_world *world,
               struct sim_event *event)
{
    memset(event, 0, sizeof *event);
    if (phase_step(drive, world, event))
        return true;
    return drive->phase != OVER && program_step(drive, event);
}
