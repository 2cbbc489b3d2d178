/*
 * report_json.c -- a report as JSON. docs/ci.md describes it, and
 * docs/ci/report.schema.json is its schema.
 */
#include <inttypes.h>

#include "common/json.h"
#include "prof/version.h"
#include "common/report/report.h"

enum { VERSION = 1 };

/* Print a member. in: key, with the text before it; text, NULL: no such
 * member */
static void
print_member(FILE *file, const char *key, const char *text)
{
    if (text == NULL)
        return;
    fputs(key, file);
    sim_json_string(file, text);
}

static void
print_counts(FILE *file, const struct cli_result *result)
{
    fputs(",\n      \"counts\": {", file);
    for (uint32_t i = 0; i < result->counts_count; i++)
        fprintf(file, "%s\"%s\": %" PRIu64, i == 0 ? "" : ", ",
                result->counts[i].name, result->counts[i].value);
    fputc('}', file);
}

static void
print_result(FILE *file, const struct cli_result *result)
{
    fputs("    {\n", file);
    print_member(file, "      \"subject\": ", result->subject);
    print_member(file, ",\n      \"name\": ", result->name);
    print_member(file, ",\n      \"about\": ", result->about);
    print_member(file,
                 ",\n      \"verdict\": ", cli_verdict_word(result->verdict));
    print_member(file, ",\n      \"property\": ", result->property);
    print_member(file, ",\n      \"text\": ", result->text);
    if (result->has_seeds && result->seed_first == result->seed_last)
        fprintf(file, ",\n      \"seed\": %" PRIu64, result->seed_first);
    else if (result->has_seeds)
        fprintf(file,
                ",\n      \"seeds\": {\"first\": %" PRIu64
                ", \"last\": %" PRIu64 "}",
                result->seed_first, result->seed_last);
    print_counts(file, result);
    print_member(file, ",\n      \"saved\": ", result->saved);
    print_member(file, ",\n      \"page\": ", result->page);
    print_member(file, ",\n      \"replay\": ", result->replay);
    fputs("\n    }", file);
}

static void
print_arguments(FILE *file, const struct cli_report *report)
{
    fputs(",\n  \"arguments\": [", file);
    for (char *const *word = report->arguments; *word != NULL; word++) {
        fputs(word == report->arguments ? "" : ", ", file);
        sim_json_string(file, *word);
    }
    fputc(']', file);
}

static void
print_totals(FILE *file, const struct cli_report *report)
{
    fputs(",\n  \"counts\": {", file);
    for (int i = 0; i < CLI_VERDICT_COUNT; i++)
        fprintf(file, "%s\n    \"%s\": %" PRIu64, i == 0 ? "" : ",",
                cli_verdict_word((enum cli_verdict)i),
                cli_report_count(report, NULL, (enum cli_verdict)i));
    fputs("\n  }", file);
}

void
cli_report_write_json(FILE *file, const struct cli_report *report)
{
    fprintf(file,
            "{\n  \"format\": \"profsim report\",\n  \"version\": %d,\n"
            "  \"profsim\": \"%s\"",
            VERSION, PROF_VERSION);
    print_member(file, ",\n  \"command\": ", report->command);
    print_arguments(file, report);
    fprintf(file, ",\n  \"exit\": %d", (int)report->exit_code);
    print_totals(file, report);
    fputs(",\n  \"results\": [", file);
    for (size_t i = 0; i < report->results_count; i++) {
        fputs(i == 0 ? "\n" : ",\n", file);
        print_result(file, report->results[i]);
    }
    fputs(report->results_count == 0 ? "]\n}\n" : "\n  ]\n}\n", file);
}
