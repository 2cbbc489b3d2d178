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

#include "command.h"
#include "options.h"
#include "profiles.h"
#include "recorded.h"
#include "replay.h"
#include "sched_text.h"
#include "schedule.h"

struct words {
    const struct prof_rules *rules;
    uint64_t top;    /* sites to print */
    const char *out; /* folder for profile files, or NULL */
    bool out_each;   /* a folder in it for each file, by its name */
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

/* Say how much of the program the recording lacks. */
static void
print_dropped(const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    uint64_t dropped = 0;

    for (int i = 0; i < SIM_RECORDED_CAUSE_COUNT; i++)
        dropped += totals->dropped[i];
    if (dropped > 0)
        printf("the recorder dropped %" PRIu64 " events\n", dropped);
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

/* What is written to words.out, once the replay shows it. */
struct writing {
    struct cli_profiles profiles;
    const struct sim_recording *recording;
    bool failed;
};

static void
write_profiles(void *context, const struct props_recorded_taken *taken)
{
    struct writing *writing = context;

    writing->profiles.prof = taken->prof;
    writing->profiles.heap = taken->heap;
    writing->profiles.heap_count = taken->heap_count;
    writing->failed =
        !cli_profiles_write_recording(&writing->profiles, writing->recording);
}

static void
show_progress(uint64_t done, uint64_t total)
{
    if (isatty(STDERR_FILENO) != 0)
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " events, %.0f %%   ", done,
                total, 100.0 * (double)done / (double)total);
}

static void
print_frame(const struct sim_recorded_frame *frame)
{
    const char *module = strrchr(frame->module, '/');

    module = module != NULL ? module + 1 : frame->module;
    if (frame->function[0] != '\0')
        fputs(frame->function, stdout);
    else
        printf("%s", module[0] != '\0' ? module : "?");
}

/* The leaf-most functions of a stack, innermost first. */
static void
print_stack(const struct sim_recording *recording, uint32_t stack)
{
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    const uint32_t depth =
        sim_recording_stack(recording, stack, frames, SIM_RECORDED_DEPTH_MAX);
    uint32_t shown = 0;

    for (uint32_t i = 0; i < depth && shown < 4; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, frames[i]);

        if (!cli_is_telling(frame.function))
            continue;
        fputs(shown == 0 ? "" : " < ", stdout);
        print_frame(&frame);
        shown++;
    }
    puts(shown == 0 ? "(no stack)" : "");
}

static void
print_sites(const struct sim_recording *recording,
            const struct props_recorded *result, uint64_t top)
{
    printf("\nlargest heap: %" PRIu64 " bytes in %" PRIu64
           " objects; top sites by bytes in use\n\n"
           "%14s %10s %14s %10s\n",
           result->peak_inuse_bytes, result->peak_inuse_objects, "inuse_bytes",
           "objects", "alloc_bytes", "objects");
    for (uint32_t i = 0; i < result->sites_count && i < top; i++) {
        const struct props_site *site = &result->sites[i];

        printf("%14" PRIu64 " %10" PRIu64 " %14" PRIu64 " %10" PRIu64 "  ",
               site->inuse_bytes, site->inuse_objects, site->alloc_bytes,
               site->alloc_objects);
        print_stack(recording, site->stack);
    }
    putchar('\n');
}

static enum cli_exit
print_verdicts(const struct props_recorded *result)
{
    const struct props_breach *breach = &result->breach;
    bool all = true;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        const enum props_mark mark = props_property_mark(property);
        const bool broken = (breach->broken & PROPS_BIT(property)) != 0;

        if ((PROPS_OF_TRACES & PROPS_BIT(property)) != 0)
            continue; /* a recording is not traced */
        all &= broken || result->marks.hits[mark] > 0;
        printf("%-4s %-10s %s\n", props_property_id(property),
               broken                         ? "BROKEN"
               : result->marks.hits[mark] > 0 ? "holds"
                                              : "not tried",
               props_property_sentence(property));
    }
    if (!all)
        puts("\nnot tried: this recording has nothing that would test it");
    if (breach->property == PROPS_NONE) {
        puts("\nverdict: every property that was tried holds");
        return CLI_OK;
    }
    printf("\nverdict: %s broken at event %" PRIu32 ": %s\n",
           props_property_id(breach->property), breach->event + 1,
           breach->text);
    return cli_exit_of(breach->property);
}

