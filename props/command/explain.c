/*
 * explain.c -- `profsim explain`: prints a scenario event by event: how each
 * event changed the profile, what was read, what the oracle expects, and
 * whether the failure needs the event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/page/failure_page.h"
#include "props/page/buckets.h"
#include "props/command/commands.h"
#include "common/escape.h"
#include "props/judge/faults.h"
#include "props/command/file_result.h"
#include "props/command/heap_plot.h"
#include "sim/instruments/instrument_subject.h"
#include "props/page/needed.h"
#include "common/command/options.h"
#include "props/judge/replay.h"
#include "props/judge/run.h"
#include "sim/scenario/scenario.h"
#include "props/command/subject_file.h"
#include "common/command/color.h"

struct explanation {
    const struct sim_scenario *scenario;
    props_set requested;
    struct props_run *run;
    struct props_breach breach; /* of the whole scenario */
    bool *needed;               /* by event; NULL: nothing fails */
    struct cli_heap_plot *plot;
};

static void
find_needed(struct explanation *explanation)
{
    const uint32_t count = explanation->scenario->events_count;

    if (explanation->breach.property == PROPS_NONE)
        return;
    explanation->needed = calloc(count, sizeof *explanation->needed);
    if (explanation->needed != NULL &&
        !cli_needed_find(explanation->run, explanation->scenario,
                         explanation->requested, explanation->breach.property,
                         explanation->needed)) {
        free(explanation->needed);
        explanation->needed = NULL;
    }
}

/* ---- telling ---- */

static void
report_phase(struct props_run *run)
{
    struct prof *prof = sim_world_prof(run->judge.world);
    const struct prof_heap_phase phase = prof_heap_phase(prof);
    const struct prof_heap_totals totals = prof_heap_totals(prof);

    printf(
        "          cycle %" PRIu32 "%s; published %" PRIu64
        " allocations, %" PRIu64 " frees; pending %" PRIu64 ", %" PRIu64 "\n",
        phase.cycle, phase.flushed ? " flushed" : "", totals.allocs_published,
        totals.frees_published, totals.allocs_pending, totals.frees_pending);
}

/* Where processors take tasks: print what each task does, and whether there is
 * a trace or a collection. */
static void
report_tasks(const struct sim_world *world)
{
    printf("          ");
    for (uint32_t p = 0; p < sim_world_procs(world); p++) {
        const uint32_t task = sim_world_proc(world, p)->task;

        if (task != 0)
            printf("t%" PRIu32 " %s p%" PRIu32 "; ", task,
                   sim_world_runs(world, p) ? "runs on" : "calls the system on",
                   p);
    }
    for (uint32_t id = 1; id <= sim_world_tasks(world); id++) {
        const char *text = sim_task_text(sim_world_task(world, id));

        if (text != NULL)
            printf("t%" PRIu32 " %s; ", id, text);
    }
    printf("%stracing%s\n", sim_world_traces(world) ? "" : "not ",
           sim_world_gc(world)->marking ? ", collecting" : "");
}

static const struct prof_heap_record *
record_of(const struct sim_answer *answer, const struct model_bucket *bucket)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct prof_heap_record *r = &answer->heap[i];

        if (r->size_bytes == bucket->size_bytes && r->depth == bucket->depth &&
            (r->depth == 0 || memcmp(r->stack, bucket->frames,
                                     r->depth * sizeof *r->stack) == 0))
            return r;
    }
    return NULL;
}

static void
report_numbers(enum cli_color color, char sign, const char *stack,
               uint64_t size_bytes, uint64_t allocs, uint64_t frees,
               const char *note)
{
    printf("        %s%c %s %" PRIu64 " bytes: %" PRIu64 " allocated, %" PRIu64
           " freed%s%s\n",
           cli_color(color), sign, stack, size_bytes, allocs, frees, note,
           cli_color(CLI_TONE_PLAIN));
}

/* Print a bucket of the heap that the snapshot must equal, beside what it
 * shows. */
