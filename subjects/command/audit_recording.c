/* audit_recording.c -- how much the sampled live bytes of a recorded program
 * vary. */
#include "subjects/command/audit_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/command/complaint.h"
#include "subjects/live_variance.h"
#include "common/recording/recording.h"

enum { SAMPLES_DEFAULT = 1000 };

static void
die(struct subjects_object *objects, const uint64_t *number, uint64_t object,
    uint64_t bytes)
{
    if (number[object] != UINT64_MAX)
        objects[number[object]].died = bytes;
}

/* A resize is a free and an allocation. Objects of 0 bytes are left out. */
static void
read_history(const struct sim_recording *recording,
             struct subjects_history *history)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct subjects_object *objects =
        cli_need(calloc(totals->allocs + totals->resizes, sizeof *objects));
    uint64_t *number = cli_need(calloc(totals->allocs, sizeof *number));
    struct sim_recording_cursor cursor;
    struct sim_recorded event;

    *history = (struct subjects_history){.objects = objects};
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE)
            die(objects, number, event.object, history->bytes);
        if (event.kind != SIM_RECORDED_ALLOC &&
            event.kind != SIM_RECORDED_RESIZE)
            continue;
        number[event.object] = UINT64_MAX;
        if (event.size_bytes == 0)
            continue;
        number[event.object] = history->count;
        history->bytes += event.size_bytes;
        objects[history->count++] = (struct subjects_object){
            event.size_bytes, history->bytes, UINT64_MAX};
    }
    free(number);
}

struct line {
    const char *name;
    double rate; /* 0: not one */
    struct subjects_live live;
};

static void
print_lines(const struct line *lines, size_t count, double bytes)
{
    printf("%-44s %9s %8s %9s %9s\n", "", "R", "samples", "deviation",
           "variance");
    for (size_t i = 0; i < count; i++) {
        if (lines[i].rate > 0)
            printf("%-44s %9.0f", lines[i].name, lines[i].rate);
        else
            printf("%-44s %9s", lines[i].name, "by size");
        printf(" %8.0f %7.2f %% %9.4f\n", lines[i].live.samples,
               100 * sqrt(lines[i].live.variance) / bytes,
               lines[i].live.variance / lines[0].live.variance);
    }
}

static void
compare(const char *path, const struct subjects_history *history, double rate)
{
    const double bytes = subjects_live_bytes(history);
    const double r = rate > 0 ? rate : (double)history->bytes / SAMPLES_DEFAULT;
    struct line lines[4];

    lines[0] = (struct line){"exact", r, subjects_live_exact(history, r)};
    lines[1] = (struct line){
        "chances by size, the best there are", 0,
        subjects_live_best_chances(history, lines[0].live.samples)};
    lines[2].name = "exact-min-variance";
    lines[2].live =
        subjects_live_strata_of(history, lines[0].live.samples, &lines[2].rate);
    lines[3] = (struct line){
        "exact-min-variance, the best R by class", 0,
        subjects_live_best_strata(history, lines[0].live.samples)};
    printf("%s: %zu allocations of %" PRIu64 " bytes; %.0f live on average\n",
           path, history->count, history->bytes, bytes);
    print_lines(lines, 4, bytes);
}

enum cli_exit
cli_audit_recording(const char *path, uint64_t rate)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    struct subjects_history history;
    char line[256];
    enum cli_exit exit_code = CLI_OK;

    if (!sim_recording_open(&recording, path, &error)) {
        sim_recording_explain(&error, path, line, sizeof line);
        return cli_usage("%s", line);
    }
    read_history(recording, &history);
    if (history.count == 0)
        exit_code = cli_usage("%s: no allocations", path);
    else
        compare(path, &history, (double)rate);
    free((void *)(uintptr_t)history.objects);
    sim_recording_close(recording);
    return exit_code;
}
