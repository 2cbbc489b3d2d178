/*
 * run.c -- `profsim run`: runs a scenario and checks its expectations, or
 * replays a recording of a real program under the simulated collector.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check_recording.h"
#include "command.h"
#include "escape.h"
#include "file_result.h"
#include "options.h"
#include "graphs.h"
#include "heap_report.h"
#include "prof/file.h"
#include "profiles.h"
#include "replay.h"
#include "run_page.h"
#include "subject_file.h"

struct words {
    const struct prof_rules *rules;
    uint64_t top;    /* sites to print */
    const char *out; /* folder for profile files, or NULL */
    bool out_each;   /* in it a folder for each file, named after it */
    bool folded;
    bool by_given;
    enum cli_measure by;
    bool lines;                    /* print the lines of allocations */
    bool verdicts;                 /* also judge the library on the recording */
    const struct subject *subject; /* of scenarios about one; NULL: none */
    const char *subject_path;
    struct cli_page_paths pages;
    struct cli_report *report;
};

/* Make the folder for the files of one run. out: folder, "" if none is
 * wanted */
static bool
prepare_folder(char *folder, size_t room, const char *path,
               const struct words *words)
{
    const char *name = strrchr(path, '/');
    struct prof_file file;
    int length;

    name = name != NULL ? name + 1 : path;
    folder[0] = '\0';
    if (words->out == NULL)
        return true;
    length = words->out_each ? snprintf(folder, room, "%s/%s", words->out, name)
                             : snprintf(folder, room, "%s", words->out);
    if ((size_t)length >= room) {
        cli_usage("run: --out: %.40s...: name too long", words->out);
        return false;
    }
    if (words->out_each && prof_file_folder(&file, words->out) != PROF_OK) {
        cli_usage("run: %s: %s", words->out, prof_file_reason(&file));
        return false;
    }
    return true;
}

/* --subject needs a scenario about a subject, --debug one about the library. */
static bool
fits_subject(const struct sim_scenario *scenario, const char *path,
             const struct words *words)
{
    if (words->subject != NULL && scenario->config.subject == NULL) {
        cli_usage("%s: --subject needs a scenario with the line "
                  "`instruments subject`",
                  path);
        return false;
    }
    if (words->lines && scenario->config.subject != NULL) {
        cli_usage("%s: --debug is about the library, not about a subject",
                  path);
        return false;
    }
    return true;
}

/* Write what the options ask for besides the verdict. in: folder, "": no
 * profiles */
static bool
write_run(struct sim_scenario *scenario, const char *path, const char *folder,
          props_set asked, const struct words *words)
{
    if (scenario->config.subject != NULL) {
        if (!cli_profiles_show_subject(folder, path, scenario))
            return false;
    } else if (folder[0] != '\0' &&
               !cli_profiles_write_scenario(folder, path, scenario)) {
        return false;
    }
    if (!cli_subject_pages(&words->pages, scenario, asked, words->subject_path,
                           path))
        return false;
    return !words->lines || cli_profiles_print_allocations(path, scenario);
}

static enum cli_exit
run_scenario(const struct sim_input *input, const char *path,
             const struct words *words, struct props_breach *breach)
{
    struct sim_error error;
    struct props_replay replay;
    struct sim_scenario *scenario = sim_scenario_parse(
        (const char *)input->bytes, input->bytes_count, path, &error);
    char folder[PATH_MAX];
    props_set asked;
    bool written;
    bool done;

    if (scenario == NULL)
        return cli_usage("%s", error.text);
    asked = cli_subject_give(scenario, words->subject);
    if (!fits_subject(scenario, path, words) ||
        !prepare_folder(folder, sizeof folder, path, words)) {
        sim_scenario_free(scenario);
        return CLI_USAGE;
    }
    done = props_replay_run(&replay, scenario, asked);
    written = !done || replay.crashed || replay.refused ||
              write_run(scenario, path, folder, asked, words);
    sim_scenario_free(scenario);
    if (!written)
        return CLI_USAGE;
    if (!done)
        return cli_usage("%s: not enough memory", path);
    if (replay.crashed)
        return cli_crash(path, replay.signal, breach);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    *breach = replay.breach;
    if (replay.as_expected) {
        sim_escape_line(stdout, "%s: ok%s%s", path,
                        breach->property == PROPS_NONE ? "" : ": breaks ",
                        breach->property == PROPS_NONE
                            ? ""
                            : props_property_id(breach->property));
        return CLI_OK;
    }
    if (replay.error.text[0] != '\0')
        sim_escape_line(stdout, "%s", replay.error.text);
    if (breach->property != PROPS_NONE)
        sim_escape_line(stdout, "%s: %s broken: %s", path,
                        props_property_id(breach->property), breach->text);
    else
        snprintf(breach->text, sizeof breach->text, "%s", replay.error.text);
    return CLI_BROKEN;
}

/* ---- recordings ---- */

