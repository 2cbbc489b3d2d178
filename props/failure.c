/*
 * failure.c -- from a failing seed to a scenario.
 *
 *      choices --shrink.c--> choices --run--> events --simplify.c--> scenario
 *
 * Choices shrink first, because they hold what events do not: which world it
 * is. Events come last, because one event may need choices that others share.
 *
 * "The same failure" is the same property. A crash is looked at in a child
 * process: each attempt forks, and the events are in memory shared with it.
 */
#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "shrink.h"
#include "simplify.h"

enum { CRASH_SECONDS = 20, SHRINK_CALLS = 20000 };

struct hunt {
    struct props_run *run;
    const struct prof_rules *rules;
    props_set asked;
    enum props_property property; /* the failure to keep */
    bool crash;                   /* ... or: the process must die */
    int signal;
    uint32_t runs;
    struct sim_choices choices;
    const struct props_story *story; /* being run */
    const struct sim_scenario *read; /* the failure came from; or NULL */
};

/* Let a child try; did it die? Its events stay in shared memory. */
static bool
dies(struct hunt *hunt, bool (*attempt)(struct hunt *hunt))
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(CRASH_SECONDS);
        close(STDERR_FILENO); /* the panic was heard once */
        attempt(hunt);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    hunt->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool
fails(struct hunt *hunt, bool (*attempt)(struct hunt *hunt))
{
    hunt->runs++;
    if (hunt->crash)
        return dies(hunt, attempt);
    return !attempt(hunt) && hunt->run->judge.breach.property == hunt->property;
}

/* ------------------------------------------------------------------- choices
 */

static bool
run_choices(struct hunt *hunt)
{
    return props_run_choices(hunt->run, &hunt->choices, hunt->rules,
                             hunt->asked);
}

static bool
values_fail(void *context, const uint32_t *values, uint32_t count)
{
    struct hunt *hunt = context;

    sim_choices_replay(&hunt->choices, values, count);
    return fails(hunt, run_choices);
}

/* Shrink the choices; leave the run's events and configuration behind. */
static void
shrink_choices(struct hunt *hunt, struct props_failure *failure)
{
    struct sim_choice *list =
        calloc(PROPS_CHOICES_MAX, sizeof *list); /* the one being shrunk */
    uint32_t *values = calloc(PROPS_CHOICES_MAX, sizeof *values);
    bool *necessary = calloc(PROPS_CHOICES_MAX, sizeof *necessary);
    struct sim_shrink shrink = {
        .still_fails = values_fail,
        .context = hunt,
        .ran = &hunt->choices,
        .calls_max = SHRINK_CALLS,
    };
    uint32_t count = hunt->choices.count;

    failure->choices_before = count;
    if (list == NULL || values == NULL || necessary == NULL)
        goto out;
    memcpy(list, hunt->choices.list, count * sizeof *list);
    count = sim_shrink(&shrink, list, count);
    failure->unstable = shrink.unstable;
    failure->choices_after = count;
    failure->choices_necessary =
        sim_shrink_necessary(&shrink, list, count, necessary);
    for (uint32_t i = 0; i < count; i++)
        values[i] = list[i].value;
    values_fail(hunt, values, count); /* the run to be told about */
out:
    free(list);
    free(values);
    free(necessary);
}

/* ------------------------------------------------------------------ events */

static bool
run_story(struct hunt *hunt)
{
    const struct props_story *story = hunt->story;
    const char *refused;
    bool holds = true;

    if (props_run_begin(hunt->run, &story->config, hunt->asked) != NULL)
        return true;
    for (uint32_t i = 0; i < story->events_count && holds; i++) {
        holds = props_run_event(hunt->run, &story->events[i], &refused);
        if (refused != NULL)
            return true; /* not a possible story */
    }
    return holds ? props_run_end(hunt->run) : false;
}

static bool
story_fails(void *context, const struct props_story *story)
{
    struct hunt *hunt = context;

    hunt->story = story;
    return fails(hunt, run_story);
}

/* ------------------------------------------------------------- the scenario */

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
    const struct hunt *hunt = context;

    return hunt->read != NULL ? sim_scenario_frame_name(hunt->read, frame)
                              : NULL;
}

/*
 * What the scenario that was read is there for: the header's first paragraph.
 *
 * out:     header, room for room_bytes, of which half may be used
 * returns: bytes used; 0 if it does not say
 */
static size_t
begin_header(const struct hunt *hunt, char *header, size_t room_bytes)
{
    const char *from;
    const char *end;
    size_t bytes;

    if (hunt->read == NULL)
        return 0;
    from = hunt->read->header;
    end = strstr(from, "\n\n");
    bytes = end != NULL ? (size_t)(end + 1 - from) : strlen(from);
    if (strncmp(from, "pins: ", 6) != 0 || bytes >= room_bytes / 2)
        return 0;
    memcpy(header, from, bytes);
    header[bytes] = '\n';
    return bytes + 1;
}

