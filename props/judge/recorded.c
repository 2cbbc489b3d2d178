/* recorded.c -- replay a recording in a world that the judge watches. */
#include "props/judge/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "sim/generate/drive.h"
#include "props/judge/run.h"

struct show {
    struct sim_drive drive;
    struct props_run *run;
    struct props_recorded *result;
};

static void
count_snapshots(struct show *show)
{
    const struct sim_answer *answer = sim_world_answer(show->run->judge.world);

    show->result->snapshots +=
        answer->kind == SIM_EV_SNAPSHOT_ALL && answer->status == PROF_OK;
}

static const char *
replay_all(struct show *show, void (*progress)(uint64_t, uint64_t))
{
    const uint64_t all = sim_recording_events(show->drive.recording);
    struct props_run *run = show->run;
    const char *refused = NULL;
    struct sim_event event;

    while (sim_drive_next(&show->drive, run->judge.world, &event)) {
        if (!props_run_event(run, &event, &refused))
            break;
        count_snapshots(show);
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
                   const struct prof_rules *rules, props_set requested,
                   void (*progress)(uint64_t done, uint64_t total))
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
    if (show.run == NULL)
        goto out;
    why = props_run_begin(show.run, &show.drive.config, requested);
    if (why == NULL)
        why = replay_all(&show, progress);
    if (why != NULL)
        goto out;
    model_heap_buckets(show.run->judge.model, &buckets);
    result->breach = show.run->judge.breach;
    result->recorded_events = show.drive.recorded;
    result->unpaired_releases = show.drive.releases.unpaired;
    result->events = show.run->events_count;
    result->collections = show.drive.collections;
    result->buckets = buckets;
    result->hash = show.run->hash;
    result->cover = show.run->cover;
out:
    props_run_delete(show.run);
    sim_drive_close(&show.drive);
    return why;
}
