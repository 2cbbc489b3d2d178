/*
 * campaign_ends.c -- a test of test_merge.c: what `profsim check` prints, saves
 * and reports of campaigns that pass, fail or crash, of the library and of
 * subjects, compared with what the campaign and the shrinker say.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign.h"
#include "check.h"
#include "command.h"
#include "failure.h"
#include "generate.h"
#include "merge_case.h"
#include "subject_file.h"
#include "unit_test.h"
#include "wanted.h"

enum { WORDS_MAX = 48 };

/* Without those that are enumerated, which takes long. */
#define OF_SUBJECTS                                                    \
    (PROPS_OF_SUBJECTS & ~PROPS_BIT(PROPS_U1) & ~PROPS_BIT(PROPS_U2) & \
     ~PROPS_BIT(PROPS_W3) & ~PROPS_BIT(PROPS_D1) & ~PROPS_BIT(PROPS_G1))

static const struct row {
    const char *subject; /* "own", "made.so", or NULL: the library */
    const char *made;    /* what the made one does: a name in its environment */
    props_set asked;
    uint64_t first;
    uint64_t last;
} rows[] = {
    {"own", NULL, OF_SUBJECTS, 1, SANITIZED ? 40 : 120},
    {"own", NULL, OF_SUBJECTS & ~PROPS_BIT(PROPS_O3) & ~PROPS_BIT(PROPS_A4), 7,
     60},
    {"made.so", "MADE_HIDES", OF_SUBJECTS, 3, 40},
    {"made.so", "MADE_ABORTS", PROPS_BIT(PROPS_A6) | PROPS_BIT(PROPS_A4), 1, 9},
    {NULL, NULL, PROPS_BIT(PROPS_H2) | PROPS_BIT(PROPS_T1), 170, 180},
    {NULL, NULL, PROPS_BIT(PROPS_H1) | PROPS_BIT(PROPS_H2), 30, 35},
};

/* ---- The model ---- */

static struct props_campaign campaign;
static char subject_name[32]; /* in results */
static char begin_again[256]; /* of commands */

static const char *
worlds_of(int property)
{
    return (PROPS_OF_TRACES & PROPS_BIT(property)) != 0 ? "traces"
                                                        : subject_name;
}

/* Properties that the subject cannot be asked about. returns: the others */
static props_set
expect_applicable(props_set asked)
{
    props_set left = asked;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;

        if ((asked & PROPS_BIT(i)) == 0 ||
            props_applies(property, campaign.subject))
            continue;
        fprintf(wanted_text, "%s%s",
                left == asked ? "not applicable, for what the subject lacks: "
                              : ", ",
                props_property_id(property));
        left &= ~PROPS_BIT(i);
        wanted_result(subject_name, props_property_id(property), property,
                      "not-applicable");
        wanted_rest("", NULL);
    }
    if (left != asked)
        fputc('\n', wanted_text);
    return left;
}

/* The file, page and report of a failure. returns: its property */
static enum props_property
expect_failure(const struct row *row, const struct props_outcome *outcome)
{
    const bool of_library = row->subject == NULL;
    struct props_failure failure;
    char command[512];
    char name[64];
    char path[256];
    char replay[512];
    char counts[256];

    snprintf(command, sizeof command, "%s%s --seeds %" PRIu64 "..%" PRIu64,
             begin_again, of_library ? " --rules go1.6-late" : "",
             outcome->seed, outcome->seed);
    fprintf(wanted_text, "seed %" PRIu64 " fails\n", outcome->seed);
    assert_true(
        props_failure_of_seed(&failure, &campaign, outcome->seed, command));
    props_failure_print(wanted_text, &failure);
    snprintf(name, sizeof name, "saved/%s-%s-%" PRIu64,
             failure.crashed ? "crash"
                             : props_property_id(failure.breach.property),
             of_library ? "go1.6-late" : "made", outcome->seed);
    snprintf(path, sizeof path, "%s", wanted_path(name));
    snprintf(replay, sizeof replay, "profsim replay%s %s.sim",
             strstr(begin_again, " --subject") != NULL
                 ? strstr(begin_again, " --subject")
                 : "",
             path);
    fprintf(wanted_text, "replay: %s\npage: %s.html\n", replay, path);
    wanted_result(subject_name,
                  failure.crashed ? "process"
                                  : props_property_id(failure.breach.property),
                  failure.crashed ? PROPS_NONE : failure.breach.property,
                  failure.crashed ? "crashed" : "broken");
    if (!failure.crashed)
        wanted_member("text", "%s", failure.breach.text);
    snprintf(counts, sizeof counts,
             "\"events\": %" PRIu32 ", \"events_before\": %" PRIu32
             ", \"choices\": %" PRIu32 ", \"choices_before\": %" PRIu32,
             failure.events_after, failure.events_before, failure.choices_after,
             failure.choices_before);
    wanted_failure(outcome->seed, counts, path, replay);
    props_failure_free(&failure);
    return failure.crashed ? PROPS_NONE : failure.breach.property;
}

