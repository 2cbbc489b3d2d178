/* file.c -- files that appear whole or not at all, on Linux. */
#include "prof/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "prof/port/path.h"

enum { NAMES_MAX = 100, STATUS_BYTES = 4096 };

static enum prof_status
fail(struct prof_file *file, int error)
{
    if (file->error == 0)
        file->error = error;
    return PROF_ERR_SINK;
}

static enum prof_status
refuse(struct prof_file *file, int error, const char *reason)
{
    file->reason = reason;
    return fail(file, error);
}

const char *
prof_file_reason(const struct prof_file *file)
{
    return file->reason != NULL ? file->reason : strerror(file->error);
}

/* Repeat write() until all bytes are taken: it may take only some, or be
 * interrupted by a signal. */
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

/* ---- begin ---- */

static void
note_old(struct prof_file *file, const struct stat *old)
{
    file->old_device = old->st_dev;
    file->old_number = old->st_ino;
}

/* returns: the caller's descriptor that the path names (/dev/stdout and the
 *          like), or -1 */
static int
own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int descriptor = 0;

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t bytes = strlen(folders[i]);

        if (strncmp(path, folders[i], bytes) != 0)
            continue;
        path += bytes;
        if (*path == '\0' || strlen(path) > 6 ||
            path[strspn(path, "0123456789")] != '\0')
            return -1;
        for (; *path != '\0'; path++)
            descriptor = descriptor * 10 + (*path - '0');
        return descriptor;
    }
    return -1;
}

static enum prof_status
begin_own(struct prof_file *file, int descriptor)
{
    struct stat like;

    file->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file->descriptor < 0 || fstat(file->descriptor, &like) != 0)
        return fail(file, errno);
    if (S_ISREG(like.st_mode))
        note_old(file, &like);
    return PROF_OK;
}

/* May this pipe or device be written to? */
static enum prof_status
check_in_place(struct prof_file *file, const struct prof_path *found)
{
    struct stat folder;

    if (S_ISSOCK(found->there.st_mode))
        return refuse(file, ENXIO, "a socket");
    if (fstat(found->folder, &folder) != 0)
        return fail(file, errno);
    if (!prof_path_trusts(&folder, &found->there))
        return refuse(file, EACCES,
                      "a pipe that another user may have planted");
    return PROF_OK;
}

static enum prof_status
begin_in_place(struct prof_file *file, const struct prof_path *found)
{
    struct stat opened;

    if (check_in_place(file, found) != PROF_OK)
        return PROF_ERR_SINK;
    do
        file->descriptor = openat(found->folder, found->name,
                                  O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    while (file->descriptor < 0 && errno == EINTR);
    if (file->descriptor < 0 || fstat(file->descriptor, &opened) != 0)
        return fail(file, errno);
    if (opened.st_dev == found->there.st_dev &&
        opened.st_ino == found->there.st_ino)
        return PROF_OK;
    return refuse(file, EAGAIN, "it was replaced while it was opened");
}

/* Make a name of 64 unpredictable bits. returns: 0 or an errno */
static int
draw_name(char *name)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[8];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return errno;
    memcpy(name, ".prof-", 6);
    for (size_t i = 0; i < sizeof bytes; i++) {
        name[6 + 2 * i] = digits[bytes[i] >> 4];
        name[7 + 2 * i] = digits[bytes[i] & 15];
    }
    memcpy(&name[22], ".part", 6);
    return 0;
}

static enum prof_status
make_temporary(struct prof_file *file)
{
    int error = EEXIST;

    for (int i = 0; i < NAMES_MAX && (error == EEXIST || error == EINTR); i++) {
        error = draw_name(file->temporary);
        if (error != 0)
            continue;
        file->descriptor =
            openat(file->folder, file->temporary,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file->descriptor >= 0)
            return PROF_OK;
        error = errno;
    }
    file->temporary[0] = '\0';
    return fail(file, error);
}

static void
release(struct prof_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->folder >= 0)
        close(file->folder);
    file->descriptor = -1;
    file->folder = -1;
}

