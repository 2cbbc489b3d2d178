/* merge.c -- see merge.h. */
#include "common/shard/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/command/options.h"
#include "common/command/quote.h"

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

/* ---- What is missing ---- */

void
cli_merge_print(FILE *file, const struct cli_merge *merge, const char *more)
{
    bool is_in = false; /* `more` */

    for (char **word = merge->first.words; *word != NULL; word++) {
        if (!is_in && strcmp(*word, "--") == 0) {
            fputs(more, file);
            is_in = true;
        }
        if (word != merge->first.words)
            fputc(' ', file);
        cli_quote_word(file, *word);
    }
    if (!is_in)
        fputs(more, file);
}

/* Print the numbers of the shards that are missing: "3,5-7", or in the words of
 * a shell. */
static void
print_numbers(const struct cli_merge *merge, bool for_shell)
{
    const char *before = "";

    for (uint32_t i = 0, last; i < merge->first.shard.count; i = last + 1) {
        last = i;
        if (merge->is_done[i])
            continue;
        while (last + 1 < merge->first.shard.count && !merge->is_done[last + 1])
            last++;
        if (i == last)
            printf("%s%" PRIu32, before, i + 1);
        else
            printf(for_shell ? "%s$(seq %" PRIu32 " %" PRIu32 ")"
                             : "%s%" PRIu32 "-%" PRIu32,
                   before, i + 1, last + 1);
        before = for_shell ? " " : ",";
    }
}

uint32_t
cli_merge_missing(const struct cli_merge *merge)
{
    const uint32_t count = merge->first.shard.count;
    uint32_t missing = 0;
    char *more = NULL;
    size_t bytes;
    FILE *file;

    for (uint32_t i = 0; i < count; i++)
        missing += !merge->is_done[i];
    if (missing == 0)
        return 0;
    file = cli_need(open_memstream(&more, &bytes));
    fprintf(file, " --shard $i/%" PRIu32 " --result ", count);
    cli_quote_path(file, merge->folder);
    fputc('/', file);
    cli_need(fclose(file) == 0 ? more : NULL);
    printf("missing, in whole or in part: %" PRIu32 " of %" PRIu32 " shards: ",
           missing, count);
    print_numbers(merge, false);
    fputs("\nrun them: for i in ", stdout);
    print_numbers(merge, true);
    fputs("; do profsim ", stdout);
    cli_merge_print(stdout, merge, more);
    puts("; done");
    free(more);
    return missing;
}

/* ---- The files ---- */

/* Of the products; NULL in a build without it. */
__attribute__((weak)) cli_merge_add cli_check_merge_add, cli_explore_merge_add,
    cli_mutants_merge_add;
__attribute__((weak)) cli_merge_end cli_check_merge_end, cli_explore_merge_end,
    cli_mutants_merge_end;
__attribute__((weak)) cli_merge_free cli_explore_merge_free,
    cli_mutants_merge_free;

static const struct kind {
    cli_merge_add *add;
    cli_merge_end *end;
    cli_merge_free *free; /* or NULL */
} kinds[] = {
    {cli_check_merge_add, cli_check_merge_end, NULL},
    {cli_explore_merge_add, cli_explore_merge_end, cli_explore_merge_free},
    {cli_mutants_merge_add, cli_mutants_merge_end, cli_mutants_merge_free},
};

/* returns: how a command's results are added up; NULL: it has none */
static const struct kind *
kind_of(char *const *words)
{
    char *const *word = words;

    if (strcmp(words[0], "check") == 0)
        return &kinds[0];
    if (strcmp(words[0], "explore") != 0)
        return NULL;
    while (*word != NULL && strcmp(*word, "--") != 0 &&
           strcmp(*word, "--mutants") != 0)
        word++;
    return &kinds[*word != NULL && strcmp(*word, "--mutants") == 0 ? 2 : 1];
}

static bool
begin(struct cli_merge *merge, struct cli_shard_file *file)
{
    const uint32_t count = file->shard.count;

    if (kind_of(file->words) == NULL || kind_of(file->words)->add == NULL)
        return cli_complain("%s: not of a command that has shards", file->path);
    merge->first = *file;
    *file = (struct cli_shard_file){.path = NULL};
    merge->paths = cli_need(calloc(count, sizeof merge->paths[0]));
    merge->is_done = cli_need(calloc(count, sizeof merge->is_done[0]));
    return true;
}

/* in: file, which may be moved to merge->first */
static bool
add(struct cli_merge *merge, struct cli_shard_file *file)
{
    const char **seen;

    if (merge->first.words == NULL) {
        if (!begin(merge, file))
            return false;
        file = &merge->first;
    } else if (!cli_shard_fits(&merge->first, file)) {
        return false;
    }
    seen = &merge->paths[file->shard.index - 1];
    if (*seen != NULL)
        return cli_complain("%s and %s are of the same shard", *seen,
                            file->path);
    *seen = file->path;
    return kind_of(merge->first.words)->add(merge, file);
}

static enum cli_exit
merge_all(struct cli_merge *merge, char *const *paths, int count)
{
    enum cli_exit exit_code = CLI_OK;

    for (int i = 0; i < count; i++) {
        struct cli_shard_file file;

        if (!cli_shard_read(&file, paths[i]) || !add(merge, &file))
            exit_code = CLI_USAGE;
        cli_shard_close(&file);
    }
    if (exit_code == CLI_OK)
        exit_code = kind_of(merge->first.words)->end(merge);
    if (merge->first.words != NULL && kind_of(merge->first.words)->free != NULL)
        kind_of(merge->first.words)->free(merge);
    cli_shard_close(&merge->first);
    free(merge->paths);
    free(merge->is_done);
    return exit_code;
}

static enum cli_exit
merge_folder(struct cli_merge *merge)
{
    char **paths;
    const int count = cli_shard_list(merge->folder, &paths);
    enum cli_exit exit_code;

    if (count < 0)
        return cli_usage("%s: %s", merge->folder, strerror(errno));
    exit_code = count > 0 ? merge_all(merge, paths, count)
                          : cli_usage("%s: no file there ends in .result",
                                      merge->folder);
    cli_shard_list_free(paths, count);
    return exit_code;
}

/* ---- The command ---- */

enum cli_exit
cli_merge(int argc, char **argv)
{
    struct cli_report report;
    struct cli_merge merge = {.report = &report};
    struct cli_options words;
    int id;

    cli_report_begin(&report, argc, argv);
    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == SAVE)
            merge.save = words.value;
        else if (id != CLI_OPTIONS_WORD &&
                 !cli_report_take(&report, id, words.value))
            return cli_report_drop(&report, CLI_USAGE);
        else if (id == CLI_OPTIONS_WORD && merge.folder != NULL)
            return cli_report_drop(
                &report, cli_usage("one folder at a time: '%s' or '%s'?",
                                   merge.folder, words.value));
        else if (id == CLI_OPTIONS_WORD)
            merge.folder = words.value;
    }
    if (words.ended)
        return cli_report_drop(&report, words.exit_code);
    if (merge.folder == NULL)
        return cli_report_drop(&report, cli_options_missing(&words, "a DIR"));
    return cli_report_end(&report, merge_folder(&merge));
}
