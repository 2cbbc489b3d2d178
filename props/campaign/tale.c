/*
 * tale.c -- from the events of a failing run to a scenario.
 *
 *      events --simplify.c--> events --sim_scenario_build()--> scenario
 */
#include <stdlib.h>
#include <string.h>

#include "hunt.h"
#include "run.h"
#include "simplify.h"

/* The hunt on events. */
struct tale {
    struct props_hunt *hunt;
    const struct props_story *story; /* being run */
    const struct sim_scenario *read; /* the failure came from; or NULL */
};

static bool
run_story(void *context)
{
    const struct tale *tale = context;
    const struct props_story *story = tale->story;
    struct props_run *run = tale->hunt->run;
    const char *refused;
    bool holds = true;

    if (props_run_begin(run, &story->config, tale->hunt->campaign->asked) !=
        NULL)
        return true;
    for (uint32_t i = 0; i < story->events_count && holds; i++) {
        holds = props_run_event(run, &story->events[i], &refused);
        if (refused != NULL)
            return true; /* not a possible story */
    }
    return holds ? props_run_end(run) : false;
}

static bool
story_fails(void *context, const struct props_story *story)
{
    struct tale *tale = context;

    tale->story = story;
    return props_hunt_fails(tale->hunt, run_story, tale);
}

/* ---- the scenario ---- */

/* Numbers of objects become dense again, in the order of their births. */
static void
close_up_objects(struct props_story *list)
{
    uint32_t born = 0;

    for (uint32_t i = 0; i < list->events_count; i++) {
        const uint32_t old = list->events[i].object;

        if (list->events[i].kind != SIM_EV_ALLOC)
            continue;
        for (uint32_t j = i; j < list->events_count; j++) {
            const bool names =
                strchr(sim_event_arguments(list->events[j].kind), 'o') != NULL;

            if (names && list->events[j].object == old)
                list->events[j].object = born | UINT32_C(1) << 31;
        }
        born++;
    }
    for (uint32_t i = 0; i < list->events_count; i++)
        list->events[i].object &= UINT32_MAX >> 1;
}

static const char *
frame_name(void *context, uintptr_t frame)
{
    const struct tale *tale = context;

    return tale->read != NULL ? sim_scenario_frame_name(tale->read, frame)
                              : NULL;
}

/*
 * What the scenario that was read is there for: the header's first paragraph.
 *
 * out:     header, room for room_bytes, of which half may be used
 * returns: bytes used; 0 if it does not say
 */
static size_t
begin_header(const struct sim_scenario *read, char *header, size_t room_bytes)
{
    const char *from;
    const char *end;
    size_t bytes;

    if (read == NULL)
        return 0;
    from = read->header;
    end = strstr(from, "\n\n");
    bytes = end != NULL ? (size_t)(end + 1 - from) : strlen(from);
    if (strncmp(from, "pins: ", 6) != 0 || bytes >= room_bytes / 2)
        return 0;
    memcpy(header, from, bytes);
    header[bytes] = '\n';
    return bytes + 1;
}

/* returns: false if there is not enough memory */
static bool
write_scenario(struct tale *tale, struct props_story *story)
{
    struct props_failure *failure = tale->hunt->failure;
    char header[2048];
    const size_t begun = begin_header(tale->read, header, sizeof header);
    const struct sim_scenario_source source = {
        .config = &story->config,
        .events = story->events,
        .events_count = story->events_count,
        .header = header,
        .outcome = failure->crashed ? SIM_OUTCOME_UNSAID : SIM_OUTCOME_BROKEN,
        .property = props_property_id(tale->hunt->property),
        .frame_name = frame_name,
        .context = tale,
    };
    struct sim_scenario *scenario;
    size_t bytes;
    FILE *file;
    bool done;

    props_hunt_header(tale->hunt, &header[begun], sizeof header - begun);
    close_up_objects(story);
    scenario = sim_scenario_build(&source, &failure->error);
    if (scenario == NULL)
        return true;
    failure->events_after = scenario->events_count;
    file = open_memstream(&failure->text, &bytes);
    done = file != NULL && sim_scenario_print(file, scenario);
    if (file != NULL)
        done &= fclose(file) == 0;
    sim_scenario_free(scenario);
    return done;
}

/* From a story that fails to the end: make it plain, run it again, write. */
static bool
tell(struct props_hunt *hunt, const struct sim_config *config,
     const struct sim_scenario *read)
{
    const struct props_run *run = hunt->run;
    struct tale tale = {.hunt = hunt, .read = read};
    struct props_story story = {.config = *config};
    bool done;

    story.events_count = run->events_count;
    if (hunt->failure->crashed) /* the events are those of a child process */
        story.events_count = run->trail->count + run->trail->attempting;
    hunt->failure->events_before = story.events_count;
    story.events = calloc((size_t)story.events_count + 1, sizeof *story.events);
    if (story.events == NULL)
        return false;
    memcpy(story.events, run->events,
           story.events_count * sizeof *story.events);
    if (story_fails(&tale, &story))
        props_simplify(&story, story_fails, &tale);
    tale.story = &story;
    props_hunt_end(hunt, run_story, &tale);
    done = write_scenario(&tale, &story);
    free(story.events);
    return done;
}

bool
props_hunt_tell(struct props_hunt *hunt)
{
    struct props_run *run = hunt->run;
    struct sim_config config;

    if (hunt->failure->crashed) /* its world; its events are in the trail */
        sim_generator_begin(&run->generator, &hunt->choices,
                            hunt->campaign->rules,
                            props_campaign_worlds(hunt->campaign));
    config = run->generator.config;
    return tell(hunt, &config, NULL);
}

bool
props_failure_of_scenario(struct props_failure *failure,
                          const struct sim_scenario *scenario, props_set asked,
                          const char *command)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    const struct props_story all = {scenario->config, scenario->events,
                                    scenario->events_count};
    const struct props_campaign campaign = {.asked = asked};
    struct props_run *run = props_run_new(&limits);
    struct props_hunt hunt = {
        .campaign = &campaign,
        .command = command,
        .run = run,
        .failure = failure,
    };
    struct tale tale = {.hunt = &hunt, .story = &all};
    bool done = true;

    memset(failure, 0, sizeof *failure);
    if (run == NULL)
        return false;
    failure->crashed = props_hunt_dies(&hunt, run_story, &tale);
    if (failure->crashed || !run_story(&tale)) {
        hunt.property = run->judge.breach.property;
        done = tell(&hunt, &scenario->config, scenario);
    }
    props_run_delete(run);
    return done;
}
