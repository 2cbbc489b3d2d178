/*
 * failure_page.h -- a scenario as the data of a page: each event, and the
 * profile after it (docs/pages.md).
 */
#ifndef PROPS_PAGE_FAILURE_PAGE_H
#define PROPS_PAGE_FAILURE_PAGE_H

#include "common/page/page.h"
#include "props/property.h"
#include "sim/scenario/scenario.h"

enum { CLI_FAILURE_EVENTS_MAX = 2000 }; /* of a longer scenario, the last */

/*
 * Run a scenario in a process of its own, and print what happens.
 *
 * in:      asked, the properties that count; command, which replays it
 * returns: false if the system refused memory or a process
 */
bool cli_failure_print(FILE *file, const struct sim_scenario *scenario,
                       props_set requested, const char *command);

/* Write the page, the data of the page, or both. returns: false, and a
 * complaint */
bool cli_failure_write(const struct cli_page_paths *paths,
                       const struct sim_scenario *scenario, props_set requested,
                       const char *command);

/*
 * Write the page of a saved scenario next to it: NAME.html beside NAME.sim.
 *
 * out:     page, its path
 * in:      path and text of the scenario; subject, NULL if it is about none
 * returns: as cli_failure_print()
 */
bool cli_failure_write_beside(const char *path, const char *text,
                              const struct subject *subject,
                              const char *command, char *page,
                              size_t page_bytes);

/* Write the pages that are wanted of the scenario of a file, with the command
 * that replays it. in: path of the subject, or NULL. returns: as
 * cli_failure_write() */
bool cli_subject_pages(const struct cli_page_paths *pages,
                       const struct sim_scenario *scenario, props_set requested,
                       const char *path, const char *file);

#endif
