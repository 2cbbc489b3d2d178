/*
 * report_junit.c -- a report as JUnit XML, as Jenkins and GitLab read it.
 *
 *      testsuites            the command
 *        testsuite           a subject, with how many results of each verdict
 *          testcase          a result
 *            failure         broken; error: crashed, incomplete ...
 *            skipped         not tried, not applicable ...; says which
 *            system-out      counts
 *
 * If a verdict passes but is not just "holds" or "caught", the name includes
 * it: "seqlock (bounded: to 2 preemptions)".
 */
#include <inttypes.h>
#include <string.h>

#include "common/report/report.h"

/* Print a byte of a text or of an attribute's value. The report's texts are
 * printable UTF-8 (escape.h), so none has a character that XML forbids. */
static void
print_byte(FILE *file, char byte)
{
    switch (byte) {
    case '&':
        fputs("&amp;", file);
        break;
    case '<':
        fputs("&lt;", file);
        break;
    case '>':
        fputs("&gt;", file);
        break;
    case '"':
        fputs("&quot;", file);
        break;
    default:
        fputc(byte, file);
    }
}

static void
print_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        print_byte(file, *text);
}

/* Print a class name. A dot would end a part of the name, so the subject's dots
 * are written as `_`. */
static void
print_class(FILE *file, const struct cli_report *report, const char *subject)
{
    fprintf(file, "profsim.%s.", report->command);
    for (; *subject != '\0'; subject++)
        print_byte(file, (char)(*subject == '.' ? '_' : *subject));
}

static void
print_name(FILE *file, const struct cli_result *result)
{
    const bool plain = cli_verdict_kind(result->verdict) != CLI_PASSED ||
                       result->verdict == CLI_VERDICT_HOLDS ||
                       result->verdict == CLI_VERDICT_CAUGHT;

    print_text(file, result->name);
    if (plain)
        return;
    fprintf(file, " (%s", cli_verdict_word(result->verdict));
    if (result->text != NULL) {
        fputs(": ", file);
        print_text(file, result->text);
    }
    fputc(')', file);
}

static const char *
message_of(const struct cli_result *result)
{
    return result->text != NULL ? result->text
                                : cli_verdict_text(result->verdict);
}

static void
print_line(FILE *file, const char *key, const char *text)
{
    if (text == NULL)
        return;
    fputs(key, file);
    print_text(file, text);
    fputc('\n', file);
}

static void
print_failure(FILE *file, const struct cli_result *result, const char *element)
{
    fprintf(file, "      <%s type=\"%s\" message=\"", element,
            cli_verdict_word(result->verdict));
    print_text(file, message_of(result));
    fputs("\">", file);
    print_line(file, "", message_of(result));
    print_line(file, "property: ", result->property);
    print_line(file, "about: ", result->about);
    if (result->has_seeds)
        fprintf(file, "seed: %" PRIu64 "\n", result->seed_first);
    print_line(file, "saved: ", result->saved);
    print_line(file, "page: ", result->page);
    print_line(file, "replay: ", result->replay);
    fprintf(file, "</%s>\n", element);
}

static void
print_case(FILE *file, const struct cli_report *report,
           const struct cli_result *result)
{
    fputs("    <testcase classname=\"", file);
    print_class(file, report, result->subject);
    fputs("\" name=\"", file);
    print_name(file, result);
    fputs("\">\n", file);
    switch (cli_verdict_kind(result->verdict)) {
    case CLI_FAILED:
        print_failure(file, result, "failure");
        break;
    case CLI_ERROR:
        print_failure(file, result, "error");
        break;
    case CLI_PASSED:
        break;
    case CLI_SKIPPED:
        fprintf(file, "      <skipped message=\"%s: ",
                cli_verdict_word(result->verdict));
        print_text(file, message_of(result));
        fputs("\"/>\n", file);
    }
    if (result->counts_count > 0) {
        fputs("      <system-out>", file);
        for (uint32_t i = 0; i < result->counts_count; i++)
            fprintf(file, "%s: %" PRIu64 "\n", result->counts[i].name,
                    result->counts[i].value);
        fputs("</system-out>\n", file);
    }
    fputs("    </testcase>\n", file);
}

/* ---- suites ---- */

/* in: subject, NULL: all */
static uint64_t
count_kind(const struct cli_report *report, const char *subject,
           enum cli_verdict_kind kind)
{
    uint64_t count = 0;

    for (int i = 0; i < CLI_VERDICT_COUNT; i++) {
        if (cli_verdict_kind((enum cli_verdict)i) == kind)
            count += cli_report_count(report, subject, (enum cli_verdict)i);
    }
    return count;
}

static void
print_totals(FILE *file, const struct cli_report *report, const char *subject)
{
    const uint64_t failures = count_kind(report, subject, CLI_FAILED);
    const uint64_t errors = count_kind(report, subject, CLI_ERROR);
    const uint64_t skipped = count_kind(report, subject, CLI_SKIPPED);

    fprintf(file,
            " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64
            "\" skipped=\"%" PRIu64 "\">\n",
            failures + errors + skipped +
                count_kind(report, subject, CLI_PASSED),
            failures, errors, skipped);
}

static bool
is_first(const struct cli_report *report, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(report->results[i]->subject,
                   report->results[index]->subject) == 0)
            return false;
    }
    return true;
}

static void
print_suite(FILE *file, const struct cli_report *report, const char *subject)
{
    fputs("  <testsuite name=\"", file);
    print_text(file, subject);
    fputc('"', file);
    print_totals(file, report, subject);
    fputs("    <properties>\n", file);
    for (int i = 0; i < CLI_VERDICT_COUNT; i++) {
        const uint64_t count =
            cli_report_count(report, subject, (enum cli_verdict)i);

        if (count > 0)
            fprintf(file,
                    "      <property name=\"%s\" value=\"%" PRIu64 "\"/>\n",
                    cli_verdict_word((enum cli_verdict)i), count);
    }
    fputs("    </properties>\n", file);
    for (size_t i = 0; i < report->results_count; i++) {
        if (strcmp(report->results[i]->subject, subject) == 0)
            print_case(file, report, report->results[i]);
    }
    fputs("  </testsuite>\n", file);
}

void
cli_report_write_junit(FILE *file, const struct cli_report *report)
{
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"profsim %s\"",
            report->command);
    print_totals(file, report, NULL);
    for (size_t i = 0; i < report->results_count; i++) {
        if (is_first(report, i))
            print_suite(file, report, report->results[i]->subject);
    }
    fputs("</testsuites>\n", file);
}
