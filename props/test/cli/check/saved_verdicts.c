/*
 * saved_verdicts.c -- a part of the test in file_verdicts.c: what a campaign
 * says of the failures that were saved, which come first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_options.h"
#include "check_saved.h"
#include "kinds.h"
#include "merge_case.h"
#include "replay.h"
#include "unit_test.h"
#include "wanted.h"

enum { FILES_MAX = 4, SAVED = SANITIZED ? 10 : 26 };

/* What is asked of a campaign whose saved failures come first. */
static struct cli_check_options saved;

static enum cli_exit
check_saved(int argc, char **argv)
{
    struct cli_report report;
    char word[] = "check";
    char *words[] = {word, argv[1], argv[2], NULL};
    enum cli_exit exit_code;

    (void)argc;
    cli_report_begin(&report, 3, words);
    saved.report = &report;
    if (!cli_report_take(&report, CLI_REPORT_JSON, wanted_path("a.json")))
        return CLI_CRASH;
    exit_code = cli_check_saved(&saved);
    return cli_report_end(&report, exit_code);
}

static int
expect_left_alone(const char *path, const char *about)
{
    char text[64];

    fprintf(wanted_text, "%s: left alone; it is about %s\n", path, about);
    snprintf(text, sizeof text, "it is about %s", about);
    return kind_result("saved failures", path, 0, PROPS_NONE, text, NULL);
}

/* Why the campaign leaves a file alone. returns: NULL if it does not */
static const char *
about_of(const struct sim_scenario *scenario, bool has_subject)
{
    if (has_subject && saved.campaign.subject == NULL)
        return "a subject";
    if (!has_subject && saved.campaign.subject != NULL)
        return "the library";
    if (scenario->config.rules != saved.campaign.rules)
        return scenario->config.rules == &prof_rules_exact ? "rules exact"
                                                           : "rules go1.6-late";
    if (scenario->outcome == SIM_OUTCOME_BROKEN &&
        strcmp(scenario->property, "H2") == 0 &&
        (saved.campaign.asked & PROPS_BIT(PROPS_H2)) == 0)
        return "property H2";
    if (scenario->outcome == SIM_OUTCOME_BROKEN &&
        strcmp(scenario->property, "H8") == 0 &&
        (saved.campaign.asked & PROPS_BIT(PROPS_H8)) == 0)
        return "property H8";
    return NULL;
}

/* in: replay, the command without the path */
static int
expect_again(const char *path, const struct props_replay *r, const char *replay)
{
    const enum props_property property = r->breach.property;

    if (r->crashed) {
        fprintf(wanted_text, "%s: the run was ended by signal 6 (Aborted)\n",
                path);
        return kind_result("saved failures", path, 3, PROPS_NONE,
                           "the run was ended by signal 6 (Aborted)", replay);
    }
    if (r->refused) {
        fprintf(wanted_text, "profsim: %s\n", r->error.text);
        return kind_result("saved failures", path, 1, PROPS_NONE, r->error.text,
                           "");
    }
    if (property == PROPS_NONE ||
        (saved.campaign.asked & PROPS_BIT(property)) == 0) {
        fprintf(wanted_text, "%s: passes now; it may be deleted\n", path);
        return kind_result("saved failures", path, 0, PROPS_NONE, "", replay);
    }
    fprintf(wanted_text, "%s: %s is still broken: %s\n", path,
            props_property_id(property), r->breach.text);
    return kind_result("saved failures", path, 2, property, r->breach.text,
                       replay);
}

static int
expect_one_saved(const char *path, const char *text)
{
    const struct asked asked = {.subject = saved.campaign.subject};
    const bool has_subject = strstr(text, "instruments subject") != NULL;
    struct props_replay replay;
    struct sim_scenario *scenario;
    struct sim_error error;
    const char *about;
    int exit_code;

    scenario = kind_parse(path, text, &error);
    if (scenario == NULL) {
        fprintf(wanted_text, "profsim: %s\n", error.text);
        return kind_result("saved failures", path, 1, PROPS_NONE, error.text,
                           "");
    }
    if (has_subject)
        scenario->config.subject = saved.campaign.subject;
    about = about_of(scenario, has_subject);
    if (about != NULL) {
        sim_scenario_free(scenario);
        return expect_left_alone(path, about);
    }
    assert_true(props_replay_run(&replay, scenario,
                                 has_subject ? PROPS_OF_SUBJECTS : PROPS_ALL));
    sim_scenario_free(scenario);
    exit_code = expect_again(path, &replay, kind_replay(&asked, "replay"));
    if (exit_code > 1)
        fprintf(wanted_text,
                "replay: %s %s\nA saved failure comes first; delete it to "
                "search on.\n",
                kind_replay(&asked, "replay"), path);
    return exit_code;
}

/* Draw what is asked, and files a.sim, b.sim ... of random kinds; and others,
 * which are no saved failures. */
static void
expect_saved(void)
{
    static char made_path[128];
    char names[FILES_MAX][32];
    const int count = (int)merge_below(FILES_MAX + 1);
    char words[3][64] = {"check", "--save", "saved"};
    char *argv[] = {words[0], words[1], words[2], NULL};
    int exit_code = 0;
    char folder[64];

    snprintf(made_path, sizeof made_path, "%s", wanted_path("made.so"));
    snprintf(folder, sizeof folder, "%s", wanted_path("saved"));
    assert_int_equal(mkdir(folder, 0700), 0);
    saved = (struct cli_check_options){
        .campaign = {.rules = merge_below(3) > 0 ? &prof_rules_go1_6_late
                                                 : &prof_rules_exact,
                     .asked = PROPS_ALL},
        .save = folder};
    if (merge_below(3) == 0)
        saved.campaign.asked &= ~PROPS_BIT(PROPS_H2);
    if (merge_below(3) == 0) {
        saved.campaign.subject = made;
        saved.campaign.rules = &prof_rules_exact;
        saved.campaign.asked = PROPS_OF_SUBJECTS;
        saved.subject_path = made_path;
    }
    wanted_begin();
    for (int i = 0; i < count; i++) {
        const int kind = (int)merge_below(KINDS);
        const char *text = kinds[kind].text;

        snprintf(names[i], sizeof names[i], "saved/%c.%s", 'a' + i,
                 merge_below(8) > 0 ? "sim" : "sin");
        if (merge_below(8) == 0)
            snprintf(names[i], sizeof names[i], "saved/.sim");
        kind_write(names[i], text != NULL ? text : "");
        if (exit_code == 0 && strstr(names[i], "/.sim") == NULL &&
            strstr(names[i], ".sim") != NULL)
            exit_code = expect_one_saved(wanted_path(names[i]),
                                         text != NULL ? text : "");
    }
    wanted_end();
    wanted_run(check_saved, argv, -1, exit_code);
    for (int i = 0; i < count; i++)
        unlink(wanted_path(names[i]));
    assert_int_equal(rmdir(folder), 0);
}

void
merge_saved_verdicts(void)
{
    merge_seed(22);
    for (int i = 0; i < SAVED; i++)
        expect_saved();
}
