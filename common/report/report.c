/* report.c -- see report.h. */
#include "common/report/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "common/output.h"
#include "common/page/page.h"
#include "common/command/quote.h"

/* ---- results ---- */

/* returns: a copy in which bytes that are not printable are escaped */
static char *
copy(struct cli_report *report, const char *text)
{
    char *copied = NULL;
    size_t bytes;
    FILE *file = open_memstream(&copied, &bytes);

    if (file != NULL)
        sim_escape_text(file, text);
    report->failed |= file == NULL || fclose(file) != 0;
    return copied;
}

void
cli_report_begin(struct cli_report *report, int argc, char *const *argv)
{
    /* The arguments: all words except the command's name, and NULL at the
     * end. */
    *report = (struct cli_report){
        .command = argv[0], .arguments = calloc((size_t)argc, sizeof *argv)};
    report->failed = report->arguments == NULL;
    for (int i = 1; i < argc && !report->failed; i++)
        report->arguments[i - 1] = copy(report, argv[i]);
}

bool
cli_report_take(struct cli_report *report, int id, const char *path)
{
    static const char *const options[] = {"--json", "--junit", "--html"};
    const char **const places[] = {&report->json, &report->junit,
                                   &report->html};
    const int place = id - CLI_REPORT_JSON;
    struct prof_file file;

    if (*path == '\0')
        return cli_complain("%s needs the name of a file", options[place]);
    if (*places[place] != NULL)
        return cli_complain("%s is given twice: '%s' and '%s'", options[place],
                            *places[place], path);
    for (int i = 0; i < 3; i++) {
        if (*places[i] != NULL && strcmp(*places[i], path) == 0)
            return cli_complain("%s and %s cannot both be '%s'",
                                options[i < place ? i : place],
                                options[i < place ? place : i], path);
    }
    *places[place] = path;
    return prof_file_check(&file, path) == PROF_OK ||
           cli_complain("%s: %s", path, prof_file_reason(&file));
}

static void
result_free(struct cli_result *result)
{
    free(result->subject);
    free(result->name);
    free(result->about);
    free(result->property);
    free(result->text);
    free(result->saved);
    free(result->page);
    free(result->replay);
    free(result);
}

struct cli_result *
cli_report_add(struct cli_report *report, const char *subject, const char *name,
               enum cli_verdict verdict)
{
    static struct cli_result spare;
    struct cli_result *result = calloc(1, sizeof *result);
    struct cli_result **results =
        realloc(report->results, (report->results_count + 1) * sizeof *results);

    if (results != NULL)
        report->results = results;
    if (result == NULL || results == NULL) {
        free(result);
        report->failed = true;
        spare = (struct cli_result){.verdict = verdict};
        return &spare;
    }
    result->verdict = verdict;
    result->subject = copy(report, subject);
    result->name = copy(report, name);
    results[report->results_count++] = result;
    return result;
}

void
cli_result_text(struct cli_report *report, char **text, const char *format, ...)
{
    va_list arguments;
    char *line;

    if (report->failed)
        return;
    va_start(arguments, format);
    report->failed = vasprintf(&line, format, arguments) < 0;
    va_end(arguments);
    if (report->failed)
        return;
    free(*text);
    *text = copy(report, line);
    free(line);
}

void
cli_result_count(struct cli_result *result, const char *name, uint64_t value)
{
    if (result->counts_count < CLI_COUNTS_MAX)
        result->counts[result->counts_count++] =
            (struct cli_count){name, value};
}

void
cli_result_replay(struct cli_report *report, struct cli_result *result,
                  const char *command, const char *path)
{
    char *text = NULL;
    size_t bytes;
    FILE *file;

    if (report->failed)
        return;
    file = open_memstream(&text, &bytes);
    if (file != NULL) {
        fputs(command, file);
        if (path != NULL) {
            fputc(' ', file);
            cli_quote_path(file, path);
        }
    }
    report->failed = file == NULL || fclose(file) != 0;
    free(result->replay);
    result->replay = text;
}

void
cli_result_seeds(struct cli_result *result, uint64_t first, uint64_t last)
{
    result->has_seeds = true;
    result->seed_first = first;
    result->seed_last = last;
}

/* ---- files ---- */

/* returns: NULL, or why the file was not written */
static const char *
write_bytes(const struct cli_report *report, const char *path,
            const char *bytes, size_t count)
{
    const struct props_output output = {.path = path};
    struct prof_file file;
    enum prof_status status = props_output_begin(&file, &output);
    const struct prof_sink sink = prof_file_sink(&file);
    bool is_input = false;

    if (status != PROF_OK)
        return prof_file_reason(&file);
    for (int i = 0; i < report->inputs_count; i++)
        is_input |= prof_file_is(&file, report->inputs[i]);
    status = is_input ? PROF_ERR_SINK : sink.write(sink.context, bytes, count);
    status = props_output_end(&file, status);
    if (status == PROF_OK)
        return NULL;
    return is_input ? "it is an input; write another file"
                    : prof_file_reason(&file);
}

static bool
write_file(const struct cli_report *report, const char *path,
           void (*write)(FILE *file, const struct cli_report *report))
{
    const char *reason = "not enough memory";
    char *bytes = NULL;
    size_t count;
    FILE *file = NULL;

    if (path == NULL)
        return true;
    if (!report->failed)
        file = open_memstream(&bytes, &count);
    if (file != NULL) {
        write(file, report);
        if (fclose(file) == 0)
            reason = write_bytes(report, path, bytes, count);
    }
    free(bytes);
    return reason == NULL || cli_complain("%s: %s", path, reason);
}

/* Write the page that shows the same JSON. */
static bool
write_page(const struct cli_report *report)
{
    const struct cli_page_paths paths = {.html = report->html};
    struct cli_page page;

    if (report->html == NULL)
        return true;
    for (int i = 0; i < report->inputs_count; i++) {
        if (strcmp(report->inputs[i], report->html) == 0)
            return cli_complain("%s: it is an input; write another file",
                                report->html);
    }
    cli_page_begin(&page);
    if (page.file == NULL || report->failed) {
        cli_page_drop(&page);
        return cli_complain("%s: not enough memory", report->html);
    }
    cli_report_write_json(page.file, report);
    return cli_page_end(&page, CLI_PAGE_CAMPAIGN, &paths,
                        report->inputs_count > 0 ? report->inputs[0] : NULL);
}

enum cli_exit
cli_report_drop(struct cli_report *report, enum cli_exit exit_code)
{
    for (size_t i = 0; i < report->results_count; i++)
        result_free(report->results[i]);
    for (char **word = report->arguments; word != NULL && *word != NULL; word++)
        free(*word);
    free(report->arguments);
    free(report->results);
    *report = (struct cli_report){.exit_code = exit_code};
    return exit_code;
}

enum cli_exit
cli_report_end(struct cli_report *report, enum cli_exit exit_code)
{
    bool good;

    report->exit_code = exit_code;
    if (exit_code == CLI_USAGE && report->command != NULL &&
        cli_report_count(report, NULL, CLI_VERDICT_WRONG_INPUT) == 0) {
        struct cli_result *result = cli_report_add(
            report, "profsim", report->command, CLI_VERDICT_WRONG_INPUT);

        cli_result_text(report, &result->text, "%s", cli_complaint_last());
    }
    good = write_file(report, report->json, cli_report_write_json);
    good = write_file(report, report->junit, cli_report_write_junit) && good;
    good = write_page(report) && good;
    return cli_report_drop(report, good ? exit_code : CLI_USAGE);
}