/* Find the folder and the old file, and note them in *file. The folder is open
 * then. */
static enum prof_status
find(struct prof_file *file, struct prof_path *found, const char *path)
{
    const int error = prof_path_find(found, path);

    if (error != 0)
        return refuse(file, error, found->reason);
    file->folder = found->folder;
    memcpy(file->name, found->name, sizeof file->name);
    if (found->is_there && S_ISREG(found->there.st_mode))
        note_old(file, &found->there);
    return PROF_OK;
}

static enum prof_status
begin(struct prof_file *file, const char *path)
{
    const int own = own_descriptor(path);
    struct prof_path found;
    enum prof_status status;

    if (own >= 0)
        return begin_own(file, own);
    if (find(file, &found, path) != PROF_OK)
        return PROF_ERR_SINK;
    if (!found.is_there || S_ISREG(found.there.st_mode))
        return make_temporary(file);
    status = begin_in_place(file, &found);
    close(file->folder);
    file->folder = -1;
    return status;
}

static enum prof_status
begin_of_kind(struct prof_file *file, const char *path, bool is_private)
{
    *file = (struct prof_file){
        .descriptor = -1, .folder = -1, .is_private = is_private};
    if (begin(file, path) == PROF_OK)
        return PROF_OK;
    release(file);
    return PROF_ERR_SINK;
}

enum prof_status
prof_file_begin(struct prof_file *file, const char *path)
{
    return begin_of_kind(file, path, false);
}

enum prof_status
prof_file_begin_private(struct prof_file *file, const char *path)
{
    return begin_of_kind(file, path, true);
}

void
prof_file_be_quick(struct prof_file *file)
{
    file->is_quick = true;
}

/* ---- questions ---- */

bool
prof_file_is(const struct prof_file *file, const char *input)
{
    struct stat like;

    return file->old_number != 0 && stat(input, &like) == 0 &&
           S_ISREG(like.st_mode) && like.st_dev == file->old_device &&
           like.st_ino == file->old_number;
}

/*
 * May the caller replace the file of this name? In a sticky folder only root
 * and the owner of the file or folder may.
 */
static enum prof_status
check_replacing(struct prof_file *file, const struct prof_path *found)
{
    const uid_t user = geteuid();
    struct stat folder;

    if (faccessat(found->folder, ".", W_OK | X_OK, AT_EACCESS) != 0 ||
        fstat(found->folder, &folder) != 0)
        return fail(file, errno);
    if (found->is_there && (folder.st_mode & S_ISVTX) != 0 && user != 0 &&
        user != folder.st_uid && user != found->there.st_uid)
        return fail(file, EPERM);
    return PROF_OK;
}

enum prof_status
prof_file_check(struct prof_file *file, const char *path)
{
    const int own = own_descriptor(path);
    enum prof_status status = PROF_OK;
    struct prof_path found;

    *file = (struct prof_file){.descriptor = -1, .folder = -1};
    if (own >= 0)
        return fcntl(own, F_GETFD) >= 0 ? PROF_OK : fail(file, errno);
    if (find(file, &found, path) != PROF_OK)
        return PROF_ERR_SINK;
    if (found.is_there && !S_ISREG(found.there.st_mode)) {
        status = check_in_place(file, &found);
        if (status == PROF_OK)
            status = faccessat(file->folder, file->name, W_OK, AT_EACCESS) == 0
                         ? PROF_OK
                         : fail(file, errno);
    } else {
        status = check_replacing(file, &found);
    }
    release(file);
    return status;
}

