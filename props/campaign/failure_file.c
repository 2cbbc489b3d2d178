/*
 * failure_file.c -- from the events of a failing run to a scenario.
 *
 *      events --simplify.c--> events --sim_scenario_build()--> scenario
 */
#include <stdlib.h>
#include <string.h>

#include "props/campaign/minimizer.h"
#include "props/judge/run.h"
#include "props/campaign/simplify.h"

/* Minimizes the events. */
struct writer {
    struct props_minimizer *minimizer;
    const struct props_event_list *list; /* being run */
    const struct sim_scenario *read;     /* which failed; or NULL */
};

static bool
run_list(void *context)
{
    const struct writer *writer = context;
    const struct props_event_list *list = writer->list;
    struct props_run *run = writer->minimizer->run;
    const char *refused;
    bool holds = true;

    if (props_run_begin(run, &list->config,
                        writer->minimizer->campaign->requested) != NULL)
        return true;
    for (uint32_t i = 0; i < list->events_count && holds; i++) {
        holds = props_run_event(run, &list->events[i], &refused);
        if (refused != NULL)
            return true; /* these events are not possible */
    }
    return holds ? props_run_end(run) : false;
}

static bool
list_fails(void *context, const struct props_event_list *list)
{
    struct writer *writer = context;

    writer->list = list;
    return props_minimizer_fails(writer->minimizer, run_list, writer);
}

/* ---- the scenario ---- */

/* Number objects without gaps again, in the order of their births. */
static void
close_up_objects(struct props_event_list *list)
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
    const struct writer *writer = context;

    return writer->read != NULL ? sim_scenario_frame_name(writer->read, frame)
                                : NULL;
}

/*
 * Copy the first paragraph of the header of the scenario that was read, if it
 * states the scenario's purpose ("pins: ...").
 *
 * out:     header, room for room_bytes, of which half may be used
 * returns: bytes used; 0 if there is no such paragraph
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
write_scenario(struct writer *writer, struct props_event_list *list)
{
    struct props_failure *failure = writer->minimizer->failure;
    char header[2048];
    const size_t begun = begin_header(writer->read, header, sizeof header);
    const struct sim_scenario_source source = {
        .config = &list->config,
        .events = list->events,
        .events_count = list->events_count,
        .header = header,
        .outcome = failure->crashed ? SIM_OUTCOME_UNSAID : SIM_OUTCOME_BROKEN,
        .property = props_property_id(writer->minimizer->property),
        .frame_name = frame_name,
        .context = writer,
    };
    struct sim_scenario *scenario;
    size_t bytes;
    FILE *file;
    bool done;

    props_minimizer_header(writer->minimizer, &header[begun],
                           sizeof header - begun);
    close_up_objects(list);
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

/* From events that fail: simplify them, run them again, and write the file. */
static bool
report(struct props_minimizer *minimizer, const struct sim_config *config,
       const struct sim_scenario *read)
{
    const struct props_run *run = minimizer->run;
    struct writer writer = {.minimizer = minimizer, .read = read};
    struct props_event_list list = {.config = *config};
    bool done;

    list.events_count = run->events_count;
    if (minimizer->failure->crashed) /* the events are a child's */
        list.events_count = run->crash_log->count + run->crash_log->attempting;
    minimizer->failure->events_before = list.events_count;
    list.events = calloc((size_t)list.events_count + 1, sizeof *list.events);
    if (list.events == NULL)
        return false;
    memcpy(list.events, run->events, list.events_count * sizeof *list.events);
    if (list_fails(&writer, &list))
        props_simplify(&list, list_fails, &writer);
    writer.list = &list;
    props_minimizer_end(minimizer, run_list, &writer);
    done = write_scenario(&writer, &list);
    free(list.events);
    return done;
}

bool
props_minimizer_report(struct props_minimizer *minimizer)
{
    struct props_run *run = minimizer->run;
    struct sim_config config;

    if (minimizer->failure->crashed) /* it is a child's */
        sim_generator_begin(&run->generator, &minimizer->choices,
                            minimizer->campaign->rules,
                            props_campaign_worlds(minimizer->campaign));
    config = run->generator.config;
    return report(minimizer, &config, NULL);
}

bool
props_failure_of_scenario(struct props_failure *failure,
                          const struct sim_scenario *scenario,
                          props_set requested, const char *command)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    const struct props_event_list all = {scenario->config, scenario->events,
                                         scenario->events_count};
    const struct props_campaign campaign = {
        .requested = requested, .subject = scenario->config.subject};
    struct props_run *run = props_run_new(&limits);
    struct props_minimizer minimizer = {
        .campaign = &campaign,
        .command = command,
        .run = run,
        .failure = failure,
    };
    struct writer writer = {.minimizer = &minimizer, .list = &all};
    bool done = true;

    memset(failure, 0, sizeof *failure);
    if (run == NULL ||
        (campaign.subject != NULL && !props_minimizer_share(&minimizer))) {
        props_run_delete(run);
        return false;
    }
    failure->crashed = props_minimizer_dies(&minimizer, run_list, &writer);
    if (failure->crashed ||
        !props_minimizer_try(&minimizer, run_list, &writer)) {
        minimizer.property = run->judge.breach.property;
        done = report(&minimizer, &scenario->config, scenario);
    }
    props_minimizer_unshare(&minimizer);
    props_run_delete(run);
    return done;
}
