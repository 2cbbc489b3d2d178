/* file.c -- files that appear whole or not at all, on Linux. */
#include "prof/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum prof_status
fail(struct prof_file *file, int error)
{
    if (file->error == 0)
        file->error = error;
    return PROF_ERR_SINK;
}

/* Any bytes may be taken, or none because a signal came first. */
static enum prof_status
write_all(void *context, const void *bytes, size_t bytes_count)
{
    struct prof_file *file = context;
    const char *from = bytes;

    while (bytes_count > 0) {
        const ssize_t taken = write(file->descriptor, from, bytes_count);

        if (taken < 0 && errno == EINTR)
            continue;
        if (taken <= 0)
            return fail(file, taken < 0 ? errno : EIO);
        from += taken;
        bytes_count -= (size_t)taken;
    }
    return PROF_OK;
}

struct prof_sink
prof_descriptor_sink(struct prof_file *file)
{
    return (struct prof_sink){.write = write_all, .context = file};
}

struct prof_sink
prof_file_sink(struct prof_file *file)
{
    return prof_descriptor_sink(file);
}

enum prof_status
prof_file_begin(struct prof_file *file, const char *path)
{
    const int bytes = snprintf(file->temporary, sizeof file->temporary,
                               "%s.%ld.part", path, (long)getpid());

    (void)snprintf(file->path, sizeof file->path, "%s", path);
    file->descriptor = -1;
    file->error = 0;
    /* As a size, what is negative is too long, too. */
    if ((size_t)bytes >= sizeof file->temporary)
        return fail(file, ENAMETOOLONG);
    file->descriptor =
        open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->descriptor < 0 ? fail(file, errno) : PROF_OK;
}

static bool
sync_bytes(int descriptor)
{
    int answer;

    do
        answer = fsync(descriptor);
    while (answer != 0 && errno == EINTR);
    /* What cannot be synced (a pipe, some file systems) is as good as it is. */
    return answer == 0 || errno == EINVAL || errno == EROFS;
}

/* The new name is durable when its folder is; failure changes nothing now. */
static void
sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    int descriptor;

    if (slash != NULL)
        slash[1] = '\0';
    descriptor = open(slash != NULL ? path : ".", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    (void)sync_bytes(descriptor);
    close(descriptor);
}

enum prof_status
prof_file_end(struct prof_file *file, enum prof_status status)
{
    if (file->descriptor < 0)
        return status != PROF_OK ? status : PROF_ERR_SINK;
    if (status == PROF_OK && !sync_bytes(file->descriptor))
        status = fail(file, errno);
    /* Linux frees the descriptor whatever close answers, EINTR included. */
    if (close(file->descriptor) != 0 && errno != EINTR && status == PROF_OK)
        status = fail(file, errno);
    file->descriptor = -1;
    if (status == PROF_OK && rename(file->temporary, file->path) != 0)
        status = fail(file, errno);
    if (status != PROF_OK) {
        unlink(file->temporary);
        return status;
    }
    sync_folder(file->path);
    return PROF_OK;
}
