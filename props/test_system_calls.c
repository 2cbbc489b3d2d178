/*
 * test_system_calls.c -- the story of a file, call by call, with every failure
 * of each call; and where a signal has interrupted a program.
 *
 * The calls of prof/port/file.c come here (-Wl,--wrap) and are told, not made.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "pprof_case.h"
#include "prof/cpu.h"
#include "prof/file.h"
#include "prof/process.h"

/* ------------------------------------------------------------------ the story
 */

static char story[4096];
static bool told;      /* the calls are told, not made */
static int opened;     /* the last descriptor, from 7 on */
static const char *at; /* the call that fails, as the story begins it */
static int error;      /* so; 0: write() takes nothing */
static int times;      /* so often */

static struct prof_file file;

__attribute__((format(printf, 1, 2))) static int
tell(const char *format, ...)
{
    const size_t used = strlen(story);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(&story[used], sizeof story - used, format, arguments);
    va_end(arguments);
    if (at == NULL || times == 0 || strncmp(&story[used], at, strlen(at)) != 0)
        return 0;
    times--;
    errno = error;
    return -1;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int descriptor);
int __wrap_close(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
ssize_t __real_write(int descriptor, const void *bytes, size_t count);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t count);

int
__wrap_open(const char *path, int flags, ...)
{
    unsigned mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(arguments, unsigned);
    va_end(arguments);
    if (!told)
        return __real_open(path, flags, mode);
    if (flags == (O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC))
        return tell("make %s %o\n", path, mode) != 0 ? -1 : opened++;
    if (flags == (O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        return tell("folder %s\n", path) != 0 ? -1 : opened++;
    return tell("open with other flags\n");
}

int
__wrap_close(int descriptor)
{
    return told ? tell("close %d\n", descriptor) : __real_close(descriptor);
}

int
__wrap_fsync(int descriptor)
{
    return tell("sync %d\n", descriptor);
}

int
__wrap_rename(const char *from, const char *to)
{
    return tell("rename %s %s\n", from, to);
}

int
__wrap_unlink(const char *path)
{
    return tell("remove %s\n", path);
}

/* Three bytes at a time. */
ssize_t
__wrap_write(int descriptor, const void *bytes, size_t count)
{
    const size_t taken = count < 3 ? count : 3;

    if (!told)
        return __real_write(descriptor, bytes, count);
    if (tell("write %d %.*s\n", descriptor, (int)taken, (const char *)bytes) ==
        0)
        return (ssize_t)taken;
    return error != 0 ? -1 : 0;
}

static void
begin_story(const char *failing, int with, int often)
{
    story[0] = '\0';
    opened = 7;
    at = failing;
    error = with;
    times = often;
    told = true;
}

/* Write "abcdefgh" to a file of that path. */
static enum prof_status
write_file(const char *path)
{
    enum prof_status status = prof_file_begin(&file, path);
    struct prof_sink sink;

    if (status == PROF_OK) {
        sink = prof_file_sink(&file);
        status = sink.write(sink.context, "abcdefgh", 8);
    }
    status = prof_file_end(&file, status);
    told = false;
    return status;
}

__attribute__((format(printf, 1, 2))) static void
assert_story(const char *format, ...)
{
    static char want[sizeof story];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(want, sizeof want, format, arguments);
    va_end(arguments);
    assert_string_equal(story, want);
}

/* ---------------------------------------------------------------------- files
 */

static void
a_file_is_made_written_synced_renamed_and_its_folder_synced(void **state)
{
    static const struct {
        const char *path;
        const char *folder;
    } rows[] = {{"d/e/f", "d/e"}, {"/f", "/"}, {"f", "."}};
    const long pid = (long)getpid();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = rows[i].path;

        begin_story(NULL, 0, 0);
        assert_int_equal(write_file(path), PROF_OK);
        assert_int_equal(file.error, 0);
        assert_story("make %s.%ld.part 666\n"
                     "write 7 abc\nwrite 7 def\nwrite 7 gh\n"
                     "sync 7\nclose 7\nrename %s.%ld.part %s\n"
                     "folder %s\nsync 8\nclose 8\n",
                     path, pid, path, pid, path, rows[i].folder);
    }
}

static void
a_call_that_fails_for_good_leaves_no_file(void **state)
{
    static const struct {
        const char *at;
        int error;
        int want;
        const char *story; /* after the file was made */
    } rows[] = {
        {"write 7 def", ENOSPC, ENOSPC,
         "write 7 abc\nwrite 7 def\nclose 7\nremove f.%ld.part\n"},
        {"write 7 def", 0, EIO,
         "write 7 abc\nwrite 7 def\nclose 7\nremove f.%ld.part\n"},
        {"sync 7", EIO, EIO,
         "write 7 abc\nwrite 7 def\nwrite 7 gh\nsync 7\nclose 7\n"
         "remove f.%ld.part\n"},
        {"close 7", EIO, EIO,
         "write 7 abc\nwrite 7 def\nwrite 7 gh\nsync 7\nclose 7\n"
         "remove f.%ld.part\n"},
    };
    const long pid = (long)getpid();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *after;

        begin_story(rows[i].at, rows[i].error, 1);
        assert_int_equal(write_file("f"), PROF_ERR_SINK);
        assert_int_equal(file.error, rows[i].want);
        assert_int_equal(file.descriptor, -1);
        after = strchr(story, '\n') + 1;
        memmove(story, after, strlen(after) + 1);
        assert_story(rows[i].story, pid);
    }
    begin_story("rename", EACCES, 1);
    assert_int_equal(write_file("f"), PROF_ERR_SINK);
    assert_int_equal(file.error, EACCES);
    assert_non_null(strstr(story, "remove f."));
    assert_null(strstr(story, "folder"));
    begin_story("make", EROFS, 1);
    assert_int_equal(write_file("f"), PROF_ERR_SINK);
    assert_int_equal(file.error, EROFS);
    assert_story("make f.%ld.part 666\n", pid);
}

