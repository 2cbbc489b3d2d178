/*
 * test_file.c -- files that appear whole or not at all, when the system
 * answers oddly: it takes few bytes, is interrupted, has no room, cannot sync,
 * close or rename. The calls are replaced at link time, one is made to fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "prof/file.h"

/* ------------------------------------------------------- the system, refusing
 */

enum call {
    NO_CALL,
    CALL_OPEN,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_CLOSE,
    CALL_RENAME
};

static enum call refused; /* which call fails ... */
static int refused_errno; /* ... and how ... */
static int refused_times; /* ... and how often */
static size_t write_max;  /* bytes that a write takes */
static bool interrupted_before;
static int opened_flags;
static int descriptors; /* opened and not closed */
static ino_t synced[4]; /* files, in their order */
static size_t syncs;
static size_t unlinks;

static char folder[] = "/tmp/profsim-file-XXXXXX";

/* Files whose names begin so are in `folder`: "/" cannot be written to. */
static const char in_root[] = "/profsim-";

static void
refuse(enum call call, int error, int times)
{
    refused = call;
    refused_errno = error;
    refused_times = times;
}

static bool
is_refused(enum call call)
{
    if (refused != call || refused_times == 0)
        return false;
    refused_times--;
    errno = refused_errno;
    return true;
}

static const char *
moved(const char *path, char *memory, size_t memory_bytes)
{
    if (strncmp(path, in_root, strlen(in_root)) != 0)
        return path;
    snprintf(memory, memory_bytes, "%s%s", folder, path);
    return memory;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_write(int descriptor, const void *bytes, size_t count);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t count);
int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __real_close(int descriptor);
int __wrap_close(int descriptor);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

