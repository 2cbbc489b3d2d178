/*
 * file_verdicts.c -- a test of test_merge.c: what `profsim run`, `replay` and
 * `check` say of lists of files, as text and in a report, compared with what
 * the replay of each scenario says.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "kinds.h"
#include "merge_case.h"
#include "replay.h"
#include "scenario.h"
#include "subject_file.h"
#include "unit_test.h"
#include "wanted.h"

enum { WORDS_MAX = 12, FILES_MAX = 4 };
enum { LISTS = SANITIZED ? 16 : 33 };

/* ---- The model ---- */

/* A complaint. returns: its exit code */
static int
expect_complaint(const struct asked *asked, const char *path,
                 const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(wanted_text, "profsim: %s\n", text);
    return kind_result("files", path, 1, PROPS_NONE, text,
                       kind_replay(asked, asked->command));
}

static int
expect_run(const struct asked *asked, const char *path,
           const struct props_replay *r)
{
    const enum props_property property = r->breach.property;
    const char *replay = kind_replay(asked, "run");

    if (r->as_expected) {
        fprintf(wanted_text, "%s: ok%s%s\n", path,
                property != PROPS_NONE ? ": breaks " : "",
                property != PROPS_NONE ? props_property_id(property) : "");
        return kind_result(
            "files", path, 0, property,
            property != PROPS_NONE ? "broken, as it must be" : "", replay);
    }
    if (r->error.text[0] != '\0')
        fprintf(wanted_text, "%s\n", r->error.text);
    if (property != PROPS_NONE)
        fprintf(wanted_text, "%s: %s broken: %s\n", path,
                props_property_id(property), r->breach.text);
    return kind_result("files", path, 2, property,
                       property != PROPS_NONE ? r->breach.text : r->error.text,
                       replay);
}

static int
expect_replay(const struct asked *asked, const char *path,
              const struct props_replay *r, bool is_empty)
{
    const enum props_property property = r->breach.property;
    const char *replay = kind_replay(asked, "replay");

    if (property != PROPS_NONE) {
        fprintf(wanted_text, "%s: %s broken: %s\n  event %" PRIu32 ": %s\n",
                path, props_property_id(property),
                props_property_sentence(property), r->breach.event + 1,
                r->breach.text);
        return kind_result("files", path, 2, property, r->breach.text, replay);
    }
    if (r->error.text[0] != '\0') {
        fprintf(wanted_text, "%s\n", r->error.text);
        return kind_result("files", path, 2, PROPS_NONE, r->error.text, replay);
    }
    if (is_empty) {
        fprintf(wanted_text, "%s: it has no events, so nothing was tried\n",
                path);
        return kind_result("files", path, 6, PROPS_NONE,
                           "it has no events, so nothing was tried", replay);
    }
    fprintf(wanted_text, "%s: every property holds\n", path);
    return kind_result("files", path, 0, PROPS_NONE, "", replay);
}

/* What a command says of one file. returns: its exit code */
static int
expect_file(const struct asked *asked, int kind)
{
    const char *path = wanted_path(kinds[kind].name);
    const char *text = kinds[kind].text;
    const bool runs = strcmp(asked->command, "run") == 0;
    struct sim_scenario *scenario;
    struct props_replay replay;
    struct sim_error error;
    bool is_empty;
    bool has_subject;

    if (text == NULL)
        return expect_complaint(asked, path, "%s: No such file or directory",
                                path);
    if (runs && strncmp(text, "profsim", 7) != 0)
        return expect_complaint(asked, path,
                                "%s: neither a scenario nor a recording%s",
                                path, text[0] == '\0' ? ": it is empty" : "");
    scenario = kind_parse(path, text, &error);
    if (scenario == NULL)
        return expect_complaint(asked, path, "%s", error.text);
    is_empty = scenario->events_count == 0;
    has_subject = strstr(text, "instruments subject") != NULL;
    if (has_subject)
        scenario->config.subject = asked->subject;
    assert_true(props_replay_run(&replay, scenario,
                                 has_subject ? PROPS_OF_SUBJECTS : PROPS_ALL));
    sim_scenario_free(scenario);
    if (runs && asked->subject != NULL && !has_subject)
        return expect_complaint(asked, path,
                                "%s: --subject needs a scenario with the line "
                                "`instruments subject`",
                                path);
    if (asked->lines && has_subject && asked->subject != NULL)
        return expect_complaint(
            asked, path,
            "%s: --debug is about the library, not about a subject", path);
    if (replay.crashed) {
        fprintf(wanted_text, "%s: the run was ended by signal 6 (Aborted)\n",
                path);
        return kind_result("files", path, 3, PROPS_NONE,
                           "the run was ended by signal 6 (Aborted)",
                           kind_replay(asked, runs ? "run" : "replay"));
    }
    if (replay.refused)
        return expect_complaint(asked, path, "%s", replay.error.text);
    return runs ? expect_run(asked, path, &replay)
                : expect_replay(asked, path, &replay, is_empty);
}

