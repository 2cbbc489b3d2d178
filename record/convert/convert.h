/*
 * convert.h -- from a recorder's spool (record/preload/spool.h) to a recording.
 */
#ifndef RECORD_CONVERT_CONVERT_H
#define RECORD_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/convert/recfile.h"

struct cli_converted {
    uint64_t events;
    uint64_t stacks;
    uint64_t dropped[CLI_RECFILE_CAUSES];
    uint32_t process;
    char command[160]; /* arguments, with spaces in between; truncated */
};

struct cli_symbol_files;

/*
 * out:     *what; error, one line, on failure
 * in:      from, a spool; to, the recording, which appears whole or not at all;
 *          files, read for other spools; or NULL
 * returns: false if the spool cannot be read, or the recording not written
 */
bool cli_convert(const char *from, const char *to,
                 struct cli_symbol_files *files, struct cli_converted *what,
                 char *error, size_t error_bytes);

/*
 * Read what a spool's header says of its process.
 *
 * out:     *image, except its name and flags
 * returns: false if it is not a spool
 */
struct cli_image;
bool cli_convert_peek(const char *from, struct cli_image *image);

/* Called for each program that a process was about to execute. in: ticks,
 * before it did so */
typedef void cli_executed_fn(void *context, uint32_t process, uint64_t ticks,
                             const char *path);

/* Call `each` for every program executed according to a spool, in order. */
void cli_convert_executed(const char *from, cli_executed_fn *each,
                          void *context);

#endif
