/*
 * prof/file.h -- a file that appears whole or not at all.
 *
 * The bytes go to a temporary file beside the wanted name; commit makes them
 * durable and moves them to it. Whoever reads the name sees the old file or
 * the new one, never a part.
 */
#ifndef PROF_FILE_H
#define PROF_FILE_H

#include "prof/sink.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PROF_PATH_MAX 4096

struct prof_file {
    int descriptor;
    int error; /* errno of the first failure; 0: none */
    char path[PROF_PATH_MAX];
    char temporary[PROF_PATH_MAX];
};

/*
 * Begin to write the file `path`.
 *
 * out:     *file; on failure file->error says why, and nothing need be undone
 * returns: PROF_OK, PROF_ERR_SINK
 */
PROF_NODISCARD enum prof_status prof_file_begin(struct prof_file *file,
                                                const char *path);

/* returns: a sink that writes to the file; interrupted writes are continued */
struct prof_sink prof_file_sink(struct prof_file *file);

/*
 * End the file.
 *
 * in:      status, of what was written; unless PROF_OK the file is thrown away
 * returns: status; PROF_ERR_SINK if the file could not be made durable or moved
 *          to its name, and then the name is as it was before
 */
PROF_NODISCARD enum prof_status prof_file_end(struct prof_file *file,
                                              enum prof_status status);

/*
 * A sink that writes to an open descriptor, for what is no regular file.
 *
 * in:      file, with a descriptor set by the caller and all else zero
 */
struct prof_sink prof_descriptor_sink(struct prof_file *file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