static void
build_scenario(struct hunt *hunt, struct props_failure *failure,
               struct props_story *story, const char *command)
{
    const char *id = props_property_id(hunt->property);
    char header[2048];
    const size_t begun = begin_header(hunt, header, sizeof header);
    char *const rest = &header[begun];
    const size_t room = sizeof header - begun;
    struct sim_scenario_source source = {
        .config = &story->config,
        .header = header,
        .outcome = hunt->crash ? SIM_OUTCOME_UNSAID : SIM_OUTCOME_BROKEN,
        .property = id,
        .frame_name = frame_name,
        .context = hunt,
    };

    if (hunt->crash)
        snprintf(rest, room, "ends the process\nfound by: %s\n", command);
    else
        snprintf(rest, room, "%s broken: %s\n%s\nfound by: %s\n", id,
                 props_property_sentence(hunt->property), failure->breach.text,
                 command);
    close_up_objects(story);
    source.events = story->events;
    source.events_count = story->events_count;
    failure->scenario = sim_scenario_build(&source, &failure->error);
}

/* From a story that fails to the end: make it plain, run it again, write. */
static bool
finish(struct hunt *hunt, const struct sim_config *config,
       struct props_failure *failure, const char *command)
{
    struct props_story story = {.config = *config};
    struct props_marks before;

    story.events_count = hunt->run->events_count;
    if (hunt->crash) /* the events are those of a child process */
        story.events_count =
            hunt->run->trail->count + hunt->run->trail->attempting;
    failure->events_before = story.events_count;
    story.events = calloc((size_t)story.events_count + 1, sizeof *story.events);
    if (story.events == NULL)
        return false;
    memcpy(story.events, hunt->run->events,
           story.events_count * sizeof *story.events);
    if (story_fails(hunt, &story))
        props_simplify(&story, story_fails, hunt);
    before = hunt->run->marks;
    failure->unstable |= !story_fails(hunt, &story);
    failure->faults = props_faults_met(&before, &hunt->run->marks);
    failure->breach = hunt->run->judge.breach;
    failure->crashed = hunt->crash;
    failure->signal = hunt->signal;
    failure->runs = hunt->runs;
    build_scenario(hunt, failure, &story, command);
    free(story.events);
    return true;
}

/* Where the choices of a failing run came from. */
struct origin {
    uint64_t seed;
    const uint8_t *bytes; /* NULL: the seed */
    uint32_t bytes_count;
};

static void
begin_choices(struct sim_choices *choices, const struct origin *origin)
{
    if (origin->bytes == NULL)
        sim_choices_random(choices, origin->seed);
    else
        sim_choices_bytes(choices, origin->bytes, origin->bytes_count);
}

static bool
failure_of(struct props_failure *failure, const struct props_campaign *campaign,
           const struct origin *origin, const char *command)
{
    struct sim_choice *list = calloc(PROPS_CHOICES_MAX, sizeof *list);
    struct hunt hunt = {
        .run = props_run_new(&sim_generator_limits),
        .rules = campaign->rules,
        .asked = campaign->asked,
    };
    struct sim_config config;
    bool done = false;

    memset(failure, 0, sizeof *failure);
    if (list == NULL || hunt.run == NULL)
        goto out;
    sim_choices_init(&hunt.choices, list, PROPS_CHOICES_MAX);
    begin_choices(&hunt.choices, origin);
    hunt.crash = dies(&hunt, run_choices);
    begin_choices(&hunt.choices, origin);
    if (hunt.crash) { /* its world; its events are in the trail */
        sim_generator_begin(&hunt.run->generator, &hunt.choices, hunt.rules);
    } else if (run_choices(&hunt)) {
        failure->unstable = true; /* it failed before, it passes now */
        failure->breach = (struct props_breach){
            .broken = PROPS_BIT(PROPS_D1),
            .property = PROPS_D1,
            .text = "the run failed, and does not fail when made again",
        };
        snprintf(failure->error.text, sizeof failure->error.text,
                 "there is nothing to shrink");
        done = true;
        goto out;
    }
    hunt.property = hunt.run->judge.breach.property;
    if (!hunt.crash)
        shrink_choices(&hunt, failure);
    config = hunt.run->generator.config;
    done = finish(&hunt, &config, failure, command);
out:
    props_run_delete(hunt.run);
    free(list);
    return done;
}

