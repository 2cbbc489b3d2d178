/* subject_watcher.c -- starts a subject, right before the first event that is
 * passed to it. */
#include "sim/instruments/subject_watcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
give_random(void *context)
{
    return sim_rng_next(&((struct watcher *)context)->rng);
}

static uint64_t
give_now_ns(void *context)
{
    return sim_world_now_ticks(((struct watcher *)context)->world);
}

static void
begin_subject(struct watcher *watcher)
{
    const struct subject_config config = {
        .rate_bytes = watcher->rate_bytes,
        .memory = watcher->subject->memory_bytes > 0 ? watcher->memory : NULL,
        .context = watcher,
        .random = give_random,
        .now_ns = give_now_ns,
    };

    if (config.memory != NULL)
        memset(config.memory, 0, watcher->memory_bytes);
    watcher->begun = true;
    watcher->state = watcher->subject->begin(&config);
    if (watcher->state != NULL)
        return;
    (void)fprintf(stderr, "the subject's begin() returned NULL\n");
    abort();
}

void *
subject_state(struct watcher *watcher, uint32_t thread)
{
    if (!watcher->begun)
        begin_subject(watcher);
    if (!watcher->started[thread]) {
        watcher->started[thread] = true;
        if (watcher->subject->thread_start != NULL)
            watcher->subject->thread_start(watcher->state, thread);
    }
    return watcher->state;
}
