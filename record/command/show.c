/*
 * show.c -- `profsim show`: the heap of a recorded program, as it was.
 */
#include <limits.h>
#include <stdio.h>

#include "common/command/complaint.h"
#include "common/command/files.h"
#include "record/report/graphs.h"
#include "record/report/heap_report.h"
#include "common/command/options.h"
#include "common/profiles.h"
#include "record/report/profiles_recording.h"
#include "record/command/record.h"
#include "common/command/recording_input.h"
#include "record/report/run_page.h"

struct words {
    uint64_t top; /* sites to print */
    bool folded;
    bool by_given;
    enum cli_measure by;
    struct cli_files files;
};

static struct cli_call_tree *
tree_of(const struct cli_heap_report *report)
{
    struct cli_call_tree *tree = cli_call_tree_new();

    for (uint32_t i = 0; i < CLI_MEASURES; i++)
        cli_call_tree_add(tree, i, report->calls, report->recording,
                          report->heap, (enum cli_measure)i);
    cli_call_tree_finish(tree);
    return tree;
}

/* Print, and write what goes into the folder ("": nothing). */
static enum cli_exit
show_heap(const struct cli_heap_report *report, const char *folder,
          const struct words *words)
{
    struct cli_call_tree *tree = NULL;
    bool good = true;

    if (words->folded || folder[0] != '\0' ||
        cli_page_wanted(&words->files.pages))
        tree = tree_of(report);
    if (words->folded)
        cli_graphs_folded(stdout, tree, words->by);
    else
        cli_heap_report_print(report);
    if (folder[0] != '\0')
        good = cli_profiles_write_recording(folder, report->path,
                                            report->recording, report->calls,
                                            report->heap) &&
               cli_graphs_write(folder, tree);
    if (cli_page_wanted(&words->files.pages))
        good = cli_run_page_write(&words->files.pages, report, tree) && good;
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

    if (!cli_folder_prepare(folder, sizeof folder, "show", words->files.out,
                            words->files.out_each, path))
        return CLI_USAGE;
    if (!sim_live_heap_open(&heap, recording, cli_show_progress))
        cli_need(NULL);
    cli_hide_progress();
    calls = cli_calls_open(recording);
    report.heap = &heap;
    report.calls = calls;
    exit_code = show_heap(&report, folder, words);
    cli_calls_close(calls);
    sim_live_heap_close(&heap);
    return exit_code;
}

static enum cli_exit
show_input(struct sim_input *input, const char *path, const struct words *words)
{
    struct sim_recording *recording = NULL;
    enum cli_exit exit_code = CLI_USAGE;

    if (input->kind == SIM_INPUT_RECORDING)
        recording = cli_take_recording(input, path);
    else if (input->kind == SIM_INPUT_SCENARIO)
        cli_usage("%s: this is a scenario; 'profsim run' runs it", path);
    else
        cli_usage("%s: not a recording%s", path,
                  input->bytes_count == 0 ? ": it is empty" : "");
    if (recording != NULL)
        exit_code = show_recording(recording, path, words);
    if (exit_code != CLI_OK) {
        cli_files_refused(&words->files, path);
    } else {
        cli_result_text(words->files.report,
                        &cli_report_add(words->files.report, "files", path,
                                        CLI_VERDICT_NOT_TRIED)
                             ->text,
                        "its heap was shown");
    }
    sim_recording_close(recording);
    return exit_code;
}

static enum cli_exit
show_file(const char *path, const void *context)
{
    const struct words *words = context;
    struct sim_input input;
    enum cli_exit exit_code;

    if (!sim_input_read(&input, path)) {
        cli_usage("%s: %s", path, input.reason);
        cli_files_refused(&words->files, path);
        return CLI_USAGE;
    }
    exit_code = show_input(&input, path, words);
    sim_input_free(&input);
    return exit_code;
}

enum { TOP = 1, OUT, BY, FOLDED };

static const struct cli_option table[] = {
    {TOP, 0, "top", "N", "sites and threads to print (10)"},
    {BY, 0, "by", "WHAT",
     "show the sites of one kind only: peak (in use at the\npeak), exit (never "
     "freed), allocs (all allocated)"},
    {FOLDED, 0, "folded", NULL,
     "print collapsed stacks with bytes (of the peak, unless\n--by says "
     "otherwise), and nothing else"},
    {OUT, 0, "out", "DIR",
     "write profiles: heap, allocs, peak, exit, block, mutex,\nas .pb.gz and "
     ".txt; peak.folded"},
    CLI_PAGE_OPTIONS,
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "show",
    .words = "[OPTION...] FILE...",
    .about = "Show the heap of a recorded program: its peak, what it never "
             "freed and what it\nallocated, by site, time, thread and size. "
             "FILE is a recording; it may be a\npipe; - is standard input.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static bool
take(void *context, int id, const char *value)
{
    struct words *words = context;

    switch (id) {
    case TOP:
        return cli_number("--top", value, 1, UINT32_MAX, &words->top);
    case BY:
        words->by_given = true;
        return cli_measure_find(value, &words->by) ||
               cli_complain("--by takes peak, exit or allocs, not '%s'", value);
    case FOLDED:
        return words->folded = true;
    default:
        return cli_files_take(&words->files, id, value);
    }
}

enum cli_exit
cli_show(int argc, char **argv)
{
    struct words words = {.top = 10};

    return cli_files_run(argc, argv, &syntax, &words.files, &words, take,
                         show_file);
}