/* returns: NULL if there is no memory */
static struct cli_call_tree *
tree_of(const struct cli_heap_report *report)
{
    struct cli_call_tree *tree = cli_call_tree_new();
    bool good = tree != NULL;

    for (uint32_t i = 0; i < CLI_MEASURES && good; i++)
        good = cli_call_tree_add(tree, i, report->calls, report->recording,
                                 report->heap, (enum cli_measure)i);
    if (good && cli_call_tree_finish(tree))
        return tree;
    cli_call_tree_delete(tree);
    return NULL;
}

/* Print, and write what goes into the folder ("": nothing). */
static enum cli_exit
show_heap(const struct cli_heap_report *report, const char *folder,
          const struct words *words)
{
    struct cli_call_tree *tree = NULL;
    bool good = true;

    if (words->folded || folder[0] != '\0' || cli_page_wanted(&words->pages)) {
        tree = tree_of(report);
        good = tree != NULL;
    }
    if (good && words->folded)
        good = cli_graphs_folded(stdout, tree, words->by);
    else if (good)
        good = cli_heap_report_print(report);
    if (!good) {
        cli_call_tree_delete(tree);
        return cli_usage("%s: not enough memory", report->path);
    }
    if (folder[0] != '\0')
        good = cli_profiles_write_recording(folder, report->path,
                                            report->recording, report->calls,
                                            report->heap) &&
               cli_graphs_write(folder, tree, report->path);
    if (cli_page_wanted(&words->pages))
        good = cli_run_page_write(&words->pages, report, tree) && good;
    cli_call_tree_delete(tree);
    return good ? CLI_OK : CLI_USAGE;
}

static enum cli_exit
show_recording(const struct sim_recording *recording, const char *path,
               const struct words *words)
{
    struct cli_heap_report report = {.path = path,
                                     .recording = recording,
                                     .top = words->top,
                                     .only = words->by_given,
                                     .measure = words->by};
    struct sim_live_heap heap;
    struct cli_calls *calls;
    enum cli_exit exit_code;
    char folder[PATH_MAX];
    bool good;

    if (!prepare_folder(folder, sizeof folder, path, words))
        return CLI_USAGE;
    good = sim_live_heap_open(&heap, recording, cli_show_progress);
    cli_hide_progress();
    calls = good ? cli_calls_open(recording) : NULL;
    report.heap = &heap;
    report.calls = calls;
    exit_code = calls != NULL ? show_heap(&report, folder, words)
                              : cli_usage("%s: not enough memory", path);
    cli_calls_close(calls);
    sim_live_heap_close(&heap);
    return exit_code;
}

/* Add the result of a file, unless its run has added results. */
static void
add_result(const struct words *words, const char *path, enum cli_exit exit_code,
           struct props_breach *breach)
{
    char command[CLI_SUBJECT_COMMAND_BYTES];

    if (exit_code == CLI_OK && breach->property != PROPS_NONE)
        snprintf(breach->text, sizeof breach->text, "broken, as it must be");
    cli_subject_command(command, sizeof command, "run", words->subject_path);
    cli_file_result(words->report, "files", path, exit_code, breach, command);
}

static enum cli_exit
run_recording(struct sim_input *input, const char *path,
              const struct words *words)
{
    struct props_breach breach = cli_no_breach();
    struct sim_recording *recording = cli_take_recording(input, path);
    enum cli_exit exit_code = CLI_USAGE;

    if (recording != NULL)
        exit_code = show_recording(recording, path, words);
    if (exit_code != CLI_OK) {
        add_result(words, path, exit_code, &breach);
    } else if (words->verdicts) {
        putchar('\n');
        exit_code = cli_check_recording(recording, path, words->rules,
                                        PROPS_ALL, words->report);
    } else {
        cli_result_text(
            words->report,
            &cli_report_add(words->report, "files", path, CLI_VERDICT_NOT_TRIED)
                 ->text,
            "its heap was shown; --verdicts judges the library on it");
    }
    sim_recording_close(recording);
    return exit_code;
}

/* ---- the command ---- */

/* Run a scenario or a recording, whichever the content is. */
static enum cli_exit
run_input(struct sim_input *input, const char *path, const struct words *words)
{
    struct props_breach breach = cli_no_breach();
    enum cli_exit exit_code;

    switch (input->kind) {
    case SIM_INPUT_RECORDING:
        if (words->subject == NULL)
            return run_recording(input, path, words);
        exit_code = cli_usage("%s: --subject is for scenarios, and this is a "
                              "recording",
                              path);
        break;
    case SIM_INPUT_SCENARIO:
        exit_code = run_scenario(input, path, words, &breach);
        break;
    case SIM_INPUT_MUTANTS:
    case SIM_INPUT_RESULT:
    case SIM_INPUT_OTHER:
    default:
        exit_code = cli_usage("%s: neither a scenario nor a recording%s", path,
                              input->bytes_count == 0 ? ": it is empty" : "");
    }
    add_result(words, path, exit_code, &breach);
    return exit_code;
}