static void
report_bucket(const struct explanation *explanation,
              const struct model_bucket *bucket, uint32_t termination)
{
    const struct sim_answer *answer =
        sim_world_answer(explanation->run->judge.world);
    const struct prof_heap_record *r = record_of(answer, bucket);
    const char *stack =
        cli_stack_name(explanation->scenario, bucket->frames, bucket->depth);
    const bool may_lack = answer->kind == SIM_EV_SNAPSHOT &&
                          bucket->allocs_then == bucket->frees_then;
    char note[64];

    if (r == NULL && may_lack)
        return;
    if (r != NULL && r->allocs == bucket->allocs_then &&
        r->frees == bucket->frees_then) {
        report_numbers(CLI_TONE_PLAIN, ' ', stack, r->size_bytes, r->allocs,
                       r->frees, "");
        return;
    }
    snprintf(note, sizeof note, "   at mark termination %" PRIu32, termination);
    report_numbers(CLI_TONE_GOOD, '-', stack, bucket->size_bytes,
                   bucket->allocs_then, bucket->frees_then, note);
    if (r == NULL)
        printf("        %s+ not shown%s\n", cli_color(CLI_TONE_BAD),
               cli_color(CLI_TONE_PLAIN));
    else
        report_numbers(CLI_TONE_BAD, '+', stack, r->size_bytes, r->allocs,
                       r->frees, "   shown");
}

/* Print how a snapshot differs from the heap that it had to equal. */
static void
report_snapshot(const struct explanation *explanation)
{
    const struct props_judge *judge = &explanation->run->judge;
    const struct sim_answer *answer = sim_world_answer(judge->world);
    uint32_t buckets_count;
    uint32_t k = 0;
    const bool known = model_heap_at(judge->model, &k);
    const struct model_bucket *buckets =
        model_heap_buckets(judge->model, &buckets_count);

    printf("          %zu bucket%s: %s\n", answer->count,
           answer->count == 1 ? "" : "s", prof_status_text(answer->status));
    for (uint32_t i = 0;
         known && answer->status == PROF_OK && i < buckets_count; i++) {
        if (buckets[i].kind == MODEL_HEAP)
            report_bucket(explanation, &buckets[i], k);
    }
    for (size_t i = 0; !known && answer->status == PROF_OK && i < answer->count;
         i++) {
        const struct prof_heap_record *r = &answer->heap[i];

        report_numbers(
            CLI_TONE_PLAIN, ' ',
            cli_stack_name(explanation->scenario, r->stack, r->depth),
            r->size_bytes, r->allocs, r->frees, "");
    }
    if (!known)
        puts("          a fault has not healed: no heap to compare with");
}

/* Print what a subject showed. */
static void
report_subject(const struct explanation *explanation)
{
    const struct sim_subject_view *view =
        sim_subject_view(explanation->run->judge.world, 0);

    printf("          %zu records\n", view->count);
    for (size_t i = 0; i < view->count; i++) {
        const struct sim_subject_record *r = &view->records[i];

        printf("          shows  %s: %.15g live objects of %.15g bytes",
               r->site == SIM_SUBJECT_NOWHERE
                   ? "?"
                   : explanation->scenario->stack_names[r->site],
               r->live.objects, r->live.bytes);
        if (r->address != 0)
            printf(", at 0x%" PRIx64, r->address);
        putchar('\n');
    }
}

/* in: before, the coverage without the event */
static void
report_faults(const struct explanation *explanation,
              const struct props_coverage *before)
{
    const uint64_t met = props_faults_met(before, &explanation->run->cover);

    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if ((met >> i & 1) != 0)
            printf("          fault %s: %s\n",
                   sim_fault_name((enum sim_fault)i),
                   sim_fault_sentence((enum sim_fault)i));
    }
}

static void
report_event(struct explanation *explanation, uint32_t index)
{
    const bool is_needed =
        explanation->needed != NULL && explanation->needed[index];
    const enum cli_color color = is_needed                     ? CLI_TONE_STRONG
                                 : explanation->needed != NULL ? CLI_TONE_SOFT
                                                               : CLI_TONE_PLAIN;
    const enum sim_event_kind kind = explanation->scenario->events[index].kind;
    const enum sim_event_kind read =
        sim_world_answer(explanation->run->judge.world)->kind;

    printf("%s%4" PRIu32 " %c ", cli_color(color), index + 1,
           is_needed ? '*' : ' ');
    sim_scenario_print_event(stdout, explanation->scenario,
                             &explanation->scenario->events[index]);
    fputs(cli_color(CLI_TONE_PLAIN), stdout);
    if (explanation->run->has_subject && kind == SIM_EV_SNAPSHOT)
        report_subject(explanation);
    else if (read == SIM_EV_SNAPSHOT || read == SIM_EV_SNAPSHOT_ALL)
        report_snapshot(explanation);
    if (explanation->run->has_profiles)
        report_phase(explanation->run);
    if (explanation->scenario->config.scheduled)
        report_tasks(explanation->run->judge.world);
}

