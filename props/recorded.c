/*
 * recorded.c -- a recording, the collector, the library, and the judge.
 *
 * Sites are taken from the snapshot that shows most bytes in use: at its end a
 * program has often freed everything. Buckets that differ in size only are one
 * site.
 */
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "run.h"

struct show {
    struct sim_drive drive;
    struct props_run *run;
    struct props_site *by_stack; /* of the largest snapshot so far */
    struct props_recorded *result;
    struct prof_heap_record *peak; /* that snapshot; NULL: nobody wants it */
    size_t peak_count;
};

/* Which stack of the recording is this? The library keeps frames, not names. */
static uint32_t
find_stack(const struct show *show, const struct prof_heap_record *record)
{
    const struct sim_config *config = &show->drive.config;

    for (uint32_t i = 0; i < config->stacks_count; i++) {
        const struct truth_stack *stack = &config->stacks[i];

        if (stack->depth == record->depth &&
            (record->depth == 0 ||
             memcmp(stack->frames, record->stack,
                    record->depth * sizeof *record->stack) == 0))
            return i;
    }
    return config->stacks_count;
}

static void
add_to_site(struct show *show, const struct prof_heap_record *record)
{
    const uint32_t stack = find_stack(show, record);
    struct props_site *site = &show->by_stack[stack];

    site->stack = stack;
    site->inuse_bytes += (uint64_t)prof_heap_inuse_bytes(record);
    site->inuse_objects += (uint64_t)prof_heap_inuse_objects(record);
    site->alloc_bytes += prof_heap_alloc_bytes(record);
    site->alloc_objects += record->allocs;
}

/* Keep the largest snapshot: by its totals first, by its sites at the end. */
static void
note_snapshot(struct show *show)
{
    const struct sim_answer *answer = sim_world_answer(show->run->judge.world);
    const uint32_t stacks = show->drive.config.stacks_count;
    struct props_recorded *result = show->result;
    uint64_t bytes = 0;
    uint64_t objects = 0;

    if (answer->kind != SIM_EV_SNAPSHOT_ALL || answer->status != PROF_OK)
        return;
    result->snapshots++;
    for (size_t i = 0; i < answer->count; i++) {
        bytes += (uint64_t)prof_heap_inuse_bytes(&answer->heap[i]);
        objects += (uint64_t)prof_heap_inuse_objects(&answer->heap[i]);
    }
    if (bytes <= result->peak_inuse_bytes)
        return;
    result->peak_inuse_bytes = bytes;
    result->peak_inuse_objects = objects;
    memset(show->by_stack, 0, ((size_t)stacks + 1) * sizeof *show->by_stack);
    for (size_t i = 0; i < answer->count; i++)
        add_to_site(show, &answer->heap[i]);
    if (show->peak != NULL) {
        memcpy(show->peak, answer->heap, answer->count * sizeof *show->peak);
        show->peak_count = answer->count;
    }
}

/* More bytes first; ties by number, so that the order is total. */
static int
compare_sites(const void *a, const void *b)
{
    const struct props_site *x = a;
    const struct props_site *y = b;

    if (x->inuse_bytes != y->inuse_bytes)
        return x->inuse_bytes > y->inuse_bytes ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void
list_sites(struct show *show)
{
    const uint32_t stacks = show->drive.config.stacks_count;
    struct props_recorded *result = show->result;

    qsort(show->by_stack, stacks, sizeof *show->by_stack, compare_sites);
    while (result->sites_count < PROPS_SITES_MAX &&
           result->sites_count < stacks &&
           show->by_stack[result->sites_count].inuse_bytes > 0) {
        result->sites[result->sites_count] =
            show->by_stack[result->sites_count];
        result->sites_count++;
    }
}

static const char *
replay_all(struct show *show, void (*progress)(uint64_t, uint64_t))
{
    const struct sim_recording_totals *totals =
        sim_recording_totals(show->drive.recording);
    const uint64_t all =
        totals->allocs + totals->frees + totals->waits + totals->releases;
    struct props_run *run = show->run;
    const char *refused = NULL;
    struct sim_event event;

    while (sim_drive_next(&show->drive, run->judge.world, &event)) {
        if (!props_run_event(run, &event, &refused))
            break;
        note_snapshot(show);
        if (progress != NULL && show->drive.recorded % 4096 == 0)
            progress(show->drive.recorded, all);
    }
    if (refused == NULL)
        props_run_end(run);
    return refused;
}

const char *
props_recorded_run(struct props_recorded *result,
                   const struct sim_recording *recording,
                   const struct prof_rules *rules, props_set asked,
                   void (*progress)(uint64_t done, uint64_t total))
{
    return props_recorded_run_taking(result, recording, rules, asked, progress,
                                     NULL);
}

const char *
props_recorded_run_taking(struct props_recorded *result,
                          const struct sim_recording *recording,
                          const struct prof_rules *rules, props_set asked,
                          void (*progress)(uint64_t done, uint64_t total),
                          const struct props_recorded_taker *taker)
{
    struct show show = {.result = result};
    uint32_t buckets = 0;
    const char *why;

    memset(result, 0, sizeof *result);
    why = sim_drive_open(&show.drive, recording, rules);
    if (why != NULL)
        goto out;
    why = "not enough memory";
    show.run = props_run_new(&show.drive.limits);
    show.by_stack = calloc((size_t)show.drive.config.stacks_count + 1,
                           sizeof *show.by_stack);
    if (taker != NULL)
        show.peak = calloc((size_t)show.drive.limits.buckets_max + 1,
                           sizeof *show.peak);
    if (show.run == NULL || show.by_stack == NULL ||
        (taker != NULL && show.peak == NULL))
        goto out;
    why = props_run_begin(show.run, &show.drive.config, asked);
    if (why == NULL)
        why = replay_all(&show, progress);
    if (why != NULL)
        goto out;
    list_sites(&show);
    model_heap_buckets(show.run->judge.model, &buckets);
    result->breach = show.run->judge.breach;
    result->recorded_events = show.drive.recorded;
    result->unpaired_releases = show.drive.releases.unpaired;
    result->events = show.run->events_count;
    result->collections = show.drive.collections;
    result->buckets = buckets;
    result->hash = show.run->hash;
    result->marks = show.run->marks;
    if (taker != NULL) {
        const struct props_recorded_taken taken = {
            .prof = sim_world_prof(show.run->judge.world),
            .heap = show.peak,
            .heap_count = show.peak_count,
        };

        taker->take(taker->context, &taken);
    }
out:
    free(show.peak);
    free(show.by_stack);
    props_run_delete(show.run);
    sim_drive_close(&show.drive);
    return why;
}