static enum cli_exit
show_recording(const struct sim_recording *recording, const char *path,
               const struct words *words)
{
    struct props_recorded first;
    struct props_recorded result;
    char folder[PATH_MAX];
    struct writing writing = {.recording = recording,
                              .profiles = {.folder = folder}};
    const struct props_recorded_taker taker = {.take = write_profiles,
                                               .context = &writing};
    const char *why;

    if (!prepare_folder(folder, sizeof folder, path, words))
        return CLI_USAGE;
    why = props_recorded_run(&first, recording, words->rules, PROPS_ALL,
                             show_progress);

    if (why == NULL)
        why = props_recorded_run_taking(&result, recording, words->rules,
                                        PROPS_ALL, show_progress,
                                        words->out != NULL ? &taker : NULL);
    if (isatty(STDERR_FILENO) != 0)
        fprintf(stderr, "\r%60s\r", "");
    if (why != NULL)
        return cli_usage("%s: %s", path, why);
    if (writing.failed)
        return CLI_USAGE;
    props_mark_hit(&result.marks, MARK_RUN_TWICE);
    if (first.hash != result.hash) {
        result.breach.broken |= PROPS_BIT(PROPS_D1);
        result.breach.property = PROPS_D1;
        snprintf(result.breach.text, sizeof result.breach.text,
                 "two replays gave different answers");
    }
    printf("%s: %" PRIu64 " recorded events, %" PRIu64 " world events, %" PRIu32
           " collections, %" PRIu64 " snapshots, %" PRIu64
           " buckets\nrules %s, log hash %016" PRIx64 "\n",
           path, result.recorded_events, result.events, result.collections,
           result.snapshots, result.buckets, words->rules->name, result.hash);
    print_dropped(recording);
    if (result.unpaired_releases > 0)
        printf("%" PRIu64 " releases not replayed: no wait that was recorded "
               "belongs to them\n",
               result.unpaired_releases);
    print_sites(recording, &result, words->top);
    return print_verdicts(&result);
}

static enum cli_exit
run_recording(const char *path, const struct words *words)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    enum cli_exit exit_code;
    char line[1024];

    if (!sim_recording_open(&recording, path, &error)) {
        sim_recording_explain(&error, path, line, sizeof line);
        return cli_usage("%s", line);
    }
    exit_code = show_recording(recording, path, words);
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

/* Does the file begin with these bytes? For files of other names. */
static bool
begins_with(const char *path, const char *magic)
{
    const size_t length = strlen(magic);
    char bytes[32];
    FILE *file = fopen(path, "rb");
    bool same;

    if (file == NULL)
        return false;
    same = length <= sizeof bytes && fread(bytes, 1, length, file) == length &&
           memcmp(bytes, magic, length) == 0;
    fclose(file);
    return same;
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
    if (strstr(path, ".rec") != NULL)
        return run_recording(path, words);
    if (access(path, R_OK) != 0)
        return cli_usage("%s: %s", path, strerror(errno));
    if (begins_with(path, "profsim scenario"))
        return run_scenario(path, words);
    if (begins_with(path, "PROFREC"))
        return run_recording(path, words);
    return cli_usage("%s: neither a scenario, a schedule nor a recording",
                     path);
}

enum { RULES = 1, TOP, OUT };

static const struct cli_option table[] = {
    {RULES, 0, "rules", "NAME", "what the library follows (recordings; exact)"},
    {TOP, 0, "top", "N", "sites to print (10)"},
    {OUT, 0, "out", "DIR",
     "write the traces (schedules): trace.out, trace-2.out ...\nwrite profiles "
     "(recordings, scenarios): heap, allocs,\nblock, mutex, as .pb.gz and "
     ".txt; of a recording the\nheap as it was when largest"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "run",
    .words = "[OPTION...] FILE...",
    .about = "FILE.sim  run a scenario or a schedule and compare it with its "
             "`expect` lines\n"
             "FILE.rec  replay a recording of a real program through the "
             "simulated\n"
             "          collector: sites by bytes in use, verdict of every "
             "property\n",
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
        return cli_number("--top", value, 1, PROPS_SITES_MAX, &words->top);
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
