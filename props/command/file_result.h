/* file_result.h -- the result of judging a saved file, or one that the user
 * named. */
#ifndef PROPS_COMMAND_FILE_RESULT_H
#define PROPS_COMMAND_FILE_RESULT_H

#include "common/input.h"
#include "props/judge/judge.h"
#include "common/report/report.h"

/*
 * Add a file to a report.
 *
 * in:      subject, the kind of files: "saved failures"
 *          exit_code, how judging it ended; CLI_USAGE: the last complaint says
 *          why it could not be judged
 *          breach, what the file breaks; without a property only its text
 *          counts
 *          command, which judges a file again: "profsim replay"
 */
void cli_file_result(struct cli_report *report, const char *subject,
                     const char *path, enum cli_exit exit_code,
                     const struct props_breach *breach, const char *command);

/* Add a file that was not judged. in: text, why */
void cli_file_skipped(struct cli_report *report, const char *subject,
                      const char *path, const char *text);

/* returns: a breach with no property and no text */
struct props_breach cli_no_breach(void);

/* Describe how a run ended its process. in: signal, 0 if by exit. out: *breach
 * returns: the exit code */
enum cli_exit cli_crash(const char *path, int signal,
                        struct props_breach *breach);

/* Describe a file without events: it breaks no property, but tests none either.
 * out: *breach. returns: CLI_INCOMPLETE */
enum cli_exit cli_no_events(const char *path, struct props_breach *breach);

/* returns: the exit code that goes with a broken property */
enum cli_exit cli_exit_of(enum props_property property);

struct subject;

/* Run a scenario and describe what it breaks. in: subject, for a scenario about
 * one; or NULL. out: *breach */
enum cli_exit cli_replay_input(const struct sim_input *input, const char *path,
                               const struct subject *subject,
                               struct props_breach *breach);

#endif
