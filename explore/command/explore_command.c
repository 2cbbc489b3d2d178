/*
 * explore_command.c -- `profsim explore`: every ordering of small programs.
 *
 * One line per kernel; a failure is shrunk, drawn, and shown with the command
 * that replays it.
 */
#include "explore/command/explore_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/command/complaint.h"
#include "explore/command/explore_mutants.h"
#include "explore/command/explore_shard.h"
#include "explore/command/explore_words.h"
#include "common/json.h"
#include "explore/command/kernel_groups.h"
#include "common/page/page.h"
#include "prof/version.h"
#include "explore/command/progress.h"
#include "explore/engine/kernel_entry.h"
#include "common/report/report.h"

enum { REPLAY_MAX = 1 << 16, RUNS_RANDOM = 100000 };

/* ---- One kernel ---- */

static enum cli_verdict
verdict_of(const struct cli_explore_words *w, const struct sim_run_options *run,
           const struct sim_exhaust_result *r)
{
    if (r->verdict == SIM_VERDICT_NONDETERMINISTIC)
        return CLI_VERDICT_NONDETERMINISTIC;
    if (r->verdict == SIM_VERDICT_REFUSED)
        return CLI_VERDICT_WRONG_INPUT;
    if (r->failures > 0) {
        const enum sim_failure_kind kind = r->first_failure.failure.kind;

        if (kind == SIM_FAIL_CRASH)
            return CLI_VERDICT_CRASHED;
        if (kind == SIM_FAIL_LIMIT)
            return CLI_VERDICT_INCOMPLETE;
        return kind == SIM_FAIL_DEADLOCK || kind == SIM_FAIL_LIVELOCK
                   ? CLI_VERDICT_NO_END
                   : CLI_VERDICT_BROKEN;
    }
    if (!w->exhaustive)
        return CLI_VERDICT_SAMPLED;
    if (r->verdict == SIM_VERDICT_UNFINISHED || r->verdict == SIM_VERDICT_EMPTY)
        return CLI_VERDICT_INCOMPLETE;
    return w->shard.count > 1 || run->bounded || r->bounded > 0
               ? CLI_VERDICT_BOUNDED
               : CLI_VERDICT_HOLDS;
}

static const char *
verdict_text(const struct cli_explore_words *w,
             const struct sim_run_options *run,
             const struct sim_exhaust_result *r)
{
    static char text[40];

    switch (r->verdict) {
    case SIM_VERDICT_PASS:
        if (w->shard.count > 1)
            return "no failure in this shard";
        if (!run->bounded)
            return r->bounded == 0           ? "holds"
                   : cli_only_chose_values() ? "holds for the values tried"
                                             : "holds, waits to a bound";
        snprintf(text, sizeof text, "holds to %" PRIu32 " preemptions",
                 run->preemptions_max);
        return text;
    case SIM_VERDICT_FAIL:
        if (r->first_failure.failure.kind == SIM_FAIL_LIMIT)
            return "not finished";
        return sim_failure_kind_text(r->first_failure.failure.kind);
    case SIM_VERDICT_NONDETERMINISTIC:
        return "not deterministic";
    case SIM_VERDICT_UNFINISHED:
        return w->exhaustive ? "not finished" : "no failure";
    case SIM_VERDICT_EMPTY:
        return "no run comes to its end";
    case SIM_VERDICT_REFUSED:
        return "refused";
    }
    return "?";
}

/* Print why the verdict is not a stronger one, or what led to it. */
static void
print_remarks(const struct cli_explore_words *w,
              const struct sim_exhaust_result *r)
{
    if (r->difference[0] != '\0')
        printf("\n  %s\n\n", r->difference);
    if (r->trouble[0] != '\0')
        printf("\n  %s\n\n", r->trouble);
    if (r->failures > 0 && w->portfolio)
        printf("\n  found by %s\n", r->found_by_sampling
                                        ? sim_strategy_text(r->options.strategy)
                                        : "exhaustive search");
}

static uint64_t
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Begin the data of a page, if one is wanted. returns: the stream for it; NULL:
 * no page */
static FILE *
begin_page(const struct cli_explore_words *w, struct cli_page *page)
{
    if (!cli_page_wanted(&w->pages))
        return NULL;
    cli_page_begin(page);
    if (page->file != NULL)
        fprintf(page->file,
                "{\"format\":\"profsim failure\",\"version\":1,"
                "\"profsim\":\"%s\",\n",
                PROF_VERSION);
    return page->file;
}

