/* run_page.h -- writes the page of a recorded run (docs/pages.md). */
#ifndef RECORD_REPORT_RUN_PAGE_H
#define RECORD_REPORT_RUN_PAGE_H

#include <stdbool.h>

#include "record/report/call_tree.h"
#include "record/report/heap_report.h"
#include "common/page/page.h"

/*
 * in:      tree, with a column for each measure
 * returns: false, and a complaint
 */
bool cli_run_page_write(const struct cli_page_paths *paths,
                        const struct cli_heap_report *report,
                        const struct cli_call_tree *tree);

#endif
