/* file_stubs.c -- see file_stubs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_stubs.h"
#include "unit_test.h"

enum { ANOTHER = 54321 };

static enum call refused; /* which call fails ... */
static int refused_errno; /* ... and how */
struct stubs stubs;
struct prof_file file;
char folder[] = "/tmp/profsim-file-XXXXXX";
char path[sizeof folder + 8];

void
refuse(enum call call, int error, int times)
{
    refused = call;
    refused_errno = error;
    stubs.refused_times = times;
}

static bool
is_refused(enum call call)
{
    if (refused != call || stubs.refused_times == 0)
        return false;
    if (stubs.refused_after > 0) {
        stubs.refused_after--;
        return false;
    }
    stubs.refused_times--;
    errno = refused_errno;
    return true;
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __real_openat(int from, const char *name, int flags, ...);
int __wrap_openat(int from, const char *name, int flags, ...);
ssize_t __real_read(int descriptor, void *bytes, size_t count);
ssize_t __wrap_read(int descriptor, void *bytes, size_t count);
ssize_t __real_write(int descriptor, const void *bytes, size_t count);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t count);
int __real_fstat(int descriptor, struct stat *info);
int __wrap_fstat(int descriptor, struct stat *info);
int __real_fstatat(int from, const char *name, struct stat *info, int flags);
int __wrap_fstatat(int from, const char *name, struct stat *info, int flags);
int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __real_fchmod(int descriptor, mode_t mode);
int __wrap_fchmod(int descriptor, mode_t mode);
int __real_fchown(int descriptor, uid_t owner, gid_t group);
int __wrap_fchown(int descriptor, uid_t owner, gid_t group);
int __real_close(int descriptor);
int __wrap_close(int descriptor);
int __real_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name);
int __real_unlinkat(int from, const char *name, int flags);
int __wrap_unlinkat(int from, const char *name, int flags);
ssize_t __real_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

static int
counted(int descriptor)
{
    stubs.descriptors += descriptor >= 0;
    return descriptor;
}

int
__wrap_open(const char *name, int flags, ...)
{
    if (strcmp(name, "/") == 0 && stubs.root != NULL)
        name = stubs.root;
    if (strncmp(name, "/proc/", 6) == 0) {
        assert_int_equal(flags, O_RDONLY | O_CLOEXEC);
        if (is_refused(CALL_STATUS))
            return -1;
        if (stubs.status != NULL)
            name = stubs.status;
    } else {
        stubs.start_flags = flags;
    }
    return counted(__real_open(name, flags, 0));
}

int
__wrap_openat(int from, const char *name, int flags, ...)
{
    enum call call = (flags & O_PATH) != 0        ? NO_CALL
                     : (flags & O_CREAT) != 0     ? CALL_CREATE
                     : (flags & O_DIRECTORY) != 0 ? CALL_FOLDER
                                                  : CALL_OPEN;
    va_list words;
    mode_t mode = 0;

    va_start(words, flags);
    if (call == CALL_CREATE) {
        stubs.created_flags = flags;
        stubs.created_mode = mode = va_arg(words, mode_t);
    }
    va_end(words);
    assert_true((flags & O_CLOEXEC) != 0);
    if (call == NO_CALL)
        assert_true((flags & O_NOFOLLOW) != 0);
    if (call != NO_CALL && is_refused(call))
        return -1;
    if (call == CALL_OPEN)
        stubs.opened_flags = flags;
    if (call == CALL_OPEN && stubs.swap != NULL)
        return counted(__real_openat(from, stubs.swap, O_RDWR | O_CLOEXEC));
    return counted(__real_openat(from, name, flags, mode));
}

ssize_t
__wrap_read(int descriptor, void *bytes, size_t count)
{
    return is_refused(CALL_READ) ? -1 : __real_read(descriptor, bytes, count);
}

ssize_t
__wrap_write(int descriptor, const void *bytes, size_t count)
{
    if (is_refused(CALL_WRITE)) {
        if (stubs.errno_before != 0)
            errno = stubs.errno_before;
        return refused_errno != 0 ? -1 : 0;
    }
    return __real_write(descriptor, bytes,
                        count < stubs.write_max ? count : stubs.write_max);
}

int
__wrap_fstat(int descriptor, struct stat *info)
{
    return is_refused(CALL_FSTAT) ? -1 : __real_fstat(descriptor, info);
}

int
__wrap_fstatat(int from, const char *name, struct stat *info, int flags)
{
    return is_refused(CALL_FSTATAT) ? -1
                                    : __real_fstatat(from, name, info, flags);
}

