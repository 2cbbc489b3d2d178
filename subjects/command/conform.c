/*
 * conform.c -- `profsim conform`: does a producer of otel_memory probes keep
 * the contract? Each check is a process of its own, profsim-conform with the
 * producer preloaded, which prints one line: a word and a text.
 */
#include "subjects/command/conform.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "subjects/command/conform_stream.h"
#include "subjects/command/conform_wait.h"
#include "common/escape.h"
#include "common/nearest.h"
#include "subjects/notes.h"
#include "common/command/options.h"
#include "common/command/preload.h"
#include "common/command/quote.h"
#include "common/report/report.h"

enum {
    NAME_MAX_BYTES = 40,
    TEXT_MAX = 1024,
    NOTES_READ = 256,
    TIME_MAX_S = 3600
};

static const struct check {
    const char *sentence; /* "C1" */
    const char *name;     /* with _ for - */
    const char *about;
} checks[] = {
#define X(sentence, name, about) {#sentence, #name, about},
#include "subjects/conform/sentences.def"
#undef X
};

enum { CHECKS = sizeof checks / sizeof *checks };

enum { OPTION_ONLY = 1, OPTION_TIME, OPTION_LIST };

static const struct cli_option option_table[] = {
    {OPTION_ONLY, 'o', "only", "CHECK", "this check alone; may be repeated"},
    {OPTION_TIME, 't', "time", "SECONDS",
     "of CPU, or of sleep, for each check (60)"},
    {OPTION_LIST, 'l', "list", NULL,
     "list the checks, with the sentence each tests"},
    CLI_REPORT_OPTIONS,
    {0}};

static const struct cli_syntax syntax = {
    .command = "conform",
    .words = "[OPTION...] LIBRARY | [OPTION...] -- COMMAND...",
    .about = "Check a producer of otel_memory probes against the contract "
             "(docs/conform.md). A\nLIBRARY is preloaded and gets every check; "
             "the probes of a COMMAND are judged by\nwhat its events show. "
             "Prints TAP.\n",
    .ends_at_word = true,
    .options = option_table,
    .exits = CLI_EXIT_HELP};

struct conform {
    const char *library; /* as it was given; the command's first word */
    char **command;      /* NULL: a library is preloaded */
    char path[PATH_MAX]; /* of the library, absolute */
    char program[PATH_MAX];
    uint64_t time_s;
    bool is_requested[CHECKS];
    uint32_t requested;
    struct cli_report report;
};

/* returns: a name as it is shown, with dashes */
static const char *
shown(const char *name)
{
    static char text[NAME_MAX_BYTES];
    size_t i = 0;

    for (; name[i] != '\0' && i + 1 < sizeof text; i++)
        text[i] = (char)(name[i] == '_' ? '-' : name[i]);
    text[i] = '\0';
    return text;
}

/* ---- One check ---- */

static _Noreturn void
become_check(const struct conform *conform, const char *name, int output)
{
    if (setpgid(0, 0) != 0 || dup2(output, STDOUT_FILENO) < 0)
        _exit(CLI_NOT_EXECUTABLE);
    cli_preload_add(conform->path);
    execl(conform->program, conform->program, name, (char *)NULL);
    _exit(CLI_NOT_EXECUTABLE);
}

static void
fail(struct cli_conform_outcome *outcome, enum cli_verdict verdict,
     const char *format, int value)
{
    outcome->verdict = verdict;
    snprintf(outcome->text, sizeof outcome->text, format, value);
}

/* "holds TEXT\n" */
static void
take_line(struct cli_conform_outcome *outcome, char *line)
{
    static const enum cli_verdict known[] = {
        CLI_VERDICT_HOLDS, CLI_VERDICT_BROKEN, CLI_VERDICT_NOT_TRIED,
        CLI_VERDICT_NOT_APPLICABLE};
    char *const blank = strchr(line, ' ');

    if (blank != NULL) {
        *blank = '\0';
        blank[1 + strcspn(blank + 1, "\n")] = '\0';
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(line, cli_verdict_word(known[i])) == 0) {
                outcome->verdict = known[i];
                snprintf(outcome->text, sizeof outcome->text, "%s", blank + 1);
                return;
            }
    }
    fail(outcome, CLI_VERDICT_INCOMPLETE, "the check said nothing", 0);
}

