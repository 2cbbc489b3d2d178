/*
 * run.c -- `profsim run`: a scenario with its expectations, or a recording of a
 * real program under the simulated collector.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_recording.h"
#include "command.h"
#include "options.h"
#include "heap_report.h"
#include "profiles.h"
#include "replay.h"
#include "sched_text.h"
#include "schedule.h"

struct words {
    const struct prof_rules *rules;
    uint64_t top;    /* sites to print */
    const char *out; /* folder for profile files, or NULL */
    bool out_each;   /* a folder in it for each file, by its name */
    bool verdicts;   /* judge the library on it, too */
};

/* Where the files of one run go: out: folder, "" if nowhere. */
static bool
prepare_folder(char *folder, size_t room, const char *path,
               const struct words *words)
{
    const char *name = strrchr(path, '/');
    int length;

    name = name != NULL ? name + 1 : path;
    folder[0] = '\0';
    if (words->out == NULL)
        return true;
    length = words->out_each ? snprintf(folder, room, "%s/%s", words->out, name)
                             : snprintf(folder, room, "%s", words->out);
    if (length < 0 || (size_t)length >= room) {
        cli_usage("run: --out: %.40s...: name too long", words->out);
        return false;
    }
    if (words->out_each && mkdir(words->out, 0777) != 0 && errno != EEXIST) {
        cli_usage("run: %s: %s", words->out, strerror(errno));
        return false;
    }
    return true;
}

static enum cli_exit
run_scenario(const char *path, const struct words *words)
{
    struct sim_error error;
    struct props_replay replay;
    struct sim_scenario *scenario = sim_scenario_read(path, &error);
    char folder[PATH_MAX];
    bool written;
    bool done;

    if (scenario == NULL) {
        fprintf(stderr, "profsim: %s\n", error.text);
        return CLI_USAGE;
    }
    if (!prepare_folder(folder, sizeof folder, path, words)) {
        sim_scenario_free(scenario);
        return CLI_USAGE;
    }
    done = props_replay_run(&replay, scenario, PROPS_ALL);
    written = folder[0] == '\0' || !done || replay.crashed || replay.refused ||
              cli_profiles_write_scenario(folder, scenario);
    sim_scenario_free(scenario);
    if (!written)
        return CLI_USAGE;
    if (!done)
        return cli_usage("%s: not enough memory", path);
    if (replay.crashed)
        return cli_crash(path, replay.signal);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    if (replay.as_expected) {
        printf("%s: ok%s%s\n", path,
               replay.breach.property == PROPS_NONE ? "" : ": breaks ",
               replay.breach.property == PROPS_NONE
                   ? ""
                   : props_property_id(replay.breach.property));
        return CLI_OK;
    }
    if (replay.error.text[0] != '\0')
        printf("%s\n", replay.error.text);
    if (replay.breach.property != PROPS_NONE)
        printf("%s: %s broken: %s\n", path,
               props_property_id(replay.breach.property), replay.breach.text);
    return CLI_BROKEN;
}

/* --------------------------------------------------------------- recordings */

static enum cli_exit
show_recording(const struct sim_recording *recording, const char *path,
               const struct words *words)
{
    struct cli_heap_report report = {
        .path = path, .recording = recording, .top = words->top};
    struct sim_live_heap heap;
    struct cli_calls *calls;
    char folder[PATH_MAX];
    bool good;

    if (!prepare_folder(folder, sizeof folder, path, words))
        return CLI_USAGE;
    good = sim_live_heap_open(&heap, recording, cli_show_progress);
    cli_hide_progress();
    calls = good ? cli_calls_open(recording) : NULL;
    report.heap = &heap;
    report.calls = calls;
    good = calls != NULL && cli_heap_report_print(&report);
    if (!good)
        cli_usage("%s: not enough memory", path);
    else if (folder[0] != '\0')
        good = cli_profiles_write_recording(folder, recording, calls, &heap);
    cli_calls_close(calls);
    sim_live_heap_close(&heap);
    return good ? CLI_OK : CLI_USAGE;
}

static enum cli_exit
run_recording(const char *path, const struct words *words)
{
    struct sim_recording *recording = cli_open_recording(path);
    enum cli_exit exit_code;

    if (recording == NULL)
        return CLI_USAGE;
    exit_code = show_recording(recording, path, words);
    if (exit_code == CLI_OK && words->verdicts) {
        putchar('\n');
        exit_code =
            cli_check_recording(recording, path, words->rules, PROPS_ALL);
    }
    sim_recording_close(recording);
    return exit_code;
}

/* -------------------------------------------------------------- the command */

static bool
ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);

    return length >= end_length && strcmp(&text[length - end_length], end) == 0;
}

static enum cli_exit
run_schedule(const char *path, const struct words *words)
{
    char folder[PATH_MAX];

    if (!prepare_folder(folder, sizeof folder, path, words))
        return CLI_USAGE;
    return cli_schedule_run(path, words->out != NULL ? folder : NULL);
}

static enum cli_exit
run_file(const char *path, const struct words *words)
{
    if (sim_schedule_is(path))
        return run_schedule(path, words);
    if (ends_in(path, ".sim"))
        return run_scenario(path, words);
    if (cli_is_recording(path))
        return run_recording(path, words);
    if (access(path, R_OK) != 0)
        return cli_usage("%s: %s", path, strerror(errno));
    if (cli_begins_with(path, "profsim scenario"))
        return run_scenario(path, words);
    return cli_usage("%s: neither a scenario, a schedule nor a recording",
                     path);
}

enum { RULES = 1, TOP, OUT, VERDICTS };

static const struct cli_option table[] = {
    {TOP, 0, "top", "N", "sites and threads to print (10)"},
    {OUT, 0, "out", "DIR",
     "write the traces (schedules): trace.out, trace-2.out ...\nwrite profiles "
     "(recordings, scenarios): heap, allocs,\nblock, mutex, as .pb.gz and "
     ".txt; of a recording peak\nand exit, too"},
    {VERDICTS, 0, "verdicts", NULL,
     "also judge the library on it (recordings), as\n"
     "`profsim check FILE` does"},
    {RULES, 0, "rules", "NAME", "what the library then follows (exact)"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "run",
    .words = "[OPTION...] FILE...",
    .about = "FILE.sim  run a scenario or a schedule and compare it with its "
             "`expect` lines\n"
             "FILE.rec  show the heap of a recorded program: its peak, what it "
             "never\n"
             "          freed, what it allocated; by site, time, thread and "
             "size\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static bool
take(struct words *words, int id, const char *value)
{
    switch (id) {
    case RULES:
        return (words->rules = cli_rules(value)) != NULL;
    case TOP:
        return cli_number("--top", value, 1, UINT32_MAX, &words->top);
    case VERDICTS:
        return words->verdicts = true;
    default:
        words->out = value;
        return *value != '\0' ||
               cli_complain("--out needs the name of a folder");
    }
}

enum cli_exit
cli_run(int argc, char **argv)
{
    struct words words = {.rules = &prof_rules_exact, .top = 10};
    enum cli_exit worst = CLI_OK;
    struct cli_options options;
    int files = 0;
    int id;

    cli_options_begin(&options, &syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            argv[++files] = argv[options.index - 1];
        else if (!take(&words, id, options.value))
            return CLI_USAGE;
    }
    if (options.ended)
        return options.exit_code;
    if (files == 0)
        return cli_options_missing(&options, "a FILE");
    words.out_each = files > 1;
    for (int i = 1; i <= files; i++) {
        const enum cli_exit this_one = run_file(argv[i], &words);

        worst = cli_exit_worse(worst, this_one);
    }
    return worst;
}
