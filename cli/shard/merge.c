/* merge.c -- see merge.h. */
#include "merge.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_merge.h"
#include "complaint.h"
#include "explore_merge.h"
#include "line_reader.h"
#include "options.h"
#include "rows.h"
#include "rows_merge.h"

enum { SAVE = 1 };

static const struct cli_option table[] = {
    {SAVE, 0, "save", "DIR", "where failures are saved (profsim-failures)"},
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "merge",
    .words = "DIR [OPTION...]",
    .about = "Add up the results of shards (docs/scale.md): the files "
             "DIR/*.result. Says what\nis missing, and the command that runs "
             "just that. Changes no file.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

static int
is_result(const struct dirent *entry)
{
    const char *end = ".result";
    const size_t length = strlen(entry->d_name);

    return length > strlen(end) && entry->d_name[0] != '.' &&
           strcmp(&entry->d_name[length - strlen(end)], end) == 0;
}

static void
free_paths(char **paths, int count)
{
    for (int i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

/* Find the results in a folder, sorted by name. returns: how many; -1 after a
 * complaint */
static int
find_results(const char *folder, char ***paths)
{
    struct dirent **names;
    const int count = scandir(folder, &names, is_result, alphasort);
    bool good = true;

    if (count < 0) {
        cli_complain("%s: %s", folder, strerror(errno));
        return -1;
    }
    *paths = calloc((size_t)count + 1, sizeof **paths);
    for (int i = 0; i < count; i++) {
        good = good && *paths != NULL &&
               asprintf(&(*paths)[i], "%s/%s", folder, names[i]->d_name) >= 0;
        free(names[i]);
    }
    free(names);
    if (good && count > 0)
        return count;
    free_paths(*paths, *paths != NULL ? count : 0);
    cli_complain("%s: %s", folder,
                 good ? "no file there ends in .result" : "not enough memory");
    return -1;
}

/* All files must be results of the same command as the first. */
static enum cli_exit
merge(char *const *paths, uint32_t count, const char *folder, const char *save,
      struct cli_report *report)
{
    char first[64];

    if (!cli_reader_first(paths[0], first, sizeof first))
        return CLI_USAGE;
    if (cli_is_explored(first))
        return cli_explore_merge(paths, count, folder, report);
    if (strcmp(first, CLI_ROWS_FIRST) == 0)
        return cli_rows_merge(paths, count, folder, report);
    return cli_check_merge(paths, count, folder, save, report);
}

enum cli_exit
cli_merge(int argc, char **argv)
{
    struct cli_report report;
    struct cli_options words;
    const char *folder = NULL;
    const char *save = NULL;
    enum cli_exit exit_code = CLI_USAGE;
    char **paths;
    int count;
    int id;

    cli_report_begin(&report, argc, argv);
    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == SAVE)
            save = words.value;
        else if (id != CLI_OPTIONS_WORD &&
                 !cli_report_take(&report, id, words.value))
            return cli_report_drop(&report, CLI_USAGE);
        else if (id == CLI_OPTIONS_WORD && folder != NULL)
            return cli_report_drop(
                &report, cli_usage("one folder at a time: '%s' or '%s'?",
                                   folder, words.value));
        else if (id == CLI_OPTIONS_WORD)
            folder = words.value;
    }
    if (words.ended)
        return cli_report_drop(&report, words.exit_code);
    if (folder == NULL)
        return cli_report_drop(&report, cli_options_missing(&words, "a DIR"));
    count = find_results(folder, &paths);
    if (count > 0) {
        exit_code = merge(paths, (uint32_t)count, folder, save, &report);
        free_paths(paths, count);
    }
    return cli_report_end(&report, exit_code);
}