/* What was tried of each property, if none failed. in: reported, those of which
 * all is said. returns: were all tried? */
static bool
expect_tried(const struct row *row, props_set reported,
             const struct props_outcome *outcome)
{
    bool all = true;

    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        const uint64_t tried =
            outcome->cover.hits[props_property_cover(property)];
        const bool is_reported = (reported & PROPS_BIT(i)) != 0;
        char counts[256];

        if ((row->asked & PROPS_BIT(i)) == 0)
            continue;
        if (is_reported || tried == 0) {
            fprintf(wanted_text, "%s%s",
                    all ? "every property that was tried holds; not tried: "
                        : ", ",
                    props_property_id(property));
            all = false;
        }
        if (is_reported)
            continue;
        snprintf(counts, sizeof counts,
                 "\"runs\": %" PRIu64 ", \"events\": %" PRIu64
                 ", \"tried\": %" PRIu64,
                 outcome->runs, outcome->events, tried);
        wanted_result(worlds_of(i), props_property_id(property), property,
                      tried > 0 ? "holds" : "incomplete");
        wanted_seeds(row->first, row->last, counts);
    }
    fputs(all ? "every property holds\n" : "\n", wanted_text);
    return all;
}

static void
expect_stopped(props_set left)
{
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((left & PROPS_BIT(i)) == 0)
            continue;
        wanted_result(worlds_of(i), props_property_id((enum props_property)i),
                      (enum props_property)i, "stopped");
        wanted_rest("", NULL);
    }
}

/* returns: the exit code */
static int
expect_campaign(const struct row *row)
{
    props_set left = row->asked;
    struct props_outcome outcome;
    enum props_property broken;

    if (campaign.subject != NULL) {
        campaign.worlds = SIM_WORLDS_SUBJECT;
        left = expect_applicable(row->asked);
    }
    campaign.asked = left;
    assert_true(props_campaign_run(&campaign, &outcome));
    fprintf(wanted_text,
            "%s: %" PRIu64 " runs, %" PRIu64 " events, log hash %016" PRIx64
            "\n",
            subject_name, outcome.runs, outcome.events, outcome.hash);
    if (outcome.end == PROPS_END_PASSED)
        return expect_tried(row, row->asked & ~left, &outcome) ? 0 : 6;
    broken = expect_failure(row, &outcome);
    expect_stopped(broken != PROPS_NONE ? left & ~PROPS_BIT(broken) : left);
    return broken != PROPS_NONE ? 2 : 3;
}

/* ---- The command ---- */

static void
remove_saved(void)
{
    char command[256];

    snprintf(command, sizeof command, "%s", wanted_path("saved"));
    if (access(command, F_OK) == 0) {
        snprintf(command, sizeof command, "rm -r %s", wanted_path("saved"));
        assert_int_equal(system(command), 0);
    }
}

