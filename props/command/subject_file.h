/* subject_file.h -- a subject of --subject: a shared object, or a source. */
#ifndef PROPS_COMMAND_SUBJECT_FILE_H
#define PROPS_COMMAND_SUBJECT_FILE_H

#include <limits.h>

#include "props/property.h"
#include "subjects/subject.h"

#include "common/command/options.h"
#include "common/page/page.h"

struct sim_scenario;

/* returns: the library as a subject */
const struct subject *cli_subject_own(void);

/*
 * Load a subject; a `.c` file is compiled first. It stays loaded. "own" is this
 * library.
 *
 * returns: NULL, and a complaint, if it is not a subject
 */
const struct subject *cli_subject_load(const char *path);

/* If a scenario is about a subject, let it use this one. in: subject, or NULL.
 * returns: the properties to judge by */
props_set cli_subject_give(struct sim_scenario *scenario,
                           const struct subject *subject);

/*
 * Handle a --subject option.
 *
 * in, out: *subject, NULL before the first such option; *path, its path
 * returns: false, and a complaint, if it is not a subject, or the second one
 */
bool cli_subject_take(const struct subject **subject, const char **path,
                      const char *value);

/* --subject, --html and --data, for a command that takes one scenario. */
extern const struct cli_option cli_subject_options[];
extern const struct cli_option cli_subject_color_options[]; /* and --color */

/*
 * Parse all arguments of a command that has these options. Plain words move to
 * argv[1..count].
 *
 * out:     *count; *subject and its *path, NULL if none is named; *pages
 * returns: false if the command must exit with words->exit_code
 */
bool cli_subject_words(struct cli_options *words, char **argv, int *count,
                       const struct subject **subject, const char **path,
                       struct cli_page_paths *pages);

/* Enough bytes for a command with a path of which every byte is quoted. */
enum { CLI_SUBJECT_COMMAND_BYTES = 4 * PATH_MAX + 256 };

/* Write "profsim VERB --subject PATH", or "profsim VERB" without a path. */
void cli_subject_command(char *text, size_t text_bytes, const char *verb,
                         const char *path);

/* Write the same command, followed by a file, quoted. */
void cli_subject_command_on(char *text, size_t text_bytes, const char *verb,
                            const char *path, const char *file);

#endif