/* returns: false, and a complaint, if it is not written */
static bool
end_page(const struct cli_explore_words *w, struct cli_page *page,
         const char *command)
{
    if (!cli_page_wanted(&w->pages))
        return true;
    if (page->file != NULL) {
        fputs(",\n\"command\":", page->file);
        sim_json_string(page->file, command);
        fputs("}\n", page->file);
    }
    return cli_page_end(page, CLI_PAGE_FAILURE, &w->pages, NULL);
}

/* No failure was found, so a page of an earlier one must not stay. returns: the
 * worse of exit_code and CLI_USAGE, after a complaint, if one cannot be
 * removed */
static enum cli_exit
no_page(const struct cli_explore_words *w, const char *name,
        enum cli_exit exit_code)
{
    if (!cli_page_wanted(&w->pages))
        return exit_code;
    printf("%s: no failure, so no page\n", name);
    return cli_page_clear(&w->pages) ? exit_code : CLI_USAGE;
}

/* in: result, whose replay command is set, too */
static void
print_replay(const struct cli_explore_words *w, const char *name,
             const struct sim_exhaust_result *r, struct cli_result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = cli_need(open_memstream(&text, &bytes));

    fputs(cli_replay_prefix(name), file);
    if (!w->exhaustive || r->found_by_sampling)
        fprintf(file, "--strategy %s ", sim_strategy_text(r->options.strategy));
    if (r->options.bounded)
        fprintf(file, "--bound %" PRIu32 " ", r->options.preemptions_max);
    if (w->run.unroll != 0)
        fprintf(file, "--unroll %" PRIu32 " ", w->run.unroll);
    if (w->run.spurious_max != 0)
        fprintf(file, "--spurious %" PRIu32 " ", w->run.spurious_max);
    fprintf(file, "--replay %s", r->options.reduced ? "g" : "");
    for (uint32_t i = 0; i < r->choices_count; i++)
        fprintf(file, "%s%" PRIu32, i == 0 ? "" : ",", r->choices[i].value);
    if (r->choices_count == 0)
        fprintf(file, "0");
    fputs(cli_replay_suffix(), file);
    cli_need(fclose(file) == 0 ? text : NULL);
    printf("\n  replay: %s\n\n", text);
    cli_result_replay(w->report, result, text, NULL);
    free(text);
}

static struct cli_result *
add_result(const struct cli_explore_words *w,
           const struct sim_kernel_entry *entry,
           const struct sim_run_options *run,
           const struct sim_exhaust_result *r)
{
    const enum cli_verdict verdict = verdict_of(w, run, r);
    struct cli_result *result =
        cli_report_add(w->report, "kernels", entry->name, verdict);
    char **text = &result->text;

    cli_result_text(w->report, &result->about, "%s", entry->make()->about);
    cli_result_count(result, "runs", r->runs);
    cli_result_count(result, w->exhaustive ? "graphs" : "states",
                     w->exhaustive ? r->graphs : r->states);
    if (w->exhaustive)
        cli_result_count(result, "states", r->states);
    if (r->difference[0] != '\0')
        cli_result_text(w->report, text, "%s", r->difference);
    else if (r->failures > 0)
        cli_result_text(w->report, text, "%s: %s",
                        sim_failure_kind_text(r->first_failure.failure.kind),
                        r->first_failure.failure.text);
    else if (r->trouble[0] != '\0')
        cli_result_text(w->report, text, "%s", r->trouble);
    else if (verdict == CLI_VERDICT_BOUNDED)
        cli_result_text(w->report, text, "%s", verdict_text(w, run, r));
    else if (verdict == CLI_VERDICT_SAMPLED)
        cli_result_text(w->report, text,
                        "%" PRIu64 " runs, %s, from seed %" PRIu64, r->runs,
                        sim_strategy_text(run->strategy), w->seed);
    else if (verdict == CLI_VERDICT_INCOMPLETE)
        cli_result_text(w->report, text,
                        "not every ordering within %" PRIu64 " runs", r->runs);
    return result;
}

/* Shrink a failure, and report it in text and on a page. */
static enum cli_exit
report_failure(const struct cli_explore_words *w,
               const struct sim_kernel_entry *entry,
               const struct sim_run_options *run, struct sim_exhaust_result *r)
{
    struct cli_page page;
    struct cli_result *result;

    sim_explore_report(stdout, begin_page(w, &page), entry->make(), r);
    result = add_result(w, entry, run, r);
    print_replay(w, entry->name, r, result);
    if (!end_page(w, &page, result->replay))
        return CLI_USAGE;
    return cli_verdict_exit(result->verdict);
}

