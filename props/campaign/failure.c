/*
 * failure.c -- from a failing seed to a file that fails the same way.
 *
 *      choices --shrink.c--> choices --run--> events --failure_file.c--> file
 *
 * Choices shrink first, because they also decide which world it is. Events
 * shrink afterwards: one choice can affect several events, so choices alone
 * cannot remove every single event.
 */
#include "props/campaign/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/judge/faults.h"
#include "props/campaign/minimizer.h"
#include "common/output.h"
#include "prof/file.h"
#include "common/shrink.h"

enum { SHRINK_CALLS = 20000 };

/* ---- choices ---- */

static bool
run_choices(void *context)
{
    struct props_minimizer *minimizer = context;

    return props_campaign_try(minimizer->campaign, minimizer->run,
                              &minimizer->choices);
}

static bool
values_fail(void *context, const uint32_t *values, uint32_t count)
{
    struct props_minimizer *minimizer = context;

    sim_choices_replay(&minimizer->choices, values, count);
    return props_minimizer_fails(minimizer, run_choices, minimizer);
}

/* Shrink the choices. Afterwards the run has the events and configuration of
 * the result. */
static void
shrink_choices(struct props_minimizer *minimizer)
{
    struct props_failure *failure = minimizer->failure;
    struct sim_choice *list =
        calloc(PROPS_CHOICES_MAX, sizeof *list); /* the list being shrunk */
    uint32_t *values = calloc(PROPS_CHOICES_MAX, sizeof *values);
    bool *necessary = calloc(PROPS_CHOICES_MAX, sizeof *necessary);
    struct sim_shrink shrink = {
        .still_fails = values_fail,
        .context = minimizer,
        .ran = &minimizer->choices,
        .calls_max = SHRINK_CALLS,
    };
    uint32_t count = minimizer->choices.count;

    failure->choices_before = count;
    if (list == NULL || values == NULL || necessary == NULL)
        goto out;
    memcpy(list, minimizer->choices.list, count * sizeof *list);
    count = sim_shrink(&shrink, list, count);
    failure->unstable = shrink.unstable;
    failure->choices_after = count;
    failure->choices_necessary =
        sim_shrink_necessary(&shrink, list, count, necessary);
    for (uint32_t i = 0; i < count; i++)
        values[i] = list[i].value;
    values_fail(minimizer, values, count); /* makes the run to be reported */
    if (minimizer->apart != NULL) {        /* only the child has that world */
        sim_choices_replay(&minimizer->choices, values, count);
        sim_generator_begin(&minimizer->run->generator, &minimizer->choices,
                            minimizer->campaign->rules,
                            props_campaign_worlds(minimizer->campaign));
    }
out:
    free(list);
    free(values);
    free(necessary);
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

/* The failure does not repeat: the run passes now. */
static void
call_unstable(struct props_failure *failure)
{
    failure->unstable = true;
    failure->breach = (struct props_breach){
        .broken = PROPS_BIT(PROPS_D1),
        .property = PROPS_D1,
        .text = "the run failed, and does not fail when made again",
    };
    snprintf(failure->error.text, sizeof failure->error.text,
             "there is nothing to shrink");
}

static bool
failure_of(struct props_failure *failure, const struct props_campaign *campaign,
           const struct origin *origin, const char *command)
{
    const size_t list_bytes = PROPS_CHOICES_MAX * sizeof(struct sim_choice);
    struct sim_choice *list =
        mmap(NULL, list_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* shared with children */
    struct props_minimizer minimizer = {
        .campaign = campaign,
        .command = command,
        .run = props_campaign_runner(campaign),
        .failure = failure,
        .property = PROPS_NONE,
    };
    bool done = false;

    memset(failure, 0, sizeof *failure);
    if (list == MAP_FAILED || minimizer.run == NULL ||
        (campaign->subject != NULL && !props_minimizer_share(&minimizer)))
        goto out;
    sim_choices_init(&minimizer.choices, list, PROPS_CHOICES_MAX);
    begin_choices(&minimizer.choices, origin);
    failure->crashed =
        props_minimizer_dies(&minimizer, run_choices, &minimizer);
    begin_choices(&minimizer.choices, origin);
    done = true;
    if (!failure->crashed &&
        props_minimizer_try(&minimizer, run_choices, &minimizer)) {
        call_unstable(failure);
        goto out;
    }
    if (!failure->crashed) {
        minimizer.property = minimizer.run->judge.breach.property;
        /* T11 is about two readers of a trace, and needs no events. */
        if (minimizer.property != PROPS_T11)
            shrink_choices(&minimizer);
    }
    done = props_minimizer_report(&minimizer);
out:
    props_minimizer_unshare(&minimizer);
    props_run_delete(minimizer.run);
    if (list != MAP_FAILED)
        munmap(list, list_bytes);
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

void
props_failure_free(struct props_failure *failure)
{
    free(failure->text);
    failure->text = NULL;
}

/* ---- reporting ---- */

bool
props_failure_save(const struct props_failure *failure, const char *dir,
                   const char *name, char *path, size_t path_bytes,
                   struct sim_error *error)
{
    const struct props_output output = {.path = path};
    struct prof_file file;
    const char *reason;

    if (failure->text == NULL) {
        *error = failure->error;
        return false;
    }
    if (prof_file_folder(&file, dir) != PROF_OK) {
        snprintf(error->text, sizeof error->text, "%.200s: %s", dir,
                 prof_file_reason(&file));
        return false;
    }
    if ((size_t)snprintf(path, path_bytes, "%s/%s.sim", dir, name) >=
        path_bytes) {
        snprintf(error->text, sizeof error->text, "%.200s: %s", dir,
                 strerror(ENAMETOOLONG));
        return false;
    }
    reason = props_output_write(&output, failure->text, strlen(failure->text));
    if (reason != NULL)
        snprintf(error->text, sizeof error->text, "%.200s: %s", path, reason);
    return reason == NULL;
}

static void
print_breach(FILE *file, const struct props_failure *failure)
{
    const struct props_breach *breach = &failure->breach;

    if (failure->crashed && failure->signal != 0)
        fprintf(file, "the run was ended by signal %d (%s)\n", failure->signal,
                strsignal(failure->signal));
    else if (failure->crashed)
        fprintf(file, "the run ended its process\n");
    if (failure->crashed)
        return;
    fprintf(file, "%s broken: %s\n  ", props_property_id(breach->property),
            props_property_sentence(breach->property));
    if ((breach->broken & PROPS_OF_TRACES) == 0) /* those name the session */
        fprintf(file, "event %" PRIu32 ": ", breach->event + 1);
    fprintf(file, "%s\n", breach->text);
}

void
props_failure_print(FILE *file, const struct props_failure *failure)
{
    char faults[256];

    print_breach(file, failure);
    fprintf(file, "  shrunk from %" PRIu32 " events to %" PRIu32,
            failure->events_before, failure->events_after);
    if (failure->choices_before != 0)
        fprintf(file,
                " (%" PRIu32 " choices to %" PRIu32 ", %" PRIu32
                " of them non-zero, each necessary)",
                failure->choices_before, failure->choices_after,
                failure->choices_necessary);
    fprintf(file, ", in %" PRIu32 " runs\n", failure->runs);
    props_faults_name(faults, sizeof faults, failure->faults);
    fprintf(file, "  faults met: %s\n", faults);
    if (failure->unstable)
        fprintf(file, "  not stable: run again, it does not always fail (%s)\n",
                props_property_id(PROPS_D1));
    if (failure->text == NULL)
        fprintf(file, "  no scenario: %s\n", failure->error.text);
    else
        fprintf(file, "\n%s\n", failure->text);
}
