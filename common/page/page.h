/*
 * page.h -- pages for a browser (--html). A page is a single file, which loads
 * no other files.
 *
 *      what was found --> JSON --> the page's template --> FILE
 *
 * The JSON is documented in docs/pages.md; --data FILE writes it alone. The
 * template is HTML, CSS and plain JavaScript in this folder, part of the
 * program.
 */
#ifndef COMMON_PAGE_PAGE_H
#define COMMON_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum cli_page_kind { CLI_PAGE_FAILURE, CLI_PAGE_RUN, CLI_PAGE_CAMPAIGN };

/* What --html and --data name; NULL: not wanted. */
struct cli_page_paths {
    const char *html;
    const char *data;
    const char *input; /* not to be written over; NULL: the scenario's file */
};

/* The options for a command's table, and their numbers for its switch. */
enum { CLI_PAGE_HTML = 111, CLI_PAGE_DATA };
/* clang-format off */
#define CLI_PAGE_OPTIONS                                                      \
    {CLI_PAGE_HTML, 0, "html", "FILE", "write a page for a browser"},         \
    {CLI_PAGE_DATA, 0, "data", "FILE", "write what the page shows, as JSON"}
/* clang-format on */

/* Take --html or --data. returns: false, and a complaint, without a name */
bool cli_page_take(struct cli_page_paths *paths, int id, const char *path);

static inline bool
cli_page_wanted(const struct cli_page_paths *paths)
{
    return paths->html != NULL || paths->data != NULL;
}

/* The JSON of a page, while it is written. */
struct cli_page {
    FILE *file; /* to write it to; NULL: no memory */
    char *bytes;
    size_t bytes_count;
};

/* Begin a page. cli_page_end() reports errors. */
void cli_page_begin(struct cli_page *page);

/*
 * Write the files that were asked for, each whole or not at all, and free the
 * memory.
 *
 * in: input, the file that was read and must not be written over; or NULL
 * returns: false, and a complaint, if a file was not written
 */
bool cli_page_end(struct cli_page *page, enum cli_page_kind kind,
                  const struct cli_page_paths *paths, const char *input);

/*
 * There is no failure to show: remove the page and the data of an earlier one,
 * which would be taken for those of this run. Any other file stays.
 *
 * returns: false, and a complaint, if a file cannot be removed
 */
bool cli_page_clear(const struct cli_page_paths *paths);

/* Free a page that will not be written. */
void cli_page_drop(struct cli_page *page);

#endif
