/* check_options.c -- see check_options.h. */
#include "check_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "subject_file.h"

#define FAILURES_DIR         "profsim-failures"
#define SUBJECT_FAILURES_DIR "subject-failures"

enum { SEEDS = 1, SECONDS, JOBS, RULES, SUBJECT, SAVE, EXPECT };

static const struct cli_option table[] = {
    {SEEDS, 0, "seeds", "A..B", "which worlds, one for each seed (1..100000)"},
    {SECONDS, 0, "time", "S", "stop after S seconds"},
    {JOBS, 0, "jobs", "N", "processes (one for each processor)"},
    {RULES, 0, "rules", "NAME", "what the library follows (exact)"},
    {SUBJECT, 0, "subject", "FILE",
     "judge this profiler instead: a shared object, or a .c\nfile, that "
     "defines a subject (subject.h)"},
    {SAVE, 0, "save", "DIR",
     "where failures are kept, and replayed first\n(" FAILURES_DIR
     "; of a subject " SUBJECT_FAILURES_DIR "/NAME)"},
    {EXPECT, 0, "expect", "unbiased",
     "ask that sampling be right on average, not only as\nthe rules say; "
     "enumerates, runs no worlds"},
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "check",
    .words = "[PROPERTY...] [FILE...] [OPTION...]",
    .about = "Judge random worlds by the properties (all, unless some are "
             "named).\nWith FILEs, judge them instead: a recording is "
             "replayed under a simulated\ncollector, a scenario as it is.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static bool
parse_seeds(const char *text, struct props_campaign *campaign)
{
    const char *dots = strstr(text, "..");
    char first[32];

    if (dots == NULL || (size_t)(dots - text) >= sizeof first)
        return cli_complain("--seeds takes a range A..B, not '%s'", text);
    snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    if (!cli_number("--seeds", first, 0, UINT64_MAX - 1,
                    &campaign->seed_first) ||
        !cli_number("--seeds", dots + 2, 0, UINT64_MAX - 1,
                    &campaign->seed_last))
        return false;
    return campaign->seed_first <= campaign->seed_last ||
           cli_complain("--seeds %s is empty", text);
}

static bool
parse_small(const char *name, const char *text, uint64_t most, uint32_t *value)
{
    uint64_t number;

    if (!cli_number(name, text, 1, most, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool
take(struct cli_check_options *options, int id, const char *value)
{
    struct props_campaign *campaign = &options->campaign;

    switch (id) {
    case SEEDS:
        return parse_seeds(value, campaign);
    case SECONDS:
        return parse_small("--time", value, 1000000, &campaign->seconds);
    case JOBS:
        return parse_small("--jobs", value, PROPS_JOBS_MAX, &campaign->jobs);
    case RULES:
        options->rules_named = true;
        return (campaign->rules = cli_rules(value)) != NULL;
    case SUBJECT:
        if (options->subject_path != NULL)
            return cli_complain("--subject names one profiler; '%s' is one "
                                "more",
                                value);
        options->subject_path = value;
        return (campaign->subject = cli_subject_load(value)) != NULL;
    case EXPECT:
        options->unbiased = true;
        return strcmp(value, "unbiased") == 0 ||
               cli_complain("--expect takes 'unbiased', not '%s'", value);
    case SAVE:
        options->save = value;
        return *value != '\0' ||
               cli_complain("--save needs the name of a folder");
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(options->report, id, value);
    default:
        return cli_property(value, &campaign->asked);
    }
}

static bool
is_file(const char *word)
{
    return props_property_find(word) == PROPS_NONE &&
           (strpbrk(word, "./") != NULL || access(word, F_OK) == 0);
}

/* A property is of the library or of subjects. */
static bool
check_asked(const struct cli_check_options *options)
{
    const bool subject = options->campaign.subject != NULL;
    const props_set known = subject ? PROPS_OF_SUBJECTS : PROPS_ALL;

    if (subject && options->unbiased)
        return cli_complain("--expect is about the library's rules");
    if (subject && options->rules_named)
        return cli_complain("--rules is about the library, not a subject");
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((options->campaign.asked & ~known & PROPS_BIT(i)) != 0)
            return cli_complain("%s is a property of %s",
                                props_property_id((enum props_property)i),
                                subject ? "the library"
                                        : "subjects: name one "
                                          "with --subject");
    }
    return true;
}

/* Failures of a subject lie in a folder of its own: a file names none. */
static void
choose_folder(struct cli_check_options *options)
{
    if (options->save != NULL)
        return;
    options->save = FAILURES_DIR;
    if (options->campaign.subject == NULL)
        return;
    options->save_above = SUBJECT_FAILURES_DIR;
    options->save = options->save_room;
    snprintf(options->save_room, sizeof options->save_room, "%s/%s",
             SUBJECT_FAILURES_DIR, options->campaign.subject->name);
}

static uint32_t
processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);

    if (count < 1)
        return 1;
    return count > PROPS_JOBS_MAX ? PROPS_JOBS_MAX : (uint32_t)count;
}

bool
cli_check_options(struct cli_check_options *options, struct cli_report *report,
                  int argc, char **argv, enum cli_exit *exit_code)
{
    struct cli_options words;
    bool seeds = false;
    int id;

    *options = (struct cli_check_options){
        .campaign = {.rules = &prof_rules_exact,
                     .seed_first = 1,
                     .seed_last = 100000,
                     .jobs = processors(),
                     .show_progress = true},
        .report = report,
    };
    cli_options_begin(&words, &syntax, argc, argv);
    *exit_code = CLI_USAGE;
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        seeds |= id == SEEDS;
        if (id == CLI_OPTIONS_WORD && is_file(words.value))
            argv[options->files_count++] = argv[words.index - 1];
        else if (!take(options, id, words.value))
            return false;
    }
    *exit_code = words.exit_code;
    options->named = options->campaign.asked != 0;
    if (!options->named)
        options->campaign.asked =
            options->campaign.subject != NULL ? PROPS_OF_SUBJECTS : PROPS_ALL;
    choose_folder(options);
    if (!words.ended && !check_asked(options)) {
        *exit_code = CLI_USAGE;
        return false;
    }
    if (options->campaign.seconds != 0 && !seeds)
        options->campaign.seed_last = UINT64_MAX - 1; /* as many as fit */
    return !words.ended;
}