static void
a_call_that_may_fail_changes_nothing(void **state)
{
    static const struct {
        const char *at;
        int error;
        int times;
        const char *again; /* what the story then has more of */
    } rows[] = {
        {"write 7 abc", EINTR, 3, "write 7 abc\nwrite 7 abc\nwrite 7 abc\n"},
        {"sync 7", EINTR, 2, "sync 7\nsync 7\nsync 7\nclose 7\n"},
        {"sync 7", EINVAL, 1, "gh\nsync 7\nclose 7\nrename"},
        {"sync 7", EROFS, 1, "gh\nsync 7\nclose 7\nrename"},
        {"close 7", EINTR, 1, "sync 7\nclose 7\nrename"},
        {"folder", EACCES, 1, "folder .\n"},
        {"sync 8", EIO, 1, "folder .\nsync 8\nclose 8\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_story(rows[i].at, rows[i].error, rows[i].times);
        assert_int_equal(write_file("f"), PROF_OK);
        assert_int_equal(file.error, 0);
        assert_int_equal(times, 0);
        assert_non_null(strstr(story, rows[i].again));
        assert_null(strstr(story, "remove"));
    }
    begin_story("folder", EACCES, 1);
    (void)write_file("f");
    assert_null(strstr(story, "8"));
}

static void
a_path_is_as_long_as_its_temporary_name_allows(void **state)
{
    static char path[sizeof file.temporary + 8];
    char suffix[32];
    const size_t suffix_bytes =
        (size_t)snprintf(suffix, sizeof suffix, ".%ld.part", (long)getpid());
    const size_t most = sizeof file.temporary - 1 - suffix_bytes;

    (void)state;
    memset(path, 'x', most);
    begin_story(NULL, 0, 0);
    assert_int_equal(write_file(path), PROF_OK);
    path[most] = 'x';
    begin_story(NULL, 0, 0);
    assert_int_equal(write_file(path), PROF_ERR_SINK);
    assert_int_equal(file.error, ENAMETOOLONG);
    assert_story("%s", "");
    /* What was wrong before is what is said. */
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
}

/* -------------------------------------------------------------------- signals
 */

#if defined(__x86_64__)

/* returns: the address at which a SIGPROF to this thread interrupts it */
static uintptr_t
interrupt(void)
{
    long number = SYS_tgkill;
    uintptr_t here;

    __asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
                     : "+a"(number), "=&r"(here)
                     : "D"((long)getpid()), "S"(syscall(SYS_gettid)),
                       "d"((long)SIGPROF)
                     : "rcx", "r11", "memory");
    assert_int_equal(number, 0);
    return here;
}

static void
a_tick_is_at_the_instruction_that_was_interrupted(void **state)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 16];
    static struct case_run run;
    const struct prof_cpu_config config = {.ticks_max = 4, .stacks_max = 4};
    struct prof_cpu *cpu;
    uintptr_t here;

    (void)state;
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    errno = 77;
    here = interrupt();
    assert_int_equal(errno, 77);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    (void)interrupt(); /* one that comes too late finds nobody, and no end */
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 1);
    assert_int_equal(run.profile.samples[0].locations_count, 1);
    assert_int_equal(run.profile.locations[0].address, here);
    case_end(&run);
}

#endif

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_file_is_made_written_synced_renamed_and_its_folder_synced),
        cmocka_unit_test(a_call_that_fails_for_good_leaves_no_file),
        cmocka_unit_test(a_call_that_may_fail_changes_nothing),
        cmocka_unit_test(a_path_is_as_long_as_its_temporary_name_allows),
#if defined(__x86_64__)
        cmocka_unit_test(a_tick_is_at_the_instruction_that_was_interrupted),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
