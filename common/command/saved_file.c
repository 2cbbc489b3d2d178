/* saved_file.c -- see saved_file.h. */
#include "common/command/saved_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/output.h"
#include "prof/file.h"
#include "prof/gzip.h"

static enum prof_status
write_packed(const struct prof_sink *to, cli_content_fn *content,
             const void *context)
{
    void *const room = malloc(prof_gzip_bytes());
    enum prof_status status = PROF_ERR_MEMORY;
    struct prof_gzip gzip;
    struct prof_sink sink;

    if (room != NULL) {
        prof_gzip_begin(&gzip, to, room, prof_gzip_bytes());
        sink = prof_gzip_sink(&gzip);
        status = prof_gzip_end(&gzip, content(context, &sink));
    }
    free(room);
    return status;
}

const char *
cli_save_at(const char *path, const char *input, cli_content_fn *content,
            const void *context)
{
    const struct props_output output = {.path = path, .input = input};
    const char *const end = strrchr(path, '.');
    struct prof_file file;
    enum prof_status status = props_output_begin(&file, &output);

    if (status == PROF_OK) {
        const struct prof_sink sink = prof_file_sink(&file);

        status = end != NULL && strcmp(end, ".gz") == 0
                     ? write_packed(&sink, content, context)
                     : content(context, &sink);
        status = props_output_end(&file, status);
    }
    if (status == PROF_OK)
        return NULL;
    return file.error != 0 || file.reason != NULL ? prof_file_reason(&file)
                                                  : prof_status_text(status);
}

static bool
complain(const char *path, const char *why)
{
    sim_escape_line(stderr, "profsim: %s: %s", path, why);
    return false;
}

bool
cli_save(const char *folder, const char *name, const char *input,
         cli_content_fn *content, const void *context)
{
    char path[PROF_PATH_MAX];
    const char *why;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return complain(folder, strerror(ENAMETOOLONG));
    why = cli_save_at(path, input, content, context);
    return why == NULL || complain(path, why);
}

enum prof_status
cli_save_bytes(const void *bytes, const struct prof_sink *to)
{
    const struct cli_bytes *const all = bytes;

    return to->write(to->context, all->at, all->count);
}

bool
cli_save_folder(const char *folder)
{
    struct prof_file file;

    return prof_file_folder(&file, folder) == PROF_OK ||
           complain(folder, prof_file_reason(&file));
}
