/* spool_system.c -- see spool_system.h. */
#include "spool_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unit_test.h"

#define SYS spool_system

struct spool_system spool_system;

static bool
fails(int *times)
{
    return *times > 0 && (*times)-- > 0;
}

int __wrap_clock_gettime(clockid_t which, struct timespec *to);
int
__wrap_clock_gettime(clockid_t which, struct timespec *to)
{
    assert_int_equal(which, CLOCK_MONOTONIC);
    SYS.clock_ns += 3;
    *to = (struct timespec){.tv_sec = (time_t)(SYS.clock_ns / 1000000000),
                            .tv_nsec = (long)(SYS.clock_ns % 1000000000)};
    return 0;
}

int __wrap_getrlimit(int which, struct rlimit *to);
int
__wrap_getrlimit(int which, struct rlimit *to)
{
    assert_int_equal(which, RLIMIT_FSIZE);
    to->rlim_cur = SYS.file_limit_bytes;
    return SYS.has_file_limit ? 0 : -1;
}

int __real_ftruncate(int file, off_t bytes);
int __wrap_ftruncate(int file, off_t bytes);
int
__wrap_ftruncate(int file, off_t bytes)
{
    SYS.sizes[SYS.sizes_count++] = (uint64_t)bytes;
    return fails(&SYS.truncates) ? -1 : __real_ftruncate(file, bytes);
}

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *
__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t from)
{
    void *place;

    if (SYS.sizes_count == 0) /* another file than a spool */
        return __real_mmap(at, bytes, rights, flags, file, from);
    assert_int_equal(rights, PROT_READ | PROT_WRITE);
    assert_int_equal(flags, MAP_SHARED);
    assert_int_equal(bytes, SYS.sizes[SYS.sizes_count - 1]);
    if (fails(&SYS.maps))
        return MAP_FAILED;
    place = __real_mmap(at, bytes, rights, flags, file, from);
    SYS.mapped = place;
    return place;
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int
__wrap_munmap(void *at, size_t bytes)
{
    assert_ptr_equal(at, SYS.mapped);
    SYS.unmapped_bytes += bytes;
    return __real_munmap(at, bytes);
}

int __wrap_madvise(void *at, size_t bytes, int advice);
int
__wrap_madvise(void *at, size_t bytes, int advice)
{
    SYS.advices[SYS.advices_count++] = (struct spool_advice){
        (uint64_t)((uint8_t *)at - SYS.mapped), bytes, advice};
    errno = EINVAL; /* it says nothing of a call that succeeds */
    if (advice != MADV_POPULATE_WRITE || !fails(&SYS.populates))
        return 0;
    errno = SYS.populate_errno;
    return -1;
}

static long
read_command(char *to, size_t room)
{
    static const uint8_t none[8];

    assert_int_equal(room, 4095);
    assert_memory_equal(SYS.mapped, none, 8); /* no magic: it is incomplete */
    if (SYS.command_bytes > 0)
        memcpy(to, SYS.command, (size_t)SYS.command_bytes);
    return SYS.command_bytes;
}

static long
open_file(int in, const char *path, int flags, int mode)
{
    const bool is_command = strcmp(path, "/proc/self/cmdline") == 0;
    int file;

    assert_int_equal(mode, 0600);
    SYS.flags[SYS.opened] = flags;
    file = is_command && !SYS.has_command ? -1 : openat(in, path, flags, mode);
    SYS.opened += file >= 0;
    return file;
}

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    va_list list;
    long words[4];

    va_start(list, number);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_openat:
        return open_file((int)words[0], (const char *)words[1], (int)words[2],
                         (int)words[3]);
    case SYS_close:
        SYS.closed++;
        return close((int)words[0]);
    case SYS_read:
        return read_command((char *)words[1], (size_t)words[2]);
    case SYS_fallocate:
        assert_int_equal((int)words[1], 0);
        assert_int_equal((int)words[2], 0);
        SYS.asked[SYS.asked_count++] = (uint64_t)words[3];
        return fails(&SYS.allocates) ? -1 : 0;
    case SYS_unlinkat:
        return unlinkat((int)words[0], (const char *)words[1], (int)words[2]);
    default:
        fail();
        return -1;
    }
}