/* ---- The commands ---- */

static const struct {
    const char *name;
    enum cli_exit (*run)(int argc, char **argv);
} commands[] = {{"run", cli_run}, {"replay", cli_replay}, {"check", cli_check}};

static int
worst_of(int a, int b)
{
    return merge_badness(a) > merge_badness(b) ? a : b;
}

/* Run a command on files. in: exact, NULL, or what the text ends with */
static void
expect_files(int which, const struct asked *asked, const int *files, int count,
             bool in_process)
{
    static char words[WORDS_MAX][128];
    char *argv[WORDS_MAX];
    int exit_code = 0;
    int argc = 0;

    wanted_begin();
#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("%s", asked->command);
    for (int i = 0; i < count; i++) {
        exit_code = worst_of(exit_code, expect_file(asked, files[i]));
        ADD("%s", wanted_path(kinds[files[i]].name));
    }
    ADD("--json=%s", wanted_path("a.json"));
    if (asked->subject != NULL)
        ADD("--subject=%s", wanted_path("made.so"));
    if (asked->lines)
        ADD("--debug=alloc");
    if (in_process)
        ADD("--in-process");
    argv[argc] = NULL;
    wanted_end();
    if (asked->subject != NULL && which == 0) /* it is shown first */
        wanted_run_at_least(commands[which].run, argv, exit_code);
    else
        wanted_run(commands[which].run, argv, -1, exit_code);
}

static void
expect_lists(void)
{
    merge_seed(21);
    for (int i = 0; i < LISTS; i++) {
        const int which = i % 3;
        const struct asked asked = {
            .command = commands[which].name,
            .subject = merge_below(2) > 0 ? made : NULL,
        };
        int files[FILES_MAX];
        int count = 1;

        /* Each kind in turn, so that a command is asked about all of them. */
        files[0] = 2 * (i / 3) % KINDS;
        while (count < FILES_MAX && (count < 2 || merge_below(3) > 0) &&
               (which > 0 || asked.subject == NULL))
            files[count] = (files[0] + count) % KINDS, count++;
        expect_files(which, &asked, files, count,
                     which == 1 && asked.subject == NULL && merge_below(2) > 0);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        const struct asked asked = {
            .command = "run", .subject = made, .lines = true};

        if (strstr(kinds[kind].name, "subject") != NULL)
            expect_files(0, &asked, &kind, 1, false);
    }
}

/* One file is explained, shrunk or shown on a page, no more. */
static void
expect_one_file(void)
{
    static const struct {
        const char *words[4];
        enum cli_exit (*run)(int argc, char **argv);
        const char *said;
    } rows[] = {
        {{"explain", "a.sim", "b.sim"},
         cli_explain,
         "profsim: explain: takes one file; 'b.sim' is one more\n"},
        {{"shrink", "a.sim", "b.sim"},
         cli_shrink,
         "profsim: shrink: takes one file; 'b.sim' is one more\n"},
        {{"replay", "a.sim", "b.sim", "--html=c"},
         cli_replay,
         "profsim: --html and --data take one file\n"},
        {{"replay", "a.sim", "b.sim", "--break=2"},
         cli_replay,
         "profsim: --break takes one file\n"},
        {{"explain"}, cli_explain, "profsim: explain: needs a FILE"},
        {{"shrink"}, cli_shrink, "profsim: shrink: needs a FILE"},
        {{"replay"}, cli_replay, "profsim: replay: needs a FILE"},
        {{"run"}, cli_run, "profsim: run: needs a FILE"},
        {{"explain", "--subject=own", "--subject=x"},
         cli_explain,
         "profsim: --subject names one profiler; 'x' is one more\n"},
        {{"replay", "--subject=own", "a.sim", "--subject=x"},
         cli_replay,
         "profsim: --subject names one profiler; 'x' is one more\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[4][32];
        char *argv[5] = {NULL};
        struct captured said;

        for (int k = 0; k < 4 && rows[i].words[k] != NULL; k++) {
            argv[k] = words[k];
            snprintf(words[k], sizeof words[k], "%s", rows[i].words[k]);
        }
        assert_true(captured_run(&said, rows[i].run, argv, -1, 60));
        assert_memory_equal(said.text, rows[i].said, strlen(rows[i].said));
        merge_expect_exit(&said, 1);
        captured_free(&said);
    }
}

void
merge_file_verdicts(void)
{
    merge_make_subject();
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].text != NULL)
            kind_write(kinds[i].name, kinds[i].text);
    }
    expect_lists();
    expect_one_file();
    merge_saved_verdicts();
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].text != NULL)
            assert_int_equal(unlink(wanted_path(kinds[i].name)), 0);
    }
}
