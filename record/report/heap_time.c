/*
 * heap_time.c -- see heap_time.h.
 *
 * An object of S bytes is sampled with probability p = 1 - exp(-S / R) and then
 * counts S / p, so its part in the variance of the sum is S^2 (1 - p) / p.
 */
#include "record/report/heap_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"

struct object {
    uint64_t size_bytes;
    uint32_t site;
};

struct walk {
    struct cli_heap_time *time;
    const struct sim_recording_totals *totals;
    struct object *objects;
    const uint32_t *site_of; /* by stack */
    uint32_t sites_count;
    uint64_t *in_use; /* by site: now */
    uint64_t *most;   /* by site: at its own worst moment */
    uint8_t *place;   /* by site: its place in bins; CLI_TIME_SITES: other */
    struct cli_time_bin now;
    long double variance;
    uint64_t total_bytes;
    uint64_t bin_bytes; /* of the moment that the bin shows */
    uint32_t bin;
};

/* ---- First: which sites ---- */

static void
put(struct walk *walk, const struct sim_recorded *event)
{
    const uint32_t site = walk->site_of[event->stack];

    walk->objects[event->object] =
        (struct object){.size_bytes = event->size_bytes, .site = site};
    walk->in_use[site] += event->size_bytes;
    if (walk->in_use[site] > walk->most[site])
        walk->most[site] = walk->in_use[site];
}

static void
find_most(struct walk *walk, const struct sim_recording *recording)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE) {
            const struct object *object = &walk->objects[event.object];

            walk->in_use[object->site] -= object->size_bytes;
        }
        if (event.kind == SIM_RECORDED_ALLOC ||
            event.kind == SIM_RECORDED_RESIZE)
            put(walk, &event);
    }
}

static void
choose_sites(struct walk *walk)
{
    struct cli_heap_time *time = walk->time;

    memset(walk->place, CLI_TIME_SITES, walk->sites_count);
    while (time->sites_count < CLI_TIME_SITES) {
        uint32_t best = UINT32_MAX;

        for (uint32_t s = 0; s < walk->sites_count; s++) {
            if (walk->place[s] == CLI_TIME_SITES && walk->most[s] > 0 &&
                (best == UINT32_MAX || walk->most[s] > walk->most[best]))
                best = s;
        }
        if (best == UINT32_MAX)
            break;
        walk->place[best] = (uint8_t)time->sites_count;
        time->sites[time->sites_count++] = best;
    }
}

/* ---- Then: over time ---- */

static long double
variance_of(uint64_t size_bytes)
{
    const double size = (double)size_bytes;
    const double p = -expm1(-size / CLI_TIME_RATE_BYTES);

    return size_bytes == 0 ? 0 : (long double)(size * size * (1 - p) / p);
}

/* The bin shows what is in use now. */
static void
show(struct walk *walk)
{
    struct cli_time_bin *bin = &walk->time->bins[walk->bin];
    const uint64_t allocs = bin->allocs;

    *bin = walk->now;
    bin->allocs = allocs;
    bin->sigma_bytes = walk->variance > 0 ? sqrt((double)walk->variance) : 0;
    walk->bin_bytes = walk->total_bytes;
}

static void
advance(struct walk *walk, uint64_t ticks)
{
    const double part =
        (double)ticks / ((double)walk->totals->duration_ticks + 1);
    const uint32_t bin = (uint32_t)(part * CLI_TIME_BINS);

    while (walk->bin < bin && walk->bin + 1 < CLI_TIME_BINS) {
        walk->bin++;
        show(walk);
    }
}

static void
gain(struct walk *walk, const struct sim_recorded *event)
{
    const uint32_t site = walk->site_of[event->stack];

    walk->objects[event->object] =
        (struct object){.size_bytes = event->size_bytes, .site = site};
    walk->now.bytes[walk->place[site]] += event->size_bytes;
    walk->total_bytes += event->size_bytes;
    walk->variance += variance_of(event->size_bytes);
    walk->time->bins[walk->bin].allocs++;
    if (walk->total_bytes > walk->bin_bytes)
        show(walk);
}

static void
lose(struct walk *walk, const struct object *object)
{
    walk->now.bytes[walk->place[object->site]] -= object->size_bytes;
    walk->total_bytes -= object->size_bytes;
    walk->variance -= variance_of(object->size_bytes);
}

static void
wait(struct walk *walk, const struct sim_recorded *event)
{
    struct cli_time_lock *lock = &walk->time->locks[event->lock];

    lock->lock = event->lock;
    lock->waits++;
    lock->ticks += event->wait_ticks;
    if (event->wait_ticks < lock->longest_ticks)
        return;
    lock->longest_ticks = event->wait_ticks;
    lock->longest_stack = event->stack;
}

static void
fill_bins(struct walk *walk, const struct sim_recording *recording)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        advance(walk, event.ticks);
        if (event.kind == SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE)
            lose(walk, &walk->objects[event.object]);
        if (event.kind == SIM_RECORDED_ALLOC ||
            event.kind == SIM_RECORDED_RESIZE)
            gain(walk, &event);
        if (event.kind == SIM_RECORDED_WAIT)
            wait(walk, &event);
    }
}

/* ---- All of it ---- */

static int
compare_locks(const void *a, const void *b)
{
    const struct cli_time_lock *left = a;
    const struct cli_time_lock *right = b;

    if (left->ticks != right->ticks)
        return left->ticks > right->ticks ? -1 : 1;
    if (left->waits != right->waits)
        return left->waits > right->waits ? -1 : 1;
    return left->lock < right->lock ? -1 : 1;
}

void
cli_heap_time_open(struct cli_heap_time *time,
                   const struct sim_recording *recording,
                   const uint32_t *site_of, uint32_t sites_count)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct walk walk = {.time = time,
                        .totals = totals,
                        .site_of = site_of,
                        .sites_count = sites_count};

    memset(time, 0, sizeof *time);
    time->locks = cli_need(calloc(totals->locks, sizeof *time->locks));
    walk.objects = cli_need(calloc(totals->allocs, sizeof *walk.objects));
    walk.in_use = cli_need(calloc(sites_count, sizeof *walk.in_use));
    walk.most = cli_need(calloc(sites_count, sizeof *walk.most));
    walk.place = cli_need(calloc(sites_count, 1));
    find_most(&walk, recording);
    choose_sites(&walk);
    fill_bins(&walk, recording);
    qsort(time->locks, totals->locks, sizeof *time->locks, compare_locks);
    while (time->locks_count < totals->locks &&
           time->locks[time->locks_count].waits > 0)
        time->locks_count++;
    free(walk.objects);
    free(walk.in_use);
    free(walk.most);
    free(walk.place);
}

void
cli_heap_time_close(struct cli_heap_time *time)
{
    free(time->locks);
}