static void
report_breach(const struct props_breach *breach)
{
    printf("\n%s%s broken%s: %s\n  ", cli_color(CLI_TONE_BAD),
           props_property_id(breach->property), cli_color(CLI_TONE_PLAIN),
           props_property_sentence(breach->property));
    if ((breach->broken & PROPS_OF_TRACES) == 0) /* those name a session */
        printf("event %" PRIu32 ": ", breach->event + 1);
    printf("%s\n", breach->text);
}

static enum cli_exit
report(struct explanation *explanation)
{
    const struct sim_scenario *scenario = explanation->scenario;
    const struct subject *const subject = scenario->config.subject;
    const char *refused = props_run_begin(explanation->run, &scenario->config,
                                          explanation->requested);

    if (refused != NULL)
        return cli_usage("%s: %s", scenario->name, refused);
    sim_escape_line(
        stdout, "%s: %s %s, %" PRIu32 " events%s", scenario->name,
        subject != NULL ? "subject" : "rules",
        subject != NULL ? subject->name : scenario->config.rules->name,
        scenario->events_count,
        explanation->needed != NULL ? "; * without it the failure disappears"
                                    : "");
    putchar('\n');
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        const struct props_coverage before = explanation->run->cover;
        const bool holds =
            props_run_event(explanation->run, &scenario->events[i], &refused);

        if (refused != NULL)
            return cli_usage("%s: event %" PRIu32 ": %s", scenario->name, i + 1,
                             refused);
        report_event(explanation, i);
        report_faults(explanation, &before);
        cli_heap_plot_note(explanation->plot, explanation->run);
        if (!holds)
            break;
    }
    if (explanation->run->has_profiles)
        cli_heap_plot_print(explanation->plot);
    if (explanation->breach.property == PROPS_NONE)
        printf("\n%severy property holds%s\n", cli_color(CLI_TONE_GOOD),
               cli_color(CLI_TONE_PLAIN));
    else
        report_breach(&explanation->breach);
    return cli_exit_of(explanation->breach.property);
}

static enum cli_exit
explain(const struct sim_scenario *scenario, props_set requested)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    struct explanation explanation = {.scenario = scenario,
                                      .requested = requested,
                                      .run = props_run_new(&limits),
                                      .plot = cli_heap_plot_new(scenario),
                                      .breach = {.property = PROPS_NONE}};
    enum cli_exit exit_code;

    if (explanation.run == NULL || explanation.plot == NULL) {
        props_run_delete(explanation.run);
        cli_heap_plot_delete(explanation.plot);
        return cli_usage("%s: not enough memory", scenario->name);
    }
    explanation.breach =
        cli_needed_try(explanation.run, scenario, requested, CLI_NEEDED_ALL);
    find_needed(&explanation);
    exit_code = report(&explanation);
    free(explanation.needed);
    cli_heap_plot_delete(explanation.plot);
    props_run_delete(explanation.run);
    return exit_code;
}

static const struct cli_syntax syntax = {
    .command = "explain",
    .words = "[OPTION...] FILE.sim",
    .about = "Show a scenario event by event: the cycle, what is published "
             "and pending,\nwhat a snapshot shows and which heap it must "
             "equal; and which events a\nfailure needs.\n",
    .options = cli_subject_color_options,
    .exits = CLI_EXIT_HELP,
};

enum cli_exit
cli_explain(int argc, char **argv)
{
    struct cli_options words;
    const struct subject *subject;
    const char *subject_path;
    struct cli_page_paths pages;
    int count;
    props_set requested;
    struct sim_error error;
    struct sim_scenario *scenario;
    enum cli_exit exit_code;

    cli_options_begin(&words, &syntax, argc, argv);
    if (!cli_subject_words(&words, argv, &count, &subject, &subject_path,
                           &pages))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    if (count > 1)
        return cli_usage("explain: takes one file; '%s' is one more", argv[2]);
    scenario = sim_scenario_read(argv[1], &error);
    if (scenario == NULL)
        return cli_usage("%s", error.text);
    requested =
        props_replay_requested(scenario, cli_subject_give(scenario, subject));
    exit_code = explain(scenario, requested);
    if (!cli_subject_pages(&pages, scenario, requested, subject_path, argv[1]))
        exit_code = CLI_USAGE;
    sim_scenario_free(scenario);
    return exit_code;
}
