/*
 * sched_failure.c -- from a failing seed to a schedule. As failure.c: choices
 * shrink first, for they say which world it is; then events are left out, one
 * after the other, as long as the same property breaks.
 */
#include "sched_failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "campaign.h"
#include "faults.h"
#include "sched_text.h"
#include "shrink.h"

enum { CRASH_SECONDS = 20, SHRINK_CALLS = 20000 };

struct hunt {
    struct sched_run *run;
    props_set asked;
    enum props_property property; /* the failure to keep */
    bool crash;                   /* ... or: the process must die */
    int signal;
    uint32_t runs;
    struct sim_choices choices;
    const struct sim_sched_config *config;
    struct sim_sched_event *events;
    uint32_t events_count;
};

static bool
run_choices(struct hunt *hunt)
{
    return sched_run_choices(hunt->run, &hunt->choices, hunt->asked);
}

static bool
run_events(struct hunt *hunt)
{
    const char *refused;

    return sched_run_events(hunt->run, hunt->config, hunt->events,
                            hunt->events_count, hunt->asked, &refused);
}

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

static bool
values_fail(void *context, const uint32_t *values, uint32_t count)
{
    struct hunt *hunt = context;

    sim_choices_replay(&hunt->choices, values, count);
    return fails(hunt, run_choices);
}

static void
shrink_choices(struct hunt *hunt, struct sched_failure *failure)
{
    struct sim_choice *list = calloc(PROPS_CHOICES_MAX, sizeof *list);
    uint32_t *values = calloc(PROPS_CHOICES_MAX, sizeof *values);
    struct sim_shrink shrink = {
        .still_fails = values_fail,
        .context = hunt,
        .ran = &hunt->choices,
        .calls_max = SHRINK_CALLS,
    };
    uint32_t count = hunt->choices.count;

    failure->choices_before = count;
    if (list != NULL && values != NULL) {
        memcpy(list, hunt->choices.list, count * sizeof *list);
        count = sim_shrink(&shrink, list, count);
        failure->unstable = shrink.unstable;
        failure->choices_after = count;
        for (uint32_t i = 0; i < count; i++)
            values[i] = list[i].value;
        values_fail(hunt, values, count); /* the run to be told about */
    }
    free(list);
    free(values);
}

/* Leave out events i .. i + width - 1, if it still fails without them. */
static bool
leave_out(struct hunt *hunt, uint32_t i, uint32_t width)
{
    struct sim_sched_event out[2];
    struct sim_sched_event *at = &hunt->events[i];
    const size_t after = (hunt->events_count - width - i) * sizeof *at;

    memcpy(out, at, width * sizeof *at);
    memmove(at, at + width, after);
    hunt->events_count -= width;
    if (fails(hunt, run_events))
        return true;
    memmove(at + width, at, after);
    memcpy(at, out, width * sizeof *at);
    hunt->events_count += width;
    return false;
}

/* Leave out every event, and every two that follow each other (what one does
 * the other undoes), that the failure does not need. */
static void
shrink_events(struct hunt *hunt)
{
    const uint32_t all = hunt->events_count;
    bool again = true;

    hunt->events_count = 0;
    if (fails(hunt, run_events))
        return;
    hunt->events_count = all;
    while (again) {
        again = false;
        for (uint32_t width = 1; width <= 2; width++) {
            for (uint32_t i = hunt->events_count; i-- > 0;) {
                if (i + width <= hunt->events_count)
                    again |= leave_out(hunt, i, width);
            }
        }
    }
}

static bool
finish(struct hunt *hunt, struct sched_failure *failure, const char *command)
{
    struct props_marks before;

    hunt->events_count = hunt->run->trail->count;
    if (hunt->crash) /* the events are those of a child process */
        hunt->events_count += hunt->run->trail->attempting;
    failure->config = hunt->run->generator.config;
    hunt->config = &failure->config;
    failure->events_before = hunt->events_count;
    hunt->events = calloc((size_t)hunt->events_count + 1, sizeof *hunt->events);
    if (hunt->events == NULL)
        return false;
    memcpy(hunt->events, hunt->run->trail->events,
           hunt->events_count * sizeof *hunt->events);
    if (fails(hunt, run_events))
        shrink_events(hunt);
    before = hunt->run->marks;
    failure->unstable |= !fails(hunt, run_events);
    failure->faults = props_faults_met(&before, &hunt->run->marks);
    failure->breach = hunt->run->judge.breach;
    failure->crashed = hunt->crash;
    failure->signal = hunt->signal;
    failure->runs = hunt->runs;
    memcpy(hunt->run->trail->events, hunt->events,
           hunt->events_count * sizeof *hunt->events);
    hunt->run->trail->count = hunt->events_count;
    snprintf(failure->header, sizeof failure->header,
             "%s broken: %s\n%s\nfound by: %s\n",
             props_property_id(failure->breach.property),
             props_property_sentence(failure->breach.property),
             failure->breach.text, command);
    if (failure->crashed)
        snprintf(failure->header, sizeof failure->header,
                 "ends the process\nfound by: %s\n", command);
    free(hunt->events);
    return true;
}

