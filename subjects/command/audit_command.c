/* audit_command.c -- `profsim audit`: sampling rules of other profilers,
 * enumerated. */
#include "subjects/audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/command/audit_command.h"
#include "common/command/complaint.h"
#include "common/nearest.h"
#include "common/command/options.h"
#include "common/output.h"
#include "subjects/workloads.h"

enum { RULES = 1, SIZES, RATE, WORKLOAD, JSON, SVG, LIVE, RECORDING, JUDGE };
enum { JUDGE_RATE = 4096 };
enum { RULES_MAX = 64, BYTES_MOST = 1 << 30 };

static const struct cli_option table[] = {
    {RULES, 0, "rules", "NAME,...",
     "rule sets, or all (all); 'list' names them"},
    {SIZES, 0, "sizes", "BYTES,...",
     "sizes allocated in turn, for ever, as the rule set\ncounts them, without "
     "rounding by the allocator\n(16,524288); suffixes k and m: 16,512k"},
    {RATE, 0, "rate", "BYTES", "mean interval R (512k)"},
    {WORKLOAD, 0, "workload", "W",
     "W1 to W12 in place of sizes, or all of them"},
    {JSON, 0, "json", NULL, "print JSON instead of text"},
    {SVG, 0, "svg", "FILE", "a plot, into FILE"},
    {JUDGE, 0, "judge", NULL,
     "test each rule set on all workloads and effects, and\nreduce each "
     "deviation to a small case; exit code 2 if\nthere is one; default R: "
     "4096"},
    {LIVE, 0, "live", NULL,
     "the tools themselves, against programs whose\nallocations are known "
     "(make audit-live)"},
    {RECORDING, 0, "recording", "FILE",
     "instead: how far estimates of the live bytes of a\nrecorded program vary "
     "under our own rules; default R:\none that gives 1000 samples"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "audit",
    .words = "[OPTION...]",
    .about = "What the sampling rules of heap profilers report on average, "
             "divided by\nthe truth, by size: 1 is right. Enumerated, not "
             "measured.\n",
    .options = table,
    .exits =
        "exit code: 0; 1 usage, bad input, or output that cannot be written;\n"
        "2 --judge: a rule set is not right\n",
};

struct options {
    const struct subjects_rules *rules[RULES_MAX];
    size_t rules_count;
    struct subjects_pattern pattern;
    int workload; /* 0: sizes */
    bool all_workloads;
    bool json;
    bool judge;
    const char *svg;
    const char *recording;
    bool has_rate;
};

static bool
is_chosen(const struct options *options, const struct subjects_rules *rules)
{
    for (size_t i = 0; i < options->rules_count; i++)
        if (options->rules[i] == rules)
            return true;
    return false;
}

static void
choose(struct options *options, const struct subjects_rules *rules)
{
    if (!is_chosen(options, rules) && options->rules_count < RULES_MAX)
        options->rules[options->rules_count++] = rules;
}

static bool
add_rules(struct options *options, const char *name)
{
    struct sim_nearest nearest = {.wrong = name, .wrong_bytes = strlen(name)};
    const bool all = strcmp(name, "all") == 0;
    const struct subjects_rules *found = subjects_rules_find(name);

    for (size_t i = 0; subjects_rules_all[i] != NULL; i++) {
        sim_nearest_try(&nearest, subjects_rules_all[i]->name);
        if (all)
            choose(options, subjects_rules_all[i]);
    }
    if (found != NULL)
        choose(options, found);
    return all || found != NULL ||
           cli_unknown("rule set", &nearest,
                       "'profsim audit --rules list' names them");
}

/* Call `each` for each word of a list that is separated by commas. returns:
 * false at the first word that `each` refuses */
static bool
split(struct options *options, const char *text,
      bool (*each)(struct options *options, const char *word))
{
    char word[64];

    for (;;) {
        const size_t bytes = strcspn(text, ",");

        if (bytes == 0 || bytes >= sizeof word)
            return cli_complain(
                "audit: a word is missing, or too long, at '%s'", text);
        memcpy(word, text, bytes);
        word[bytes] = '\0';
        if (!each(options, word))
            return false;
        if (text[bytes] == '\0')
            return true;
        text += bytes + 1;
    }
}

static bool
add_size(struct options *options, const char *word)
{
    struct subjects_pattern *pattern = &options->pattern;

    if (pattern->count == SUBJECTS_SIZES_MAX)
        return cli_complain("--sizes takes up to %d sizes", SUBJECTS_SIZES_MAX);
    return cli_bytes("--sizes", word, 1, BYTES_MOST,
                     &pattern->sizes[pattern->count++]);
}

static bool
parse_workload(struct options *options, const char *text)
{
    char *end = NULL;
    const bool prefixed = (*text | 32) == 'w';
    const long number = prefixed ? strtol(text + 1, &end, 10) : 0;

    options->all_workloads = strcmp(text, "all") == 0;
    options->workload = (int)number;
    if (options->all_workloads || (prefixed && *end == '\0' && number >= 1 &&
                                   number <= SUBJECTS_WORKLOADS))
        return true;
    return cli_complain("--workload takes W1 to W%d or all, not '%s'",
                        SUBJECTS_WORKLOADS, text);
}

static bool
take(struct options *options, int id, const char *value)
{
    switch (id) {
    case RULES:
        return split(options, value, add_rules);
    case SIZES:
        return split(options, value, add_size);
    case RATE:
        options->has_rate = true;
        return cli_bytes("--rate", value, 1, BYTES_MOST,
                         &options->pattern.rate);
    case WORKLOAD:
        return parse_workload(options, value);
    case JSON:
        options->json = true;
        return true;
    case JUDGE:
        options->judge = true;
        return true;
    case SVG:
        options->svg = value;
        return true;
    case RECORDING:
        options->recording = value;
        return true;
    default:
        return cli_complain("audit: takes no words, not '%s'", value);
    }
}

static void
list_rules(void)
{
    for (size_t i = 0; subjects_rules_all[i] != NULL; i++)
        printf("%-19s %s (%s)\n", subjects_rules_all[i]->name,
               subjects_rules_all[i]->of, subjects_rules_all[i]->source);
    printf("\nmistakes of the past:\n");
    for (size_t i = 0; subjects_rules_mistakes[i] != NULL; i++)
        printf("%-19s %s (%s)\n", subjects_rules_mistakes[i]->name,
               subjects_rules_mistakes[i]->of,
               subjects_rules_mistakes[i]->source);
}

/* If several rule sets are given, leave out those that cannot have this rate,
 * and say so. returns: false, reported, if none is left */
static bool
check_rate(struct options *options)
{
    const uint64_t rate = options->pattern.rate;
    const struct subjects_rules *refusers[RULES_MAX];
    const char *errors[RULES_MAX];
    size_t kept = 0, refused = 0;

    for (size_t i = 0; i < options->rules_count; i++) {
        const struct subjects_rules *rules = options->rules[i];

        errors[refused] =
            rules->rate_error == NULL ? NULL : rules->rate_error(rate);
        if (errors[refused] == NULL)
            options->rules[kept++] = rules;
        else
            refusers[refused++] = rules;
    }
    options->rules_count = kept;
    if (kept == 0)
        return cli_complain("--rate %" PRIu64 ": %s %s%s", rate,
                            refusers[0]->name, errors[0],
                            refused > 1 ? "; no rule set takes it" : "");
    for (size_t i = 0; i < refused; i++)
        fprintf(stderr, "profsim: left out: %s %s\n", refusers[i]->name,
                errors[i]);
    return true;
}

static void
set_workload(struct options *options, int number)
{
    static char name[16];
    struct subjects_pattern *pattern = &options->pattern;

    (void)snprintf(name, sizeof name, "W%d", number);
    pattern->name = name;
    pattern->count = subjects_workload(number, pattern->rate, pattern->sizes);
    subjects_pattern_classes(pattern);
}

/* Report the means that do not converge, and so have no figure. */
static void
report_unsettled(const struct subjects_audit *audit)
{
    if (isnan(audit->total))
        fprintf(stderr,
                "profsim: %s: what it reports does not settle at these sizes; "
                "no figure\n",
                audit->rules->name);
}

/* Print each line as soon as it is known: a rule set may take a second. */
static void
print(const struct options *options, struct subjects_audit *audits,
      const char *comma)
{
    const struct subjects_pattern *pattern = &options->pattern;

    if (!options->json)
        subjects_audit_head(stdout, pattern);
    for (size_t i = 0; i < options->rules_count; i++) {
        subjects_audit_make(&audits[i], options->rules[i], pattern);
        report_unsettled(&audits[i]);
        if (options->json) {
            subjects_audit_more(&audits[i], pattern);
            fputs(comma, stdout);
            comma = ",\n";
            subjects_audit_json(stdout, &audits[i], pattern);
        } else {
            subjects_audit_line(stdout, &audits[i], pattern);
        }
        (void)fflush(stdout);
    }
    if (options->json || options->all_workloads) {
        fputs(options->json ? "" : "\n", stdout);
        return;
    }
    subjects_audit_details_head(stdout);
    for (size_t i = 0; i < options->rules_count; i++) {
        subjects_audit_more(&audits[i], pattern);
        subjects_audit_details(stdout, &audits[i], pattern);
        (void)fflush(stdout);
    }
}

static enum cli_exit
draw(const struct options *options, const struct subjects_audit *audits)
{
    const struct props_output output = {.path = options->svg};
    char *text = NULL;
    size_t bytes = 0;
    const char *why = "no memory";
    FILE *file = open_memstream(&text, &bytes);

    if (file != NULL) {
        subjects_audit_svg(file, audits, options->rules_count,
                           &options->pattern);
        if (fclose(file) == 0)
            why = props_output_write(&output, text, bytes);
    }
    free(text);
    return why == NULL ? CLI_OK : cli_usage("%s: %s", options->svg, why);
}

static enum cli_exit
audit(struct options *options)
{
    struct subjects_audit *audits = cli_need(calloc(RULES_MAX, sizeof *audits));
    const int last =
        options->all_workloads ? SUBJECTS_WORKLOADS : options->workload;
    enum cli_exit exit_code = CLI_OK;

    fputs(options->json ? "[\n" : "", stdout);
    if (last == 0)
        print(options, audits, "");
    for (int w = options->all_workloads ? 1 : last; w <= last && w != 0; w++) {
        set_workload(options, w);
        print(options, audits, w == 1 || !options->all_workloads ? "" : ",\n");
    }
    fputs(options->json ? "\n]\n" : "", stdout);
    if (options->svg != NULL)
        exit_code = draw(options, audits);
    free(audits);
    return exit_code;
}

static enum cli_exit
judge(struct options *options)
{
    if (options->pattern.count != 0 || options->workload != 0 ||
        options->all_workloads || options->json || options->svg != NULL)
        return cli_usage("--judge goes with --rules and --rate");
    if (!options->has_rate)
        options->pattern.rate = JUDGE_RATE;
    if (!check_rate(options))
        return CLI_USAGE;
    return cli_audit_judge(options->rules, options->rules_count,
                           options->pattern.rate);
}

enum cli_exit
cli_audit(int argc, char **argv)
{
    struct options options = {.pattern = {.name = "sizes", .rate = 524288}};
    struct cli_options words;
    int id;

    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == RULES && strcmp(words.value, "list") == 0) {
            list_rules();
            return CLI_OK;
        }
        if (id == LIVE)
            return argc == 2 ? cli_audit_live()
                             : cli_usage("--live goes with nothing else");
        if (!take(&options, id, words.value))
            return CLI_USAGE;
    }
    if (words.ended)
        return words.exit_code;
    if (options.recording != NULL) {
        if (options.rules_count + options.pattern.count != 0 ||
            options.workload != 0 || options.all_workloads || options.json ||
            options.svg != NULL)
            return cli_usage("--recording goes with --rate only");
        return cli_audit_recording(options.recording,
                                   options.has_rate ? options.pattern.rate : 0);
    }
    if (options.svg != NULL && options.all_workloads)
        return cli_usage("--svg draws one workload, not all");
    if (options.pattern.count != 0 &&
        (options.workload != 0 || options.all_workloads))
        return cli_usage("either --sizes or --workload");
    if (options.rules_count == 0)
        (void)add_rules(&options, "all");
    if (options.judge)
        return judge(&options);
    if (options.pattern.count == 0) {
        options.pattern.sizes[options.pattern.count++] = 16;
        options.pattern.sizes[options.pattern.count++] = 524288;
    }
    subjects_pattern_classes(&options.pattern);
    return check_rate(&options) ? audit(&options) : CLI_USAGE;
}