enum prof_status
prof_file_folder(struct prof_file *file, const char *path)
{
    char name[PROF_PATH_MAX];
    size_t bytes = strlen(path);
    struct prof_path found;
    enum prof_status status;

    *file = (struct prof_file){.descriptor = -1, .folder = -1};
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    if (bytes >= sizeof name)
        return fail(file, ENAMETOOLONG);
    memcpy(name, path, bytes);
    name[bytes] = '\0';
    if (find(file, &found, name) != PROF_OK) {
        if (file->error != EISDIR)
            return PROF_ERR_SINK;
        file->error = 0;
        return PROF_OK;
    }
    status = found.is_there ? fail(file, ENOTDIR) : PROF_OK;
    if (status == PROF_OK && mkdirat(file->folder, file->name, 0777) != 0 &&
        errno != EEXIST)
        status = fail(file, errno);
    release(file);
    return status;
}

/* ---- end ---- */

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
sync_folder(int folder)
{
    const int descriptor =
        openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return;
    (void)sync_bytes(descriptor);
    close(descriptor);
}

/*
 * The mode of a new file. umask() cannot be read without being changed, which
 * other threads would notice, so it is read from /proc. If that fails, only the
 * owner may read the file.
 */
static mode_t
usual_mode(void)
{
    static const char field[] = "\nUmask:\t";
    char text[STATUS_BYTES];
    const int status = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    const char *at;
    mode_t mask = 0;
    ssize_t bytes;

    if (status < 0)
        return 0600;
    do
        bytes = read(status, text, sizeof text - 1);
    while (bytes < 0 && errno == EINTR);
    close(status);
    text[bytes > 0 ? bytes : 0] = '\0';
    at = strstr(text, field);
    if (at == NULL)
        return 0600;
    for (at += sizeof field - 1; *at >= '0' && *at <= '7'; at++)
        mask = mask * 8 + (mode_t)(*at - '0');
    return 0666 & ~mask;
}

/*
 * The mode of a file that replaces another. If the new file cannot get the old
 * one's group, its group gets no more rights than all other users.
 */
static mode_t
mode_after(struct prof_file *file, const struct stat *old)
{
    const mode_t mode = old->st_mode & 0777;
    struct stat folder;
    struct stat made;

    if (fstat(file->folder, &folder) != 0 || !prof_path_trusts(&folder, old))
        return mode & usual_mode();
    if (fstat(file->descriptor, &made) == 0 &&
        (made.st_gid == old->st_gid ||
         fchown(file->descriptor, (uid_t)-1, old->st_gid) == 0))
        return mode;
    return (mode & 0707) | (mode & 07) << 3;
}

/* Give the file its final mode, now that it is whole. */
static enum prof_status
open_up(struct prof_file *file)
{
    struct stat old;
    mode_t mode;
    int error = 0;

    if (fstatat(file->folder, file->name, &old, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(old.st_mode))
            return refuse(file, EEXIST, "it is no regular file any more");
        mode = mode_after(file, &old);
    } else {
        error = errno == ENOENT ? 0 : errno;
        mode = usual_mode();
    }
    if (error == 0 && !file->is_private && fchmod(file->descriptor, mode) != 0)
        error = errno;
    return error == 0 ? PROF_OK : fail(file, error);
}

void
prof_file_abandon(const struct prof_file *file)
{
    if (file->temporary[0] != '\0')
        (void)unlinkat(file->folder, file->temporary, 0);
}

enum prof_status
prof_file_end(struct prof_file *file, enum prof_status status)
{
    const bool renames = file->folder >= 0;
    int descriptor = file->descriptor;

    if (descriptor < 0)
        return status != PROF_OK ? status : PROF_ERR_SINK;
    if (status == PROF_OK && renames)
        status = open_up(file);
    if (status == PROF_OK && !file->is_quick && !sync_bytes(descriptor))
        status = fail(file, errno);
    /* Linux frees the descriptor whatever close returns, EINTR included. */
    file->descriptor = -1;
    if (close(descriptor) != 0 && errno != EINTR && status == PROF_OK)
        status = fail(file, errno);
    if (status == PROF_OK && renames &&
        renameat(file->folder, file->temporary, file->folder, file->name) != 0)
        status = fail(file, errno);
    if (status != PROF_OK)
        prof_file_abandon(file);
    else if (renames && !file->is_quick)
        sync_folder(file->folder);
    release(file);
    return status;
}
