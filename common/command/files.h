/* files.h -- commands that take files. */
#ifndef COMMON_COMMAND_FILES_H
#define COMMON_COMMAND_FILES_H

#include <stdbool.h>

#include "common/command/options.h"
#include "common/page/page.h"
#include "common/report/report.h"

/* What commands that take files have in common: each file may have profiles and
 * a page, and a result. */
struct cli_files {
    const char *out; /* folder for profile files, or NULL */
    bool out_each;   /* in it a folder for each file, named after it */
    struct cli_page_paths pages;
    struct cli_report *report;
    const char *of_one; /* the complaint about several files; NULL: none */
};

/*
 * Take --out, --html, --data, --json and --junit.
 *
 * in:      id, of an option of the command that is none of its own
 * returns: false, and a complaint, if the value is wrong
 */
bool cli_files_take(struct cli_files *files, int id, const char *value);

/*
 * Run a command: its options first, then each of its files.
 *
 * in:      files, a part of what `words` points to; take, for each option; run,
 *          for each file
 * returns: the worst exit code
 */
enum cli_exit
cli_files_run(int argc, char **argv, const struct cli_syntax *syntax,
              struct cli_files *files, void *words,
              bool (*take)(void *words, int id, const char *value),
              enum cli_exit (*run)(const char *path, const void *words));

/* Report a file that was refused, with the last complaint. */
void cli_files_refused(const struct cli_files *files, const char *path);

#endif
