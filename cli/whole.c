/* whole.c -- see whole.h. Those who use it need not know of the library. */
#include "whole.h"

#include "prof/file.h"

int
cli_whole_write(const char *path, const void *bytes, size_t count)
{
    struct prof_file file;
    enum prof_status status = prof_file_begin(&file, path);
    const struct prof_sink sink = prof_file_sink(&file);

    if (status == PROF_OK)
        status = prof_file_end(&file, sink.write(sink.context, bytes, count));
    return status == PROF_OK ? 0 : file.error;
}
