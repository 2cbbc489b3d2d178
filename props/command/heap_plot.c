/* heap_plot.c -- see heap_plot.h. */
#include "props/command/heap_plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES_MAX = 20, BAR_CHARS = 30 };

struct moment {
    uint64_t in_use_bytes;
    int64_t published_bytes; /* below 0 where a profile is wrong */
};

struct cli_heap_plot {
    struct moment *moments; /* one per event */
    uint32_t count;
    uint64_t *sizes_bytes; /* of objects, by number */
    uint32_t objects_max;
    uint64_t in_use_bytes;
    uint32_t facts; /* of the truth log, counted so far */
};

struct cli_heap_plot *
cli_heap_plot_new(const struct sim_scenario *scenario)
{
    struct cli_heap_plot *plot = calloc(1, sizeof *plot);
    const uint32_t count = scenario->events_count + 1;

    if (plot == NULL)
        return NULL;
    plot->objects_max = count; /* an event makes at most one object */
    plot->moments = calloc(count, sizeof *plot->moments);
    plot->sizes_bytes = calloc(count, sizeof *plot->sizes_bytes);
    if (plot->moments != NULL && plot->sizes_bytes != NULL)
        return plot;
    cli_heap_plot_delete(plot);
    return NULL;
}

void
cli_heap_plot_delete(struct cli_heap_plot *plot)
{
    if (plot == NULL)
        return;
    free(plot->moments);
    free(plot->sizes_bytes);
    free(plot);
}

static void
count_fact(struct cli_heap_plot *plot, const struct truth_entry *entry)
{
    if (entry->object >= plot->objects_max)
        return;
    if (entry->kind == TRUTH_ALLOC) {
        plot->sizes_bytes[entry->object] = entry->size_bytes;
        plot->in_use_bytes += entry->size_bytes;
    } else if (entry->kind == TRUTH_FREE_EXPLICIT ||
               entry->kind == TRUTH_SWEEP) {
        plot->in_use_bytes -= plot->sizes_bytes[entry->object];
        plot->sizes_bytes[entry->object] = 0;
    }
}

static void
add_published(void *context, const struct prof_heap_record *record)
{
    int64_t *bytes = context;

    *bytes += prof_heap_inuse_bytes(record);
}

void
cli_heap_plot_note(struct cli_heap_plot *plot, const struct props_run *run)
{
    const struct sim_world *world = run->judge.world;
    const struct truth_log *log = sim_world_truth(world);
    struct moment *moment = &plot->moments[plot->count++];

    for (; plot->facts < log->entries_count; plot->facts++)
        count_fact(plot, &log->entries[plot->facts]);
    moment->in_use_bytes = plot->in_use_bytes;
    if (run->has_profiles)
        prof_heap_iterate(sim_world_prof(world), add_published,
                          &moment->published_bytes);
}

static void
print_bar(uint64_t bytes, uint64_t most, char mark)
{
    const int chars =
        most == 0 ? 0 : (int)((double)bytes / (double)most * BAR_CHARS + 0.5);

    for (int i = 0; i < chars; i++)
        printf("%s%c", i == 0 ? "  " : "", mark);
}

void
cli_heap_plot_print(const struct cli_heap_plot *plot)
{
    const uint32_t step = (plot->count + LINES_MAX - 1) / LINES_MAX;
    uint64_t most = 0;

    for (uint32_t i = 0; i < plot->count; i++) {
        const struct moment *moment = &plot->moments[i];

        if (moment->in_use_bytes > most)
            most = moment->in_use_bytes;
        if (moment->published_bytes > (int64_t)most)
            most = (uint64_t)moment->published_bytes;
    }
    if (most == 0)
        return;
    printf("\nbytes in use (#), and published by the profile (=)\n%5s %14s "
           "%14s\n",
           "after", "in use", "published");
    for (uint32_t i = step - 1; i < plot->count + step - 1; i += step) {
        const uint32_t at = i < plot->count ? i : plot->count - 1;
        const struct moment *moment = &plot->moments[at];

        printf("%5" PRIu32 " %14" PRIu64 " %14" PRId64, at + 1,
               moment->in_use_bytes, moment->published_bytes);
        print_bar(moment->in_use_bytes, most, '#');
        if (moment->published_bytes > 0) {
            printf("\n%36s", "");
            print_bar((uint64_t)moment->published_bytes, most, '=');
        }
        putchar('\n');
    }
}
