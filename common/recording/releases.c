/*
 * releases.c -- recorded releases and the waits they end.
 *
 * A release records which thread gave a lock up. A wait, logged when it ends,
 * records how long a thread waited. A release is paired with a wait for the
 * same lock during which it happened; if there are several, with the first to
 * end, because that thread got the lock:
 *
 *      wait        |-------+---------+--|
 *      releases            1         2         both of this wait
 *      cycles      <------->                   charged to 1
 *                          <--------->         charged to 2
 *
 * If another thread takes the lock after the first release, the same wait
 * contains a second one. That one is charged only from the first release on, so
 * that no tick of a wait is charged twice.
 *
 * Invariant: a lock's releases that have no wait yet form a list, the latest
 * first. A wait takes those that came after its start off the front. So each
 * release is taken at most once, and a wait reads at most one that it does not
 * take.
 */
#include "common/recording/releases.h"

#include <stdlib.h>
#include <string.h>

struct sim_release {
    uint64_t ticks;   /* when; once paired: for how long */
    uint32_t earlier; /* its lock's release before, number + 1; 0: none */
    bool is_paired;
};

/* in: first, the head of the lock's list, number + 1 or 0 */
static void
pair(struct sim_releases *releases, uint32_t *first, uint64_t start_ticks)
{
    while (*first != 0) {
        struct sim_release *release = &releases->list[*first - 1];
        uint64_t from_ticks = start_ticks;

        if (release->ticks < start_ticks)
            return;
        if (release->earlier != 0 &&
            releases->list[release->earlier - 1].ticks > start_ticks)
            from_ticks = releases->list[release->earlier - 1].ticks;
        release->ticks -= from_ticks;
        release->is_paired = true;
        releases->unpaired--;
        *first = release->earlier;
    }
}

bool
sim_releases_open(struct sim_releases *releases,
                  const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    uint32_t *first = calloc(totals->locks + 1, sizeof *first); /* by lock */
    struct sim_recording_cursor cursor;
    struct sim_recorded event;

    memset(releases, 0, sizeof *releases);
    releases->list = calloc(totals->releases + 1, sizeof *releases->list);
    if (first == NULL || releases->list == NULL) {
        free(first);
        return false;
    }
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_WAIT) {
            pair(releases, &first[event.lock], event.ticks - event.wait_ticks);
        } else if (event.kind == SIM_RECORDED_RELEASE) {
            releases->list[releases->count++] = (struct sim_release){
                .ticks = event.ticks, .earlier = first[event.lock]};
            first[event.lock] = (uint32_t)releases->count;
            releases->unpaired++;
        }
    }
    free(first);
    return true;
}

void
sim_releases_close(struct sim_releases *releases)
{
    free(releases->list);
    memset(releases, 0, sizeof *releases);
}

bool
sim_releases_find(const struct sim_releases *releases, uint64_t release,
                  int64_t *cycles)
{
    if (!releases->list[release].is_paired)
        return false;
    *cycles = (int64_t)releases->list[release].ticks;
    return true;
}
