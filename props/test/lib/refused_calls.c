/* refused_calls.c -- see refused_calls.h. */
#include "refused_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READ_MOST = 1 << 19 };

/* Shared with the children. */
static struct {
    uint32_t refused;
    uint32_t made;
    const char *which;
} * calls;

static pid_t tester; /* 0: nothing is counted */

void
refused_calls_at(uint32_t n)
{
    if (calls == NULL)
        calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED)
        abort();
    calls->refused = n;
    calls->made = 0;
    calls->which = NULL;
    tester = getpid();
}

uint32_t
refused_calls_made(void)
{
    return calls->made;
}

const char *
refused_calls_which(void)
{
    return calls->which;
}

static bool
fails(const char *which, int error)
{
    if (tester == 0 || getppid() != tester || ++calls->made != calls->refused)
        return false;
    calls->which = which;
    errno = error;
    return true;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *
__wrap_malloc(size_t bytes)
{
    return fails("malloc", ENOMEM) ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t each_bytes);
void *__wrap_calloc(size_t count, size_t each_bytes);
void *
__wrap_calloc(size_t count, size_t each_bytes)
{
    return fails("calloc", ENOMEM) ? NULL : __real_calloc(count, each_bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *
__wrap_realloc(void *old, size_t bytes)
{
    return fails("realloc", ENOMEM) ? NULL : __real_realloc(old, bytes);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
    va_list values;
    mode_t mode;

    va_start(values, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(values, mode_t) : 0;
    va_end(values);
    return fails("open", EIO) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int
__wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list values;
    mode_t mode;

    va_start(values, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(values, mode_t) : 0;
    va_end(values);
    return fails("openat", EIO) ? -1 : __real_openat(folder, path, flags, mode);
}

ssize_t __real_write(int file, const void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count);
ssize_t
__wrap_write(int file, const void *bytes, size_t count)
{
    return fails("write", EIO) ? -1 : __real_write(file, bytes, count);
}

ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __wrap_read(int file, void *bytes, size_t count);
ssize_t
__wrap_read(int file, void *bytes, size_t count)
{
    return __real_read(file, bytes, count < READ_MOST ? count : READ_MOST);
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t
__wrap_fork(void)
{
    return fails("fork", EIO) ? -1 : __real_fork();
}

int __wrap_fsync(int file);
int
__wrap_fsync(int file)
{
    (void)file;
    return fails("fsync", EIO) ? -1 : 0;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int
__wrap_rename(const char *from, const char *to)
{
    return fails("rename", EIO) ? -1 : __real_rename(from, to);
}

int __real_renameat(int from_folder, const char *from, int to_folder,
                    const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder,
                    const char *to);
int
__wrap_renameat(int from_folder, const char *from, int to_folder,
                const char *to)
{
    return fails("renameat", EIO)
               ? -1
               : __real_renameat(from_folder, from, to_folder, to);
}