int
__wrap_fsync(int descriptor)
{
    struct stat info;

    if (is_refused(CALL_FSYNC))
        return -1;
    if (stubs.syncs < sizeof stubs.synced / sizeof *stubs.synced &&
        fstat(descriptor, &info) == 0)
        stubs.synced[stubs.syncs] = info.st_ino;
    stubs.syncs++;
    return __real_fsync(descriptor);
}

int
__wrap_fchmod(int descriptor, mode_t mode)
{
    stubs.syncs_before_mode = stubs.syncs;
    return is_refused(CALL_FCHMOD) ? -1 : __real_fchmod(descriptor, mode);
}

int
__wrap_fchown(int descriptor, uid_t owner, gid_t group)
{
    return is_refused(CALL_FCHOWN) ? -1
                                   : __real_fchown(descriptor, owner, group);
}

int
__wrap_close(int descriptor)
{
    const int answer = __real_close(descriptor);

    stubs.descriptors -= answer == 0;
    return is_refused(CALL_CLOSE) ? -1 : answer;
}

int
__wrap_renameat(int from, const char *old, int to, const char *name)
{
    assert_int_equal(from, to);
    stubs.syncs_before_name = stubs.syncs;
    return is_refused(CALL_RENAME) ? -1 : __real_renameat(from, old, to, name);
}

int
__wrap_unlinkat(int from, const char *name, int flags)
{
    stubs.unlinks++;
    assert_int_equal(flags, 0);
    return __real_unlinkat(from, name, flags);
}

ssize_t
__wrap_getrandom(void *bytes, size_t count, unsigned flags)
{
    assert_int_equal(flags, 0);
    if (is_refused(CALL_RANDOM))
        return -1;
    if (stubs.fixed_names == 0)
        return __real_getrandom(bytes, count, flags);
    stubs.fixed_names--;
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(0x1f + 0x11 * i);
    return (ssize_t)count;
}

uid_t
__wrap_geteuid(void)
{
    return stubs.euid != 0 ? stubs.euid : __real_geteuid();
}

/* ---- fixtures ---- */

int
make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int
begin(void **state)
{
    (void)state;
    memset(&file, 0xa5, sizeof file);
    refuse(NO_CALL, 0, 0);
    memset(&stubs, 0, sizeof stubs);
    stubs.write_max = SIZE_MAX;
    return chmod(folder, 0700);
}

int
end(void **state)
{
    const int descriptors = stubs.descriptors;

    (void)begin(state);
    (void)unlink(path);
    /* A temporary file that was left behind would keep the folder from being
     * removed. */
    if (rmdir(folder) != 0 || mkdir(folder, 0700) != 0)
        return -1;
    return descriptors;
}

const char *
in_folder(const char *name)
{
    static char names[4][512];
    static unsigned turn;
    char *to = names[turn++ % 4];

    snprintf(to, sizeof names[0], "%s/%s", folder, name);
    return to;
}

enum prof_status
put(const char *text)
{
    const struct prof_sink sink = prof_file_sink(&file);

    return sink.write(sink.context, text, strlen(text));
}

void
write_text(const char *name, const char *text)
{
    assert_int_equal(prof_file_begin(&file, name), PROF_OK);
    assert_int_equal(put(text), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
}

void
assert_holds(const char *name, const char *want)
{
    char text[64];
    FILE *stream = fopen(name, "r");
    size_t bytes;

    assert_non_null(stream);
    bytes = fread(text, 1, sizeof text - 1, stream);
    text[bytes] = '\0';
    fclose(stream);
    assert_string_equal(text, want);
}

void
make_text(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");

    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

struct stat
like(const char *name)
{
    struct stat info;

    assert_int_equal(lstat(name, &info), 0);
    return info;
}

void
share_folder(bool sticky)
{
    assert_int_equal(chmod(folder, sticky ? 01777 : 0777), 0);
}

void
give_away(const char *name)
{
    if (__real_geteuid() == 0)
        assert_int_equal(lchown(name, ANOTHER, (gid_t)-1), 0);
    else
        stubs.euid = ANOTHER;
}

void
assert_refused(const char *name, int error, const char *reason)
{
    assert_int_equal(prof_file_begin(&file, name), PROF_ERR_SINK);
    assert_int_equal(file.error, error);
    assert_non_null(strstr(prof_file_reason(&file), reason));
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    /* prof_file_check() says the same in advance. */
    assert_int_equal(prof_file_check(&file, name), PROF_ERR_SINK);
    assert_int_equal(file.error, error);
}

void
assert_writes(const char *name, const char *place)
{
    assert_int_equal(prof_file_check(&file, name), PROF_OK);
    write_text(name, "new");
    assert_holds(place, "new");
    assert_true(S_ISREG(like(place).st_mode));
    assert_int_equal(unlink(place), 0);
}

int
make_pipe(void)
{
    int reader;

    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    return reader;
}
