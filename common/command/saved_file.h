/*
 * saved_file.h -- writes a file of a folder: whole or not at all, packed by
 * gzip if its name ends in .gz.
 */
#ifndef COMMON_COMMAND_SAVED_FILE_H
#define COMMON_COMMAND_SAVED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "prof/sink.h"

/* Writes the content of a file into a sink. */
typedef enum prof_status cli_content_fn(const void *context,
                                        const struct prof_sink *to);

/* in: input, the file that was read, which is not overwritten; or NULL.
 * returns: NULL, or why the path is as it was before */
const char *cli_save_at(const char *path, const char *input,
                        cli_content_fn *content, const void *context);

/* The same for a name in a folder. returns: false, and one line on standard
 * error, if it is not written */
bool cli_save(const char *folder, const char *name, const char *input,
              cli_content_fn *content, const void *context);

/* Bytes as the content. */
struct cli_bytes {
    const void *at;
    size_t count;
};
enum prof_status cli_save_bytes(const void *bytes, const struct prof_sink *to);

/* Make a folder for files. returns: false, and one line on standard error */
bool cli_save_folder(const char *folder);

#endif