static void
print_counts(const char *name, uint64_t runs, uint64_t graphs, uint64_t states)
{
    printf("%-20s %10" PRIu64 " %-4s %9" PRIu64 " %-6s %9" PRIu64 " %-6s", name,
           runs, runs == 1 ? "run" : "runs", graphs,
           graphs == 1 ? "graph" : "graphs", states,
           states == 1 ? "state" : "states");
}

static enum cli_exit
explore_one(const struct cli_explore_words *w,
            const struct sim_kernel_entry *entry)
{
    const struct sim_kernel *kernel = entry->make();
    struct cli_progress progress = {.name = entry->name};
    struct sim_exhaust_options all = {
        .run = w->run,
        .recheck_of_100 = 1,
        .runs_max = w->runs,
        .portfolio = w->portfolio,
        .by_schedules = w->schedules,
        .seed = w->seed + ((uint64_t)w->shard.index << 32), /* random runs */
        .jobs = (uint32_t)w->jobs,
        .time_ms = w->time_s * 1000,
        .checkpoint = w->checkpoint,
        .shard = w->shard.index,
        .shards = w->shard.count,
        .shards_whole = w->shards_whole,
        .progress = cli_progress_show,
        .progress_context = &progress,
    };
    const struct sim_sample_options some = {
        .run = w->run,
        .runs = w->runs != 0     ? w->runs
                : w->time_s != 0 ? UINT64_MAX
                                 : RUNS_RANDOM,
        .time_ms = w->time_s * 1000,
        .seed = w->seed,
    };
    const uint64_t begin_us = now_us();
    struct sim_exhaust_result r;
    enum cli_exit exit_code;
    uint64_t took_us;

    if (!w->bound_given && entry->bounded) {
        all.run.bounded = true;
        all.run.preemptions_max = entry->preemptions_max;
    }
    if (w->exhaustive)
        sim_explore_exhaust(kernel, &all, &r);
    else
        sim_explore_sample(kernel, &some, &r);
    took_us = now_us() - begin_us;
    cli_progress_hide(&progress);
    print_counts(entry->name, r.runs, w->exhaustive ? r.graphs : r.states,
                 w->exhaustive ? r.states : 0);
    printf(" %6" PRIu64 ".%03" PRIu64 " s  %s\n", took_us / 1000000,
           took_us / 1000 % 1000, verdict_text(w, &all.run, &r));
    print_remarks(w, &r);
    exit_code = cli_verdict_exit(verdict_of(w, &all.run, &r));
    if (r.failures > 0) {
        putchar('\n');
        exit_code =
            cli_exit_worse(exit_code, report_failure(w, entry, &all.run, &r));
    } else {
        add_result(w, entry, &all.run, &r);
        exit_code = no_page(w, entry->name, exit_code);
    }
    exit_code = cli_explore_shard_end(w, &r, took_us / 1000, exit_code);
    free(r.choices);
    return exit_code;
}

/* ---- Replay ---- */

/* Complain that the run has other questions than the list has answers. */
static enum cli_exit
refuse_list(const char *name, const struct sim_choices *choices)
{
    char place[64] = "";

    if (choices->misaligned && choices->misaligned_at < choices->given_count)
        snprintf(place, sizeof place, ": choice %" PRIu32 " cannot be %" PRIu32,
                 choices->misaligned_at,
                 choices->given[choices->misaligned_at]);
    return cli_usage("--replay: the list does not match the choices that %s "
                     "makes%s; have it or the options changed?",
                     name, place);
}

static uint32_t
parse_list(const char *text, uint32_t *values)
{
    uint32_t count = 0;

    for (;;) {
        char *end;
        const unsigned long value = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || value > UINT32_MAX ||
            count == REPLAY_MAX)
            return UINT32_MAX;
        values[count++] = (uint32_t)value;
        if (*end == '\0')
            return count;
        if (*end != ',')
            return UINT32_MAX;
        text = end + 1;
    }
}