static void
expect_row(const struct row *row)
{
    static char words[WORDS_MAX][192];
    char *argv[WORDS_MAX + 1];
    char subject[128] = "own";
    int exit_code;
    int argc = 0;

    campaign = (struct props_campaign){.rules = &prof_rules_exact,
                                       .seed_first = row->first,
                                       .seed_last = row->last,
                                       .jobs = 1};
    if (row->subject == NULL)
        campaign.rules = &prof_rules_go1_6_late;
    else if (row->made != NULL)
        snprintf(subject, sizeof subject, "%s", wanted_path(row->subject));
    if (row->subject != NULL)
        campaign.subject = cli_subject_load(subject);
    if (row->made != NULL)
        setenv(row->made, "1", 1);
    snprintf(subject_name, sizeof subject_name, "%s",
             row->subject == NULL ? "rules go1.6-late"
             : row->made == NULL  ? "subject own"
                                  : "subject made");
    snprintf(begin_again, sizeof begin_again, "profsim check%s%s",
             row->subject != NULL ? " --subject " : "",
             row->subject != NULL ? subject : "");
#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("check");
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((row->asked & PROPS_BIT(i)) != 0)
            ADD("%s", props_property_id((enum props_property)i));
    }
    ADD("--seeds=%" PRIu64 "..%" PRIu64, row->first, row->last);
    ADD("--jobs=1");
    ADD("--save=%s", wanted_path("saved"));
    ADD("--json=%s", wanted_path("a.json"));
    if (row->subject == NULL)
        ADD("--rules=go1.6-late");
    else
        ADD("--subject=%s", subject);
    argv[argc] = NULL;
    wanted_begin();
    exit_code = expect_campaign(row);
    wanted_end();
    wanted_run(cli_check, argv, -1, exit_code);
    if (row->made != NULL)
        unsetenv(row->made);
    remove_saved();
}

/* Check one seed of the library, with one more word. */
static void
run_seed(struct captured *said, const char *seed, const char *word)
{
    char words[7][160] = {"check", "H2", "--rules=go1.6-late", "--jobs=1"};
    char *argv[8] = {NULL};

    snprintf(words[4], sizeof *words, "--seeds=%s..%s", seed, seed);
    snprintf(words[5], sizeof *words, "--save=%s", wanted_path("saved"));
    snprintf(words[6], sizeof *words, "%s", word);
    for (int i = 0; i < 7; i++)
        argv[i] = words[i];
    assert_true(captured_run(said, cli_check, argv, -1, 60));
}

static void
run_shell(const char *command)
{
    char text[512];

    snprintf(text, sizeof text, "cd %s && %s", merge_folder(), command);
    assert_int_equal(system(text), 0);
}

/* Failures are exchanged before and after a campaign. */
static void
expect_exchanges(void)
{
    struct captured said;
    char corpus[160];

    snprintf(corpus, sizeof corpus, "--corpus=%s", wanted_path("corpus"));
    run_seed(&said, "174", corpus);
    merge_expect_exit(&said, 2);
    merge_expect(&said, true, "corpus: 0 failures sent, 0 taken, 0 files ");
    merge_expect(&said, true, "corpus: 1 failures sent, 0 taken, 0 files ");
    captured_free(&said);
    /* A folder has the failure's name, so the campaign ends with that. */
    run_shell("rm -r saved; cd corpus; f=$(echo *.sim); rm $f; mkdir $f");
    run_seed(&said, "174", corpus);
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "seed 174 fails\n");
    merge_expect(&said, true, ".sim: Is a directory\n");
    captured_free(&said);
    run_shell("rm -r saved corpus");
}

/* The last seed is 2^64 - 2. */
static void
expect_last_seed(void)
{
    struct captured said;

    run_seed(&said, "18446744073709551614", "--time=9");
    merge_expect_exit(&said, 0);
    merge_expect(&said, true, "rules go1.6-late: 1 runs, ");
    captured_free(&said);
    run_seed(&said, "18446744073709551615", "--time=9");
    merge_expect_exit(&said, 1);
    captured_free(&said);
}

static enum cli_exit
check_in_folder(int argc, char **argv)
{
    return chdir(merge_folder()) == 0 ? cli_check(argc, argv) : CLI_CRASH;
}

/* A word that is no property is a file if there is one, whatever its mode. */
static void
expect_plain_name(void)
{
    char words[2][8] = {"check", "plain"};
    char *argv[] = {words[0], words[1], NULL};
    struct captured said;

    run_shell("echo nothing >plain; chmod 600 plain");
    assert_true(captured_run(&said, check_in_folder, argv, -1, 60));
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "profsim: plain:1: not a scenario");
    captured_free(&said);
    run_shell("rm plain");
    assert_true(captured_run(&said, check_in_folder, argv, -1, 60));
    merge_expect_exit(&said, 1);
    merge_expect(&said, false, "profsim: plain:1: not a scenario");
    captured_free(&said);
}

void
merge_campaign_ends(void)
{
    expect_exchanges();
    expect_last_seed();
    expect_plain_name();
    merge_make_subject();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_row(&rows[i]);
}