bool
sched_failure_of_seed(struct sched_failure *failure, props_set asked,
                      uint64_t seed, const char *command)
{
    struct sim_choice *list = calloc(PROPS_CHOICES_MAX, sizeof *list);
    struct hunt hunt = {
        .run = sched_run_new(SIM_SCHED_EVENTS_MAX),
        .asked = asked,
        .property = PROPS_NONE,
    };
    bool done = false;

    memset(failure, 0, sizeof *failure);
    failure->run = hunt.run;
    if (list == NULL || hunt.run == NULL)
        goto out;
    sim_choices_init(&hunt.choices, list, PROPS_CHOICES_MAX);
    sim_choices_random(&hunt.choices, seed);
    hunt.crash = dies(&hunt, run_choices);
    sim_choices_random(&hunt.choices, seed);
    if (hunt.crash) { /* its world; its events are in the trail */
        sim_sched_generator_begin(&hunt.run->generator, &hunt.choices);
    } else {
        failure->unstable = run_choices(&hunt);
        hunt.property = hunt.run->judge.breach.property;
        /* Two readers need no story. */
        if (!failure->unstable && hunt.property != PROPS_T11)
            shrink_choices(&hunt, failure);
    }
    done = finish(&hunt, failure, command);
out:
    free(list);
    return done;
}

void
sched_failure_close(struct sched_failure *failure)
{
    sched_run_delete(failure->run);
    failure->run = NULL;
}

/* -------------------------------------------------------------------- telling
 */

static bool
print_schedule(FILE *file, const struct sched_failure *failure)
{
    return sim_schedule_print(
        file, &(struct sim_schedule_source){
                  .config = &failure->config,
                  .events = failure->run->trail->events,
                  .events_count = failure->run->trail->count,
                  .header = failure->header,
                  .broken = failure->crashed
                                ? NULL
                                : props_property_id(failure->breach.property),
              });
}

void
sched_failure_print(FILE *file, const struct sched_failure *failure)
{
    char faults[256];

    if (failure->crashed)
        fprintf(file, "the run ended its process (signal %d)\n",
                failure->signal);
    else
        fprintf(file, "%s broken: %s\n  %s\n",
                props_property_id(failure->breach.property),
                props_property_sentence(failure->breach.property),
                failure->breach.text);
    fprintf(file,
            "  shrunk from %" PRIu32 " choices to %" PRIu32 ", from %" PRIu32
            " events to %" PRIu32 "; %" PRIu32 " runs\n",
            failure->choices_before, failure->choices_after,
            failure->events_before, failure->run->trail->count, failure->runs);
    props_faults_name(faults, sizeof faults, failure->faults);
    fprintf(file, "  faults met: %s\n", faults);
    if (failure->unstable)
        fprintf(file, "  not stable: run again, it does not always fail (%s)\n",
                props_property_id(PROPS_D1));
    fputc('\n', file);
    print_schedule(file, failure);
    fputc('\n', file);
}

bool
sched_failure_save(const struct sched_failure *failure, const char *dir,
                   const char *name, char *path, size_t path_bytes,
                   struct sim_error *error)
{
    char temporary[1100];
    bool written = false;
    FILE *file;

    snprintf(path, path_bytes, "%s/%s.sim", dir, name);
    snprintf(temporary, sizeof temporary, "%.1024s.%ld.part", path,
             (long)getpid());
    if (mkdir(dir, 0777) == 0 || errno == EEXIST) {
        file = fopen(temporary, "w");
        if (file != NULL) {
            written = print_schedule(file, failure) && fflush(file) == 0 &&
                      fsync(fileno(file)) == 0;
            written &= fclose(file) == 0;
        }
    }
    if (written && rename(temporary, path) == 0)
        return true;
    snprintf(error->text, sizeof error->text, "%.200s: %s", path,
             strerror(errno));
    unlink(temporary);
    return false;
}