static enum cli_exit
replay_one(const struct cli_explore_words *w,
           const struct sim_kernel_entry *entry)
{
    static struct sim_choice list[1 << 16];
    static uint32_t values[REPLAY_MAX];
    const bool reduced = w->replay[0] == 'g';
    const uint32_t count = parse_list(w->replay + reduced, values);
    const struct sim_kernel *kernel = entry->make();
    struct sim_exhaust_result r = {.options = w->run, .runs = 1};
    struct sim_choices choices;
    struct cli_result *result;
    enum cli_exit exit_code;
    enum sim_end end;

    if (count == UINT32_MAX)
        return cli_usage("--replay takes up to %d numbers with commas, not "
                         "'%.40s'",
                         REPLAY_MAX, w->replay);
    r.options.drop_waiters = w->exhaustive;
    r.options.reduced = reduced;
    sim_choices_init(&choices, list, sizeof list / sizeof list[0]);
    sim_choices_replay(&choices, values, count);
    end = sim_explore_run(kernel, &r.options, &choices, &r.first_failure);
    if (choices.misaligned)
        return refuse_list(entry->name, &choices);
    if (end != SIM_END_FAILED) {
        if (choices.given_used < choices.given_count)
            return refuse_list(entry->name, &choices);
        printf("%s: the run passes\n", entry->name);
        result = cli_report_add(w->report, "kernels", entry->name,
                                CLI_VERDICT_SAMPLED);
        cli_result_text(w->report, &result->text, "one run, by its choices");
        return no_page(w, entry->name, CLI_OK);
    }
    r.failures = 1;
    r.verdict = SIM_VERDICT_FAIL;
    r.choices_count = choices.count;
    r.choices = cli_need(malloc((choices.count + 1) * sizeof *r.choices));
    memcpy(r.choices, list, choices.count * sizeof *r.choices);
    exit_code = report_failure(w, entry, &w->run, &r);
    free(r.choices);
    return exit_code;
}

/* ---- All of them ---- */

static enum cli_exit
handle(const struct cli_explore_words *w, const struct sim_kernel_entry *entry)
{
    if (w->list) {
        printf("%-20s %s\n", entry->name, entry->make()->about);
        return CLI_OK;
    }
    if (w->replay != NULL)
        return replay_one(w, entry);
    return explore_one(w, entry);
}

static bool
is_intended(const struct cli_explore_words *w,
            const struct sim_kernel_entry *entry)
{
    return w->kernel == NULL || strcmp(w->kernel, entry->name) == 0;
}

/* Print the totals, and how many kernels that passed were not explored
 * completely. */
static void
print_totals(const struct cli_explore_words *w, uint32_t passed,
             uint32_t failed)
{
    const uint64_t bounded =
        cli_report_count(w->report, NULL, CLI_VERDICT_BOUNDED);
    const uint64_t sampled =
        cli_report_count(w->report, NULL, CLI_VERDICT_SAMPLED);

    if (bounded > 0)
        printf("explore: %" PRIu64 " of them up to a bound\n", bounded);
    if (sampled > 0)
        printf("explore: %" PRIu64 " of them by random runs\n", sampled);
    printf("explore: %" PRIu32 " passed, %" PRIu32 " failed\n", passed, failed);
}

static enum cli_exit
explore(const struct cli_explore_words *w)
{
    enum cli_exit worst = CLI_OK;
    uint32_t passed = 0;
    uint32_t failed = 0;

    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        for (const struct sim_kernel_entry *e = cli_kernel_groups[g];
             e->name != NULL; e++) {
            enum cli_exit code;

            if (!is_intended(w, e))
                continue;
            code = handle(w, e);
            fflush(stdout); /* the next kernel may take long */
            passed += code == CLI_OK;
            failed += code != CLI_OK;
            worst = cli_exit_worse(worst, code);
        }
    }
    if (passed + failed == 0)
        return cli_no_such_kernel(w->kernel);
    if (w->kernel == NULL && !w->list)
        print_totals(w, passed, failed);
    return worst;
}

enum cli_exit
cli_explore(int argc, char **argv)
{
    struct cli_report report;
    struct cli_explore_words w = {
        .exhaustive = true, .portfolio = true, .seed = 1, .report = &report};
    char *const *typed = argv;
    int typed_count = argc;
    enum cli_exit exit_code;

    cli_words_typed(&typed_count, &typed);
    cli_report_begin(&report, typed_count, typed);
    if (!cli_explore_parse(&w, argc, argv, &exit_code))
        return cli_report_drop(&report, exit_code);
    if (w.mutants)
        return cli_report_end(&report,
                              cli_explore_mutants(&w, typed_count, typed));
    if (w.result != NULL && !cli_explore_shard_begin(&w, typed_count, typed))
        return cli_report_drop(&report, CLI_USAGE);
    return cli_report_end(&report, explore(&w));
}
