/*
 * report.h -- the results of a command, for other programs: --json FILE and
 * --junit FILE (docs/ci.md).
 *
 *      command --> results --> report_json.c, report_junit.c --> files
 *
 * A report is always collected, and written when the command ends, with its
 * exit code. A report holds no times, so the same run writes the same bytes.
 */
#ifndef COMMON_REPORT_REPORT_H
#define COMMON_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/command/exit.h"

/* Words and kinds are in report.def. */
enum cli_verdict {
#define X(id, word, kind, exit_code, text) CLI_VERDICT_##id,
#include "common/report/report.def"
#undef X
    CLI_VERDICT_COUNT
};

/* What a verdict is in JUnit, which knows only four. */
enum cli_verdict_kind { CLI_PASSED, CLI_SKIPPED, CLI_FAILED, CLI_ERROR };

enum { CLI_COUNTS_MAX = 8 };

struct cli_count {
    const char *name; /* a literal */
    uint64_t value;
};

/* One thing that was judged. Texts belong to the report; NULL: none. */
struct cli_result {
    char *subject; /* what was judged: "rules exact", a file */
    char *name;    /* a property, a kernel, a file; unique in its subject */
    char *about;   /* the property as a sentence */
    enum cli_verdict verdict;
    char *property; /* the broken one, where `name` is a file */
    char *text;     /* what is wrong, or how far the verdict goes */
    char *saved;    /* the file that shows it */
    char *page;     /* the same for a browser */
    char *replay;   /* the command that shows it again */
    bool has_seeds;
    uint64_t seed_first; /* a failure's two are the same */
    uint64_t seed_last;
    struct cli_count counts[CLI_COUNTS_MAX];
    uint32_t counts_count;
};

struct cli_report {
    const char *command;
    char **arguments; /* NULL at its end */
    const char *json; /* where to write; NULL: nowhere */
    const char *junit;
    const char *html;
    char *const *inputs; /* files that were read, not to be written over */
    int inputs_count;
    struct cli_result **results;
    size_t results_count;
    bool failed; /* not enough memory; it will not be written */
    enum cli_exit exit_code;
};

/* The options for a command's table, and their numbers for its switch. */
enum { CLI_REPORT_JSON = 101, CLI_REPORT_JUNIT, CLI_REPORT_HTML };
/* clang-format off */
#define CLI_REPORT_OPTIONS                                              \
    {CLI_REPORT_JSON, 0, "json", "FILE", "write the results as JSON"},  \
    {CLI_REPORT_JUNIT, 0, "junit", "FILE", "write the results as JUnit XML"}
#define CLI_REPORT_PAGE_OPTION                                          \
    {CLI_REPORT_HTML, 0, "html", "FILE", "write the results as a page"}
/* clang-format on */

/* in: argv[0], the command's name; argv[argc] is NULL */
void cli_report_begin(struct cli_report *report, int argc, char *const *argv);

/*
 * Take --json, --junit or --html.
 *
 * returns: false, and a complaint, if nothing can be written there
 */
bool cli_report_take(struct cli_report *report, int id, const char *path);

/*
 * Add a result.
 *
 * in:      subject, name, copied
 * returns: the result, to be completed; never NULL: if memory ran out it is a
 *          dummy, which will be discarded
 */
struct cli_result *cli_report_add(struct cli_report *report,
                                  const char *subject, const char *name,
                                  enum cli_verdict verdict);

/* Complete a result. `text` may be one of its fields: &result->replay. */
void cli_result_text(struct cli_report *report, char **text, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));
void cli_result_count(struct cli_result *result, const char *name,
                      uint64_t value);
void cli_result_seeds(struct cli_result *result, uint64_t first, uint64_t last);

/* Set the replay command. in: path, appended in quotes; NULL: nothing is
 * appended */
void cli_result_replay(struct cli_report *report, struct cli_result *result,
                       const char *command, const char *path);

/* returns: how many results have the verdict, in all or of one subject */
uint64_t cli_report_count(const struct cli_report *report, const char *subject,
                          enum cli_verdict verdict);

/*
 * Write the files that were asked for, each whole or not at all, and free the
 * memory.
 *
 * in:      exit_code, of the command
 * returns: exit_code; CLI_USAGE, after a complaint, if a file was not written
 */
enum cli_exit cli_report_end(struct cli_report *report,
                             enum cli_exit exit_code);

/* Free a report that will not be written. returns: exit_code */
enum cli_exit cli_report_drop(struct cli_report *report,
                              enum cli_exit exit_code);

/* returns: the word, the sentence and the exit code of report.def */
const char *cli_verdict_word(enum cli_verdict verdict);
enum cli_verdict_kind cli_verdict_kind(enum cli_verdict verdict);
const char *cli_verdict_text(enum cli_verdict verdict);
enum cli_exit cli_verdict_exit(enum cli_verdict verdict);

/* returns: the first verdict of report.def with this exit code */
enum cli_verdict cli_verdict_of(enum cli_exit exit_code);

/* The writers. Errors are those of `file` (ferror). */
void cli_report_write_json(FILE *file, const struct cli_report *report);
void cli_report_write_junit(FILE *file, const struct cli_report *report);

#endif
