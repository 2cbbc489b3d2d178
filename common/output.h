/*
 * output.h -- the file that a command writes: whole or not at all
 * (prof/file.h), even if a signal ends the command, and never over the file
 * that the command reads.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "prof/file.h"

struct props_output {
    const char *path;
    const char *input; /* the file that was read; NULL: none */
    bool is_private;   /* mode 0600 */
};

/*
 * Begin the file; only one can be open. Until it is ended, SIGHUP, SIGINT,
 * SIGQUIT and SIGTERM remove the unfinished file before they end the process,
 * and exceeding the file size limit is reported as an error instead of raising
 * SIGXFSZ.
 *
 * out:     *file, for prof_file_sink(); on failure, for prof_file_reason()
 * returns: PROF_OK, PROF_ERR_SINK
 */
PROF_NODISCARD enum prof_status
props_output_begin(struct prof_file *file, const struct props_output *output);

/* End the file. in, returns: as prof_file_end() */
PROF_NODISCARD enum prof_status props_output_end(struct prof_file *file,
                                                 enum prof_status status);

/* Write a whole file. returns: NULL, or why the path is as it was before */
const char *props_output_write(const struct props_output *output,
                               const void *bytes, size_t bytes_count);

#endif
