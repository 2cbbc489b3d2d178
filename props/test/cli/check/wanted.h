/*
 * wanted.h -- what a command must print, and the results that its report must
 * have, written by a model before the command runs.
 */
#ifndef PROPS_WANTED_H
#define PROPS_WANTED_H

#include <stdint.h>
#include <stdio.h>

#include "captured.h"
#include "exit.h"
#include "property.h"

extern FILE *wanted_text; /* what is printed */

/* Begin and end the model of one command. */
void wanted_begin(void);
void wanted_end(void);

/* returns: the path of a file in the folder; eight are kept */
const char *wanted_path(const char *name);

/* Read a file of the folder as text, as much as there is room for, and remove
 * it. */
void wanted_take_file(const char *name, char *text, size_t room);

/*
 * One result of the report: first what each has, then its members in the order
 * of the report, then its counts ("" or "\"a\": 1"), then its replay.
 *
 * in: property, PROPS_NONE: none; replay, NULL: none
 */
void wanted_result(const char *subject, const char *name,
                   enum props_property about, const char *verdict);
void wanted_member(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void wanted_rest(const char *counts, const char *replay);

/* Instead of wanted_rest(): the seed of a failure, the path of its file without
 * an end, and its replay; or the seeds that hold. */
void wanted_failure(uint64_t seed, const char *counts, const char *path,
                    const char *replay);
void wanted_seeds(uint64_t first, uint64_t last, const char *counts);

/* Run a command, and check what it prints, its exit code and the report a.json
 * in the folder, which is removed. argv has --json=FOLDER/a.json. */
void wanted_run(enum cli_exit (*command)(int argc, char **argv), char **argv,
                int input, int exit_code);

/* Check what was printed. */
void wanted_expect(const struct captured *said);

/* Run a command that ends as it must, whatever it prints besides. */
void wanted_run_at_least(enum cli_exit (*command)(int argc, char **argv),
                         char **argv, int exit_code);

#endif
