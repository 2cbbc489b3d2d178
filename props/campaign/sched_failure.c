/*
 * sched_failure.c -- from the events of a failing traced world to a schedule:
 * events are left out, one after the other, as long as the same property
 * breaks.
 */
#include <stdlib.h>
#include <string.h>

#include "hunt.h"
#include "sched_campaign.h"
#include "sched_run.h"
#include "sched_text.h"

/* The hunt on events. */
struct tale {
    struct props_hunt *hunt;
    const struct sim_sched_config *config;
    struct sim_sched_event *events;
    uint32_t events_count;
};

static bool
run_events(void *context)
{
    const struct tale *tale = context;
    const char *refused;

    return sched_run_events(tale->hunt->runner, tale->config, tale->events,
                            tale->events_count, tale->hunt->campaign->asked,
                            &refused);
}

static bool
fails(struct tale *tale)
{
    return props_hunt_fails(tale->hunt, run_events, tale);
}

/* Leave out events i .. i + width - 1, if it still fails without them. */
static bool
leave_out(struct tale *tale, uint32_t i, uint32_t width)
{
    struct sim_sched_event out[2];
    struct sim_sched_event *at = &tale->events[i];
    const size_t after = (tale->events_count - width - i) * sizeof *at;

    memcpy(out, at, width * sizeof *at);
    memmove(at, at + width, after);
    tale->events_count -= width;
    if (fails(tale))
        return true;
    memmove(at + width, at, after);
    memcpy(at, out, width * sizeof *at);
    tale->events_count += width;
    return false;
}

/* Leave out every event, and every two that follow each other (what one does
 * the other undoes), that the failure does not need. */
static void
shrink_events(struct tale *tale)
{
    const uint32_t all = tale->events_count;
    bool again = true;

    tale->events_count = 0;
    if (fails(tale))
        return;
    tale->events_count = all;
    while (again) {
        again = false;
        for (uint32_t width = 1; width <= 2; width++) {
            for (uint32_t i = tale->events_count; i-- > 0;) {
                if (i + width <= tale->events_count)
                    again |= leave_out(tale, i, width);
            }
        }
    }
}

/* returns: false if there is not enough memory */
static bool
write_schedule(const struct tale *tale)
{
    struct props_failure *failure = tale->hunt->failure;
    char header[1024];
    const struct sim_schedule_source source = {
        .config = tale->config,
        .events = tale->events,
        .events_count = tale->events_count,
        .header = header,
        .broken =
            failure->crashed ? NULL : props_property_id(tale->hunt->property),
    };
    size_t bytes;
    FILE *file = open_memstream(&failure->text, &bytes);
    bool done;

    if (file == NULL)
        return false;
    props_hunt_header(tale->hunt, header, sizeof header);
    done = sim_schedule_print(file, &source);
    return fclose(file) == 0 && done;
}

bool
sched_failure_tell(struct props_hunt *hunt)
{
    struct sched_run *run = hunt->runner;
    struct sim_sched_config config;
    struct tale tale = {.hunt = hunt, .config = &config};
    bool done;

    if (hunt->failure->crashed) /* its world; its events are in the trail */
        sim_sched_generator_begin(&run->generator, &hunt->choices);
    config = run->generator.config;
    tale.events_count = run->trail->count;
    if (hunt->failure->crashed)
        tale.events_count += run->trail->attempting;
    hunt->failure->events_before = tale.events_count;
    tale.events = calloc((size_t)tale.events_count + 1, sizeof *tale.events);
    if (tale.events == NULL)
        return false;
    memcpy(tale.events, run->trail->events,
           tale.events_count * sizeof *tale.events);
    if (fails(&tale))
        shrink_events(&tale);
    props_hunt_end(hunt, run_events, &tale);
    hunt->failure->events_after = tale.events_count;
    done = write_schedule(&tale);
    free(tale.events);
    return done;
}
