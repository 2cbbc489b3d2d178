/* verdict.c -- the verdicts of report.def, and how many a report has. */
#include "common/report/report.h"

#include <string.h>

static const struct {
    const char *word;
    enum cli_verdict_kind kind;
    enum cli_exit exit_code;
    const char *text;
} verdicts[] = {
#define X(id, word, kind, exit_code, text) {word, kind, exit_code, text},
#include "common/report/report.def"
#undef X
};

const char *
cli_verdict_word(enum cli_verdict verdict)
{
    return verdicts[verdict].word;
}

enum cli_verdict_kind
cli_verdict_kind(enum cli_verdict verdict)
{
    return verdicts[verdict].kind;
}

const char *
cli_verdict_text(enum cli_verdict verdict)
{
    return verdicts[verdict].text;
}

enum cli_exit
cli_verdict_exit(enum cli_verdict verdict)
{
    return verdicts[verdict].exit_code;
}

enum cli_verdict
cli_verdict_of(enum cli_exit exit_code)
{
    enum cli_verdict verdict = CLI_VERDICT_HOLDS;

    while (verdict < CLI_VERDICT_WRONG_INPUT &&
           verdicts[verdict].exit_code != exit_code)
        verdict++;
    return verdict;
}

uint64_t
cli_report_count(const struct cli_report *report, const char *subject,
                 enum cli_verdict verdict)
{
    uint64_t count = 0;

    for (size_t i = 0; i < report->results_count; i++) {
        const struct cli_result *result = report->results[i];

        count += result->verdict == verdict &&
                 (subject == NULL || strcmp(subject, result->subject) == 0);
    }
    return count;
}
