/* record_options.h -- the arguments of `profsim record`. */
#ifndef RECORD_COMMAND_RECORD_OPTIONS_H
#define RECORD_COMMAND_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command/exit.h"

struct cli_record_options {
    const char *output;
    uint64_t depth;
    uint64_t limit_bytes;
    uint64_t images;  /* process images to keep, the largest */
    bool by_frames;   /* the command keeps frame pointers */
    bool asks_usable; /* also record the usable bytes of blocks */
    bool is_strict;   /* a missing recording is a failure */
    char **command;   /* NULL at its end */
};

/* Take the value of --output. returns: false after a complaint: it is empty, or
 * `-`, which here does not mean standard output */
bool cli_record_output(const char **output, const char *value);

/*
 * out:     *options
 *          *exit_code, if false
 * returns: false after help, or a complaint
 */
bool cli_record_options(struct cli_record_options *options, int argc,
                        char **argv, enum cli_exit *exit_code);

#endif