int
__wrap_open(const char *path, int flags, ...)
{
    char memory[256];
    va_list words;
    mode_t mode = 0;
    int descriptor;

    if (is_refused(CALL_OPEN))
        return -1;
    va_start(words, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(words, mode_t);
    va_end(words);
    opened_flags = flags;
    descriptor = __real_open(moved(path, memory, sizeof memory), flags, mode);
    descriptors += descriptor >= 0;
    return descriptor;
}

ssize_t
__wrap_write(int descriptor, const void *bytes, size_t count)
{
    if (is_refused(CALL_WRITE)) {
        if (interrupted_before) /* something else was */
            errno = EINTR;
        return refused_errno != 0 ? -1 : 0;
    }
    return __real_write(descriptor, bytes,
                        count < write_max ? count : write_max);
}

int
__wrap_fsync(int descriptor)
{
    struct stat info;

    if (is_refused(CALL_FSYNC))
        return -1;
    if (syncs < sizeof synced / sizeof *synced && fstat(descriptor, &info) == 0)
        synced[syncs] = info.st_ino;
    syncs++;
    return __real_fsync(descriptor);
}

int
__wrap_close(int descriptor)
{
    const int answer = __real_close(descriptor);

    descriptors -= answer == 0;
    return is_refused(CALL_CLOSE) ? -1 : answer;
}

int
__wrap_rename(const char *from, const char *to)
{
    char memory[2][256];

    return is_refused(CALL_RENAME)
               ? -1
               : __real_rename(moved(from, memory[0], sizeof memory[0]),
                               moved(to, memory[1], sizeof memory[1]));
}

int
__wrap_unlink(const char *path)
{
    unlinks++;
    return __real_unlink(path);
}

/* ---------------------------------------------------------------------- a file
 */

static struct prof_file file;
static char path[sizeof folder + 8];

static int
begin(void **state)
{
    (void)state;
    memset(&file, 0xa5, sizeof file);
    refuse(NO_CALL, 0, 0);
    write_max = SIZE_MAX;
    descriptors = 0;
    syncs = 0;
    unlinks = 0;
    return 0;
}

/* Nothing is left open, no temporary file is left behind. */
static int
end(void **state)
{
    (void)state;
    refuse(NO_CALL, 0, 0);
    if (descriptors != 0 || access(file.temporary, F_OK) == 0)
        return -1;
    (void)unlink(path);
    return 0;
}

static ino_t
number_of(const char *name)
{
    struct stat info;

    assert_int_equal(stat(name, &info), 0);
    return info.st_ino;
}

static enum prof_status
put(const char *text)
{
    const struct prof_sink sink = prof_file_sink(&file);

    return sink.write(sink.context, text, strlen(text));
}

static void
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

/* ---------------------------------------------------------------------- begin
 */

static void
a_file_has_the_usual_mode_and_is_closed_by_exec(void **state)
{
    const mode_t mask = umask(022);
    struct stat info;

    (void)state;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(file.error, 0);
    assert_int_equal(opened_flags & O_ACCMODE, O_WRONLY);
    assert_int_equal(fcntl(file.descriptor, F_GETFD), FD_CLOEXEC);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(opened_flags & O_CLOEXEC, O_CLOEXEC); /* the folder's */
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
    umask(mask);
}

/* A process of the same number may have left one when it was killed. */
static void
what_an_earlier_temporary_file_holds_is_gone(void **state)
{
    (void)state;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("long and old"), PROF_OK);
    assert_int_equal(close(file.descriptor), 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("new"), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_holds(path, "new");
}

/* Of 4096 bytes the temporary name needs ".", the process, ".part" and an end.
 */
static void
a_path_that_is_too_long_is_refused(void **state)
{
    static char longest[PROF_PATH_MAX + 1];
    char ending[32];
    const int ending_bytes =
        snprintf(ending, sizeof ending, ".%ld.part", (long)getpid());
    const size_t fits = PROF_PATH_MAX - 1 - (size_t)ending_bytes;

    (void)state;
    memset(longest, '/', PROF_PATH_MAX);
    memcpy(longest, path, strlen(path));
    longest[strlen(path)] = '/';
    longest[fits + 1] = '\0';
    assert_int_equal(prof_file_begin(&file, longest), PROF_ERR_SINK);
    assert_int_equal(file.error, ENAMETOOLONG);
    assert_int_equal(file.descriptor, -1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    /* One less is the system's to refuse: there is no such folder. */
    longest[fits] = '\0';
    assert_int_equal(prof_file_begin(&file, longest), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
}

/* A program may have closed its standard input: the file is descriptor 0. */
static void
a_file_may_be_descriptor_0(void **state)
{
    const int input = dup(0);

    (void)state;
    assert_true(input > 0);
    assert_int_equal(close(0), 0);
    descriptors = 0;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(file.descriptor, 0);
    assert_int_equal(put("zero"), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(syncs, 2); /* the folder's was 0, too */
    assert_int_equal(dup2(input, 0), 0);
    assert_int_equal(__real_close(input), 0);
    assert_holds(path, "zero");
}

static void
a_file_that_cannot_be_opened_needs_no_undoing(void **state)
{
    (void)state;
    refuse(CALL_OPEN, EACCES, 1);
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, EACCES);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(unlinks, 0);
}

/* ---------------------------------------------------------------------- write
 */

static void
a_write_that_takes_few_bytes_is_continued(void **state)
{
    (void)state;
    for (write_max = 1; write_max < 9; write_max++) {
        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        refuse(CALL_WRITE, EINTR, 3);
        assert_int_equal(put("12345678"), PROF_OK);
        assert_int_equal(refused_times, 0);
        assert_int_equal(put("9"), PROF_OK);
        assert_int_equal(put(""), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_holds(path, "123456789");
    }
}

/* A write that takes nothing and names no reason would go on for ever. */
static void
a_write_that_fails_says_why_and_the_first_reason_stays(void **state)
{
    (void)state;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    interrupted_before = true;
    refuse(CALL_WRITE, 0, 1);
    assert_int_equal(put("lost"), PROF_ERR_SINK);
    assert_int_equal(file.error, EIO);
    interrupted_before = false;
    refuse(CALL_WRITE, ENOSPC, 1);
    assert_int_equal(put("lost"), PROF_ERR_SINK);
    assert_int_equal(file.error, EIO);
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    refuse(CALL_WRITE, ENOSPC, 1);
    assert_int_equal(put("lost"), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOSPC);
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_int_equal(access(path, F_OK), -1);
}

/* ------------------------------------------------------------------------- end
 */

static void
the_file_and_its_folder_are_synced_wherever_it_is(void **state)
{
    char in_this[] = "profsim-here";
    char at_root[] = "/profsim-root";
    const struct {
        const char *name;
        const char *folder;
    } cases[] = {{path, folder}, {in_this, "."}, {at_root, "/"}};
    const int before = __real_open(".", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(before >= 0);
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char memory[256];
        const char *const name = moved(cases[i].name, memory, sizeof memory);

        syncs = 0;
        assert_int_equal(prof_file_begin(&file, cases[i].name), PROF_OK);
        assert_int_equal(put("here"), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_holds(name, "here");
        assert_int_equal(syncs, 2);
        assert_int_equal(synced[0], number_of(name));
        assert_int_equal(synced[1], number_of(cases[i].folder));
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(fchdir(before), 0);
    assert_int_equal(__real_close(before), 0);
}

/* What fails at the end, how, and whether the file is there all the same. */
static void
an_end_that_fails_leaves_the_old_file(void **state)
{
    static const struct {
        enum call call;
        int error;
        int times;
        bool stays;
    } cases[] = {
        {CALL_FSYNC, EIO, 1, false},    {CALL_FSYNC, EINTR, 3, true},
        {CALL_FSYNC, EINVAL, 1, true},  {CALL_FSYNC, EROFS, 1, true},
        {CALL_FSYNC, EINVAL, 2, true},  {CALL_CLOSE, EIO, 1, false},
        {CALL_CLOSE, EINTR, 1, true},   {CALL_RENAME, EACCES, 1, false},
        {CALL_CLOSE, ENOSPC, 2, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool stays = cases[i].stays;

        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        assert_int_equal(put("old"), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        assert_int_equal(put("new"), PROF_OK);
        refuse(cases[i].call, cases[i].error, cases[i].times);
        assert_int_equal(prof_file_end(&file, PROF_OK),
                         stays ? PROF_OK : PROF_ERR_SINK);
        assert_int_equal(file.error, stays ? 0 : cases[i].error);
        refuse(NO_CALL, 0, 0);
        assert_holds(path, stays ? "new" : "old");
        assert_int_equal(access(file.temporary, F_OK), -1);
        assert_int_equal(descriptors, 0);
        /* It has ended, and cannot end again. */
        unlinks = 0;
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
        assert_int_equal(file.error, stays ? 0 : cases[i].error);
        assert_int_equal(unlinks, 0);
    }
}

/* Of two failures the first is told. */
static void
a_file_thrown_away_keeps_its_reason_and_waits_for_no_disk(void **state)
{
    (void)state;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("half"), PROF_OK);
    refuse(CALL_CLOSE, EIO, 1);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_equal(refused_times, 0);
    assert_int_equal(file.error, 0);
    assert_int_equal(syncs, 0);
    assert_int_equal(unlinks, 1);
    assert_int_equal(access(path, F_OK), -1);
}

static void
a_folder_that_cannot_be_opened_or_synced_is_no_failure(void **state)
{
    (void)state;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    refuse(CALL_OPEN, EMFILE, 1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(syncs, 1);
    assert_holds(path, "");
}

static int
make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_has_the_usual_mode_and_is_closed_by_exec),
        FILE_TEST(what_an_earlier_temporary_file_holds_is_gone),
        FILE_TEST(a_path_that_is_too_long_is_refused),
        FILE_TEST(a_file_may_be_descriptor_0),
        FILE_TEST(a_file_that_cannot_be_opened_needs_no_undoing),
        FILE_TEST(a_write_that_takes_few_bytes_is_continued),
        FILE_TEST(a_write_that_fails_says_why_and_the_first_reason_stays),
        FILE_TEST(the_file_and_its_folder_are_synced_wherever_it_is),
        FILE_TEST(an_end_that_fails_leaves_the_old_file),
        FILE_TEST(a_file_thrown_away_keeps_its_reason_and_waits_for_no_disk),
        FILE_TEST(a_folder_that_cannot_be_opened_or_synced_is_no_failure),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