static void
try_check(const struct conform *conform, const char *name,
          struct cli_conform_outcome *outcome)
{
    char line[TEXT_MAX];
    int ends[2];
    int status = 0;
    enum cli_conform_end end;
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0) {
        fail(outcome, CLI_VERDICT_INCOMPLETE, "no process for the check", 0);
        return;
    }
    if (child == 0)
        become_check(conform, name, ends[1]);
    setpgid(child, child);
    close(ends[1]);
    end = cli_conform_wait(ends[0], line, sizeof line, child, conform->time_s);
    close(ends[0]);
    kill(-child, SIGKILL); /* and processes that it left */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (line[0] != '\0')
        take_line(outcome, line);
    else if (end == CLI_CONFORM_SLEEPS)
        fail(outcome, CLI_VERDICT_NO_END,
             "it does not end: for %d s all its threads have slept",
             (int)conform->time_s);
    else if (end == CLI_CONFORM_UNFINISHED)
        fail(outcome, CLI_VERDICT_INCOMPLETE,
             "not finished: it has run for %d s; --time gives it more",
             (int)conform->time_s);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP)
        fail(outcome, CLI_VERDICT_INCOMPLETE,
             "not tried: it was ended by SIGTRAP. A probe fired while its "
             "thread blocked that signal by a system call of its own, or it "
             "has a breakpoint",
             0);
    else if (WIFSIGNALED(status))
        fail(outcome, CLI_VERDICT_CRASHED, "it was ended by signal %d",
             WTERMSIG(status));
    else
        fail(outcome, CLI_VERDICT_CRASHED, "it ended by itself, with code %d",
             WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* ---- The list ---- */

/* Print what a check said, which is the only text from outside. */
static void
print_part(const char *before, const char *word,
           const struct cli_conform_outcome *outcome)
{
    printf("%s%s%s", before, word != NULL ? word : "",
           word != NULL ? ": " : "");
    sim_escape_text(stdout, outcome->text);
}

/* Print the command that makes one check again. */
static void
print_replay(FILE *file, const struct conform *conform,
             const struct check *check)
{
    fprintf(file, "profsim conform --only %s ", shown(check->name));
    if (conform->command == NULL) {
        cli_quote_path(file, conform->library);
        return;
    }
    fputs("--", file);
    for (char **word = conform->command; *word != NULL; word++) {
        fputc(' ', file);
        cli_quote_word(file, *word);
    }
}

/* Print a line of TAP, and below it what else a reader needs to know. */
static void
print_outcome(const struct conform *conform, uint32_t number,
              const struct check *check,
              const struct cli_conform_outcome *outcome)
{
    const enum cli_verdict_kind kind = cli_verdict_kind(outcome->verdict);

    printf("%s %u - %s %s",
           kind == CLI_PASSED || kind == CLI_SKIPPED ? "ok" : "not ok", number,
           check->sentence, shown(check->name));
    if (kind == CLI_SKIPPED)
        print_part(" # SKIP ", cli_verdict_word(outcome->verdict), outcome);
    putchar('\n');
    if (kind == CLI_PASSED) {
        print_part("# ", NULL, outcome);
        putchar('\n');
    } else if (kind != CLI_SKIPPED) {
        printf("  ---\n  contract: %s\n", check->about);
        print_part("  ", cli_verdict_word(outcome->verdict), outcome);
        fputs("\n  replay: ", stdout);
        print_replay(stdout, conform, check);
        puts("\n  ...");
    }
    fflush(stdout);
}

static void
add_result(struct conform *conform, const struct check *check,
           const struct cli_conform_outcome *outcome)
{
    struct cli_result *const result =
        cli_report_add(&conform->report, conform->library, shown(check->name),
                       outcome->verdict);
    char *text = NULL;
    size_t bytes = 0;
    FILE *const file = open_memstream(&text, &bytes);

    cli_result_text(&conform->report, &result->about, "%s: %s", check->sentence,
                    check->about);
    cli_result_text(&conform->report, &result->text, "%s", outcome->text);
    if (file != NULL)
        print_replay(file, conform, check);
    if (file == NULL || fclose(file) != 0)
        conform->report.failed = true;
    else
        cli_result_replay(&conform->report, result, text, NULL);
    free(text);
}

static enum cli_exit
try_checks(struct conform *conform)
{
    uint32_t number = 0;
    uint32_t kinds[4] = {0};
    enum cli_exit worst = CLI_OK;

    printf("TAP version 13\n1..%u\n", conform->requested);
    for (size_t i = 0; i < CHECKS; i++) {
        struct cli_conform_outcome outcome = {0};

        if (!conform->is_requested[i])
            continue;
        if (conform->command == NULL)
            try_check(conform, checks[i].name, &outcome);
        else
            cli_conform_stream_judge(checks[i].name, &outcome);
        print_outcome(conform, ++number, &checks[i], &outcome);
        add_result(conform, &checks[i], &outcome);
        kinds[cli_verdict_kind(outcome.verdict)]++;
        worst = cli_exit_worse(worst, outcome.verdict == CLI_VERDICT_NOT_TRIED
                                          ? CLI_INCOMPLETE
                                          : cli_verdict_exit(outcome.verdict));
    }
    printf("# %u hold, %u are broken, %u did not end well, %u were not tried "
           "or do not apply\n",
           kinds[CLI_PASSED], kinds[CLI_FAILED], kinds[CLI_ERROR],
           kinds[CLI_SKIPPED]);
    return worst;
}

/* ------------------------------------------------------------------ the
 * command */

static enum cli_exit
print_list(void)
{
    for (size_t i = 0; i < CHECKS; i++)
        printf("%-4s %-22s %s\n", checks[i].sentence, shown(checks[i].name),
               checks[i].about);
    return CLI_OK;
}

static bool
ask(struct conform *conform, const char *word)
{
    static char names[CHECKS][NAME_MAX_BYTES];
    struct sim_nearest nearest = {.wrong = word, .wrong_bytes = strlen(word)};

    for (size_t i = 0; i < CHECKS; i++) {
        if (strcmp(shown(checks[i].name), word) == 0) {
            conform->is_requested[i] = true;
            return true;
        }
    }
    for (size_t i = 0; i < CHECKS; i++) {
        snprintf(names[i], sizeof names[i], "%s", shown(checks[i].name));
        sim_nearest_try(&nearest, names[i]);
    }
    return cli_unknown("check", &nearest,
                       "'profsim conform --list' names them");
}

/* returns: false, reported */
static bool
find_files(struct conform *conform)
{
    static const struct cli_preload exerciser = {.verb = "conform",
                                                 .library = "profsim-conform",
                                                 .variable = "PROFSIM_CONFORM"};
    static struct note notes[NOTES_READ];
    const char *reason;
    size_t count;
    bool found = false;

    if (realpath(conform->library, conform->path) == NULL ||
        access(conform->path, R_OK) != 0)
        return cli_complain("%s: %s", conform->library, strerror(errno));
    reason =
        notes_read(conform->path, "otel_memory", notes, NOTES_READ, &count);
    for (size_t i = 0; i < count; i++)
        found = found || strcmp(notes[i].name, "alloc") == 0;
    if (reason != NULL || !found)
        return cli_complain("%s: %s", conform->library,
                            reason != NULL ? reason
                                           : "it has no probe "
                                             "otel_memory:alloc");
    if (strpbrk(conform->path, " :\t\n") != NULL)
        return cli_complain("%s: a path with a space or a colon cannot be "
                            "preloaded",
                            conform->library);
    return cli_preload_find(conform->program, sizeof conform->program,
                            &exerciser);
}

static void
ask_all_or_some(struct conform *conform)
{
    bool some = false;

    for (size_t i = 0; i < CHECKS; i++)
        some = some || conform->is_requested[i];
    for (size_t i = 0; i < CHECKS; i++) {
        conform->is_requested[i] = (conform->is_requested[i] || !some) &&
                                   (conform->command == NULL ||
                                    cli_conform_stream_judges(checks[i].name));
        conform->requested += conform->is_requested[i];
    }
}

/* Take the words after the options: one LIBRARY, or after `--` a COMMAND. */
static bool
take_words(struct conform *conform, const struct cli_options *words)
{
    char **const plain = &words->argv[words->index];

    conform->library = plain[0];
    if (words->index >= 2 && strcmp(plain[-1], "--") == 0)
        conform->command = plain;
    else if (plain[0] != NULL && plain[1] != NULL)
        return cli_complain("conform: one LIBRARY, or -- before a COMMAND, "
                            "not '%s'",
                            plain[1]);
    return true;
}

/* returns: CLI_OK if there is something to judge; else why not, reported */
static enum cli_exit
prepare(struct conform *conform)
{
    if (conform->command != NULL)
        return cli_conform_stream_run(conform->command);
    return find_files(conform) ? CLI_OK : CLI_USAGE;
}

enum cli_exit
cli_conform(int argc, char **argv)
{
    static struct conform conform;
    struct cli_options words;
    enum cli_exit exit_code;
    int id;

    conform.time_s = 60;
    cli_report_begin(&conform.report, argc, argv);
    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        bool taken = true;

        if (id == OPTION_LIST)
            return cli_report_drop(&conform.report, print_list());
        if (id == OPTION_ONLY)
            taken = ask(&conform, words.value);
        else if (id == OPTION_TIME)
            taken = cli_number("--time", words.value, 1, TIME_MAX_S,
                               &conform.time_s);
        else
            taken = cli_report_take(&conform.report, id, words.value);
        if (!taken)
            return cli_report_drop(&conform.report, CLI_USAGE);
    }
    if (words.ended)
        return cli_report_drop(&conform.report, words.exit_code);
    if (!take_words(&conform, &words))
        return cli_report_drop(&conform.report, CLI_USAGE);
    if (conform.library == NULL)
        return cli_report_drop(&conform.report,
                               cli_options_missing(&words, "a LIBRARY"));
    ask_all_or_some(&conform);
    exit_code = prepare(&conform);
    if (exit_code != CLI_OK)
        return cli_report_drop(&conform.report, exit_code);
    return cli_report_end(&conform.report, try_checks(&conform));
}