bool
props_failure_of_seed(struct props_failure *failure,
                      const struct props_campaign *campaign, uint64_t seed,
                      const char *command)
{
    const struct origin origin = {.seed = seed};

    return failure_of(failure, campaign, &origin, command);
}

bool
props_failure_of_bytes(struct props_failure *failure,
                       const struct props_campaign *campaign,
                       const uint8_t *bytes, uint32_t bytes_count,
                       const char *command)
{
    const struct origin origin = {.bytes = bytes, .bytes_count = bytes_count};

    return failure_of(failure, campaign, &origin, command);
}

bool
props_failure_of_scenario(struct props_failure *failure,
                          const struct sim_scenario *scenario, props_set asked,
                          const char *command)
{
    const struct sim_limits limits = {
        .events_max = scenario->events_count + 1,
        .objects_max = scenario->objects_count + 1,
        .buckets_max = scenario->config.buckets_max,
        .frames_max = scenario->config.frames_max,
    };
    const struct props_story all = {scenario->config, scenario->events,
                                    scenario->events_count};
    struct hunt hunt = {
        .run = props_run_new(&limits),
        .asked = asked,
        .story = &all,
        .read = scenario,
    };
    bool done = true;

    memset(failure, 0, sizeof *failure);
    if (hunt.run == NULL)
        return false;
    hunt.crash = dies(&hunt, run_story);
    if (hunt.crash || !run_story(&hunt)) {
        hunt.property = hunt.run->judge.breach.property;
        done = finish(&hunt, &scenario->config, failure, command);
    }
    props_run_delete(hunt.run);
    return done;
}

void
props_failure_free(struct props_failure *failure)
{
    sim_scenario_free(failure->scenario);
    failure->scenario = NULL;
}

/* -------------------------------------------------------------------- telling
 */

static bool
write_whole(const struct sim_scenario *scenario, const char *path,
            struct sim_error *error)
{
    char temporary[1024];
    FILE *file;
    bool written;

    snprintf(temporary, sizeof temporary, "%.900s.%ld.part", path,
             (long)getpid());
    file = fopen(temporary, "w");
    if (file == NULL) {
        snprintf(error->text, sizeof error->text, "%.200s: %s", temporary,
                 strerror(errno));
        return false;
    }
    written = sim_scenario_print(file, scenario) && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
    if (fclose(file) != 0)
        written = false;
    if (written && rename(temporary, path) == 0)
        return true;
    snprintf(error->text, sizeof error->text, "%.200s: %s", path,
             strerror(errno));
    unlink(temporary);
    return false;
}

bool
props_failure_save(const struct props_failure *failure, const char *dir,
                   const char *name, char *path, size_t path_bytes,
                   struct sim_error *error)
{
    if (failure->scenario == NULL) {
        *error = failure->error;
        return false;
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        snprintf(error->text, sizeof error->text, "%.200s: %s", dir,
                 strerror(errno));
        return false;
    }
    snprintf(path, path_bytes, "%s/%s.sim", dir, name);
    return write_whole(failure->scenario, path, error);
}

static void
print_breach(FILE *file, const struct props_failure *failure)
{
    if (failure->crashed && failure->signal != 0)
        fprintf(file, "the run was ended by signal %d (%s)\n", failure->signal,
                strsignal(failure->signal));
    else if (failure->crashed)
        fprintf(file, "the run ended its process\n");
    else
        fprintf(file, "%s broken: %s\n  event %" PRIu32 ": %s\n",
                props_property_id(failure->breach.property),
                props_property_sentence(failure->breach.property),
                failure->breach.event + 1, failure->breach.text);
}

void
props_failure_print(FILE *file, const struct props_failure *failure)
{
    char faults[256];

    print_breach(file, failure);
    if (failure->choices_before != 0)
        fprintf(file,
                "  shrunk from %" PRIu32 " choices to %" PRIu32 ", %" PRIu32
                " of them not 0 and each necessary;",
                failure->choices_before, failure->choices_after,
                failure->choices_necessary);
    fprintf(
        file, "%s from %" PRIu32 " events to %" PRIu32 "; %" PRIu32 " runs\n",
        failure->choices_before != 0 ? "" : "  shrunk", failure->events_before,
        failure->scenario != NULL ? failure->scenario->events_count : 0,
        failure->runs);
    props_faults_name(faults, sizeof faults, failure->faults);
    fprintf(file, "  faults met: %s\n", faults);
    if (failure->unstable)
        fprintf(file, "  not stable: run again, it does not always fail (%s)\n",
                props_property_id(PROPS_D1));
    if (failure->scenario == NULL) {
        fprintf(file, "  no scenario: %s\n", failure->error.text);
        return;
    }
    fputc('\n', file);
    sim_scenario_print(file, failure->scenario);
    fputc('\n', file);
}
