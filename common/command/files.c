/* files.c -- see files.h. */
#include "common/command/files.h"

#include "common/command/complaint.h"

bool
cli_files_take(struct cli_files *files, int id, const char *value)
{
    switch (id) {
    case CLI_PAGE_HTML:
    case CLI_PAGE_DATA:
        return cli_page_take(&files->pages, id, value);
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(files->report, id, value);
    default:
        files->out = value;
        return *value != '\0' ||
               cli_complain("--out needs the name of a folder");
    }
}

enum cli_exit
cli_files_run(int argc, char **argv, const struct cli_syntax *syntax,
              struct cli_files *files, void *words,
              bool (*take)(void *words, int id, const char *value),
              enum cli_exit (*run)(const char *path, const void *words))
{
    struct cli_report report;
    enum cli_exit worst = CLI_OK;
    struct cli_options options;
    int count = 0;
    int id;

    files->report = &report;
    cli_report_begin(&report, argc, argv);
    cli_options_begin(&options, syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD)
            argv[++count] = argv[options.index - 1];
        else if (!take(words, id, options.value))
            return cli_report_drop(&report, CLI_USAGE);
    }
    if (options.ended)
        return cli_report_drop(&report, options.exit_code);
    if (count == 0)
        return cli_report_drop(&report,
                               cli_options_missing(&options, "a FILE"));
    if (cli_page_wanted(&files->pages))
        files->of_one = "--html and --data take one file";
    if (count > 1 && files->of_one != NULL)
        return cli_report_drop(&report, cli_usage("%s", files->of_one));
    files->out_each = count > 1;
    report.inputs = &argv[1];
    report.inputs_count = count;
    for (int i = 1; i <= count; i++)
        worst = cli_exit_worse(worst, run(argv[i], words));
    return cli_report_end(&report, worst);
}

void
cli_files_refused(const struct cli_files *files, const char *path)
{
    cli_result_text(
        files->report,
        &cli_report_add(files->report, "files", path, cli_verdict_of(CLI_USAGE))
             ->text,
        "%s", cli_complaint_last());
}
