/*
 * output.h -- the file that a command writes: whole or not at all
 * (prof/file.h), even if a signal ends the command, and never over the file
 * that the command reads.
 */
#ifndef PROPS_OUTPUT_H
#define PROPS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "prof/file.h"

struct props_output {
    const char *path;
    const char *input; /* what was read; NULL: no file */
    bool is_private;   /* mode 0600 */
};

/*
 * Begin the file; only one can be open. Until its end, SIGHUP, SIGINT, SIGQUIT
 * and SIGTERM remove the half-written file before they end the process, and to
 * exceed the limit of file sizes is an error instead of SIGXFSZ.
 *
 * out:     *file, for prof_file_sink(); on failure, for prof_file_reason()
 * returns: PROF_OK, PROF_ERR_SINK
 */
PROF_NODISCARD enum prof_status
props_output_begin(struct prof_file *file, const struct props_output *output);

/* End it. in, returns: as prof_file_end() */
PROF_NODISCARD enum prof_status props_output_end(struct prof_file *file,
                                                 enum prof_status status);

/* Write it at once. returns: NULL; why the path is as it was before */
const char *props_output_write(const struct props_output *output,
                               const void *bytes, size_t bytes_count);

#endif