static enum cli_exit
run_file(const char *path, const struct words *words)
{
    struct props_breach breach = cli_no_breach();
    struct sim_input input;
    enum cli_exit exit_code;

    if (!sim_input_read(&input, path)) {
        cli_usage("%s: %s", path, input.reason);
        add_result(words, path, CLI_USAGE, &breach);
        return CLI_USAGE;
    }
    exit_code = run_input(&input, path, words);
    sim_input_free(&input);
    return exit_code;
}

enum { RULES = 1, TOP, OUT, VERDICTS, BY, FOLDED, DEBUG, SUBJECT };

static const struct cli_option table[] = {
    {TOP, 0, "top", "N", "sites and threads to print (10)"},
    {BY, 0, "by", "WHAT",
     "show the sites of one kind only (recordings): peak (in\nuse at the "
     "peak), exit (never freed), allocs (all\nallocated)"},
    {FOLDED, 0, "folded", NULL,
     "print collapsed stacks with bytes (recordings; of the\npeak, unless "
     "--by says otherwise), and nothing else"},
    {OUT, 0, "out", "DIR",
     "write profiles: heap, allocs, block, mutex, as .pb.gz\nand .txt. "
     "Scenarios with tasks also: goroutine,\nthreadcreate, profile (CPU), "
     "goroutine-stacks.txt.\nTraces: trace.out, trace-2.out ... Recordings "
     "also:\npeak, exit; graphs peak.svg, exit.svg, "
     "allocs.svg;\nheap.speedscope.json, peak.folded"},
    {DEBUG, 0, "debug", "WHAT",
     "alloc: print a line of each allocation, free and\ncollection, with the "
     "task that did it (scenarios)"},
    {VERDICTS, 0, "verdicts", NULL,
     "also judge the library by replaying the recording, as\n`profsim check "
     "FILE` does"},
    {RULES, 0, "rules", "NAME", "the library's rule set (exact)"},
    {SUBJECT, 0, "subject", "FILE",
     "the profiler that scenarios are about (docs/subjects.md):\nprint what "
     "it shows at the end; --out then writes\nheap.pb.gz and, of waits, "
     "block.pb.gz, mutex.pb.gz"},
    CLI_PAGE_OPTIONS,
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "run",
    .words = "[OPTION...] FILE...",
    .about = "Run a scenario and compare it with its `expect` lines, or "
             "show the heap of a\nrecorded program: its peak, what it never "
             "freed and what it allocated, by site,\ntime, thread and size. "
             "The first bytes of FILE tell which it is. It may be a\npipe; - "
             "is standard input.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static bool
take(struct words *words, int id, const char *value)
{
    switch (id) {
    case SUBJECT:
        return cli_subject_take(&words->subject, &words->subject_path, value);
    case RULES:
        return (words->rules = cli_rules(value)) != NULL;
    case TOP:
        return cli_number("--top", value, 1, UINT32_MAX, &words->top);
    case BY:
        words->by_given = true;
        return cli_measure_find(value, &words->by) ||
               cli_complain("--by takes peak, exit or allocs, not '%s'", value);
    case DEBUG:
        words->lines = true;
        return strcmp(value, "alloc") == 0 ||
               cli_complain("--debug takes alloc, not '%s'", value);
    case FOLDED:
        return words->folded = true;
    case VERDICTS:
        return words->verdicts = true;
    case CLI_PAGE_HTML:
    case CLI_PAGE_DATA:
        return cli_page_take(&words->pages, id, value);
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(words->report, id, value);
    default:
        words->out = value;
        return *value != '\0' ||
               cli_complain("--out needs the name of a folder");
    }
}

enum cli_exit
cli_run(int argc, char **argv)
{
    struct cli_report report;
    struct words words = {
        .rules = &prof_rules_exact, .top = 10, .report = &report};
    enum cli_exit worst = CLI_OK;
    struct cli_options options;
    int files = 0;
    int id;

    cli_report_begin(&report, argc, argv);
    cli_options_begin(&options, &syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            argv[++files] = argv[options.index - 1];
        else if (!take(&words, id, options.value))
            return cli_report_drop(&report, CLI_USAGE);
    }
    if (options.ended)
        return cli_report_drop(&report, options.exit_code);
    if (files == 0)
        return cli_report_drop(&report,
                               cli_options_missing(&options, "a FILE"));
    if (files > 1 && cli_page_wanted(&words.pages))
        return cli_report_drop(&report,
                               cli_usage("--html and --data take one file"));
    words.out_each = files > 1;
    report.inputs = &argv[1];
    report.inputs_count = files;
    for (int i = 1; i <= files; i++)
        worst = cli_exit_worse(worst, run_file(argv[i], &words));
    return cli_report_end(&report, worst);
}
