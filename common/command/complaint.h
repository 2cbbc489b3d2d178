/* complaint.h -- errors about arguments, on standard error. */
#ifndef COMMON_COMMAND_COMPLAINT_H
#define COMMON_COMMAND_COMPLAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command/exit.h"

struct sim_nearest;

/* Print one line after "profsim: ". returns: CLI_USAGE */
enum cli_exit cli_usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The command ends: complain if standard output could not be written. returns:
 * CLI_USAGE then, else exit_code */
enum cli_exit cli_output_end(enum cli_exit exit_code);

/* returns: the last complaint; "" if there was none */
const char *cli_complaint_last(void);

/* returns: memory; if it is NULL, the process ends with one line. */
void *cli_need(void *memory);

/* As cli_usage(). returns: false */
bool cli_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Complain about an unknown name, and suggest the nearest one.
 *
 * in:      what, the kind of name: "property"
 *          nearest, which has seen all valid names
 *          hint, printed if no name is near: "'profsim list' names them"
 * returns: false
 */
bool cli_unknown(const char *what, const struct sim_nearest *nearest,
                 const char *hint);

/* out: *value. returns: false, and a complaint, if text is not such a number */
bool cli_number(const char *name, const char *text, uint64_t least,
                uint64_t most, uint64_t *value);

/* As cli_number(), for bytes: the number may end in k, m or g, for 2^10, 2^20
 * and 2^30. */
bool cli_bytes(const char *name, const char *text, uint64_t least,
               uint64_t most, uint64_t *bytes);

#endif
