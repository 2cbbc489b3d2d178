/* run_page.h -- writes the page of a recorded run (docs/pages.md). */
#ifndef CLI_RUN_PAGE_H
#define CLI_RUN_PAGE_H

#include <stdbool.h>

#include "call_tree.h"
#include "heap_report.h"
#include "page.h"

/*
 * in:      tree, with a column for each measure
 * returns: false, and a complaint
 */
bool cli_run_page_write(const struct cli_page_paths *paths,
                        const struct cli_heap_report *report,
                        const struct cli_call_tree *tree);

#endif
