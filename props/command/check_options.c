/* check_options.c -- see check_options.h. */
#include "props/command/check_options.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "props/command/commands.h"
#include "common/command/options.h"
#include "props/command/subject_file.h"

#define FAILURES_DIR         "profsim-failures"
#define SUBJECT_FAILURES_DIR "subject-failures"

enum {
    SEEDS = 1,
    SECONDS,
    JOBS,
    SHARD,
    RESULT,
    EVERY,
    RULES,
    SUBJECT,
    SAVE,
    CORPUS,
    PAIRS
};

static const struct cli_option table[] = {
    {SEEDS, 0, "seeds", "A..B",
     "which worlds, one per seed (1..100000); with --time,\nA.. is allowed, "
     "and the default is to begin at a\nrandom seed, which is printed"},
    {SECONDS, 0, "time", "S", "stop after S seconds"},
    {JOBS, 0, "jobs", "N", "processes (one for each processor)"},
    {SHARD, 0, "shard", CLI_SHARD_WORDS, CLI_SHARD_HELP},
    {RESULT, 0, "result", "FILE",
     "write the result to FILE every minute and at the end,\n"
     "and resume from it; if FILE ends in /, it is a folder,\n"
     "and the file in it is named after the shard"},
    {EVERY, 0, "every", "S", "write the result every S seconds (60)"},
    {RULES, 0, "rules", "NAME", "the library's rule set (exact)"},
    {SUBJECT, 0, "subject", "FILE",
     "judge this profiler instead: a shared object, or a .c\nfile, that "
     "defines a subject (subject.h)"},
    {SAVE, 0, "save", "DIR",
     "where failures are saved, and replayed first\n(" FAILURES_DIR
     "; of a subject " SUBJECT_FAILURES_DIR "/NAME)"},
    {CORPUS, 0, "corpus", "DIR",
     "exchange failures with campaigns on other machines\nthrough this folder"},
    {PAIRS, 0, "pairs", NULL, "print which pairs of coverage goals no run met"},
    CLI_REPORT_PAGE_OPTION,
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
    campaign->seed_last = UINT64_MAX - 1; /* of "A.." */
    if (!cli_number("--seeds", first, 0, UINT64_MAX - 1,
                    &campaign->seed_first) ||
        (dots[2] != '\0' && !cli_number("--seeds", dots + 2, 0, UINT64_MAX - 1,
                                        &campaign->seed_last)))
        return false;
    return campaign->seed_first <= campaign->seed_last ||
           cli_complain("--seeds %s is empty", text);
}

static bool
parse_small(const char *name, const char *text, uint64_t least, uint64_t most,
            uint32_t *value)
{
    uint64_t number;

    if (!cli_number(name, text, least, most, &number))
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
        return parse_small("--time", value, 1, 1000000, &campaign->seconds);
    case JOBS:
        return parse_small("--jobs", value, 1, PROPS_JOBS_MAX, &campaign->jobs);
    case SHARD:
        return cli_shard_parse(&options->shard, value);
    case RESULT:
        return cli_result_take(&options->result, value);
    case EVERY:
        return parse_small("--every", value, 0, 3600, &options->every_seconds);
    case RULES:
        options->rules_named = true;
        return (campaign->rules = cli_rules(value)) != NULL;
    case SUBJECT:
        return cli_subject_take(&campaign->subject, &options->subject_path,
                                value);
    case PAIRS:
        return options->pairs = true;
    case SAVE:
        options->save = value;
        return *value != '\0' ||
               cli_complain("--save needs the name of a folder");
    case CORPUS:
        options->corpus = value;
        return *value != '\0' ||
               cli_complain("--corpus needs the name of a folder");
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
    case CLI_REPORT_HTML:
        return cli_report_take(options->report, id, value);
    default:
        return cli_property(value, &campaign->requested);
    }
}

static bool
is_file(const char *word)
{
    return props_property_find(word) == PROPS_NONE &&
           (strpbrk(word, "./") != NULL || access(word, F_OK) == 0);
}

/* Check that all properties belong to what is judged, the library or a
 * subject. */
static bool
check_requested(const struct cli_check_options *options)
{
    const bool subject = options->campaign.subject != NULL;
    const props_set known = subject ? PROPS_OF_SUBJECTS : PROPS_ALL;

    if (subject && options->rules_named)
        return cli_complain("--rules is about the library, not a subject");
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((options->campaign.requested & ~known & PROPS_BIT(i)) != 0)
            return cli_complain("%s is a property of %s",
                                props_property_id((enum props_property)i),
                                subject ? "the library"
                                        : "subjects: name one "
                                          "with --subject");
    }
    return true;
}

/* returns: false, and a complaint, if --corpus does not fit the other
 *          options */
static bool
check_corpus(const struct cli_check_options *options)
{
    return options->corpus == NULL ||
           (options->campaign.subject == NULL && options->files_count == 0) ||
           cli_complain("--corpus goes with neither --subject nor files");
}

/* returns: false, and a complaint, if the shard or its seeds are impossible */
static bool
check_shard(const struct cli_check_options *options)
{
    const bool shard = options->shard.count != 0 || options->result != NULL;

    if (shard && options->campaign.subject != NULL)
        return cli_complain("--shard and --result are about the library, not "
                            "a subject");
    if (shard && options->pairs)
        return cli_complain("--pairs does not go with --shard or --result: a "
                            "result holds no pairs");
    if (shard && options->files_count > 0)
        return cli_complain("--shard and --result are about seeds, not files");
    if (options->shard.count > 1 &&
        (options->report->json != NULL || options->report->junit != NULL))
        return cli_complain("--json and --junit report on all shards together: "
                            "give them to 'profsim merge'");
    return options->campaign.seconds != 0 ||
           options->campaign.seed_last != UINT64_MAX - 1 ||
           cli_complain("--seeds without an end needs --time");
}

/* Without --seeds, a campaign of a given time begins at a random seed. */
static bool
draw_seed(struct cli_check_options *options)
{
    struct props_campaign *campaign = &options->campaign;
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return cli_complain("the system has no random numbers");
    options->drawn = true;
    campaign->seed_first = seed >> 2; /* leaves room for those that follow */
    campaign->seed_last = UINT64_MAX - 1;
    return true;
}

/* Failures of subjects have a separate folder, because their files do not name
 * the subject. */
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
        .every_seconds = 60,
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
    options->named = options->campaign.requested != 0;
    if (!options->named)
        options->campaign.requested =
            options->campaign.subject != NULL ? PROPS_OF_SUBJECTS : PROPS_ALL;
    choose_folder(options);
    if (words.ended)
        return false;
    *exit_code = CLI_USAGE;
    return check_requested(options) && check_corpus(options) &&
           check_shard(options) &&
           (options->campaign.seconds == 0 || seeds ||
            options->files_count > 0 || draw_seed(options));
}
