/*
 * test_file.c -- files appear whole or not at all (prof/file.h), whatever the
 * system refuses: real files, a full device, a limit on their size, a signal in
 * the middle of a write, and system calls that the kernel refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "prof/test/file_case.h"
#include "common/test/in_child.h"
#include "common/test/refused_syscall.h"
#include "common/test/unit_test.h"

#define FILE_TEST(name) TEST_WITH(file_case_begin, file_case_end, name)

/* ---- begin and end ---- */

FILE_TEST(a_file_has_its_name_when_it_is_whole)
{
    static const char digits[] = "0123456789abcdef";
    struct stat info;

    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(file.error, 0);
    assert_memory_equal(file.temporary, ".prof-", 6);
    assert_int_equal(strspn(file.temporary + 6, digits), 16);
    assert_string_equal(file.temporary + 22, ".part");
    assert_int_equal(fcntl(file.descriptor, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fstat(file.descriptor, &info), 0);
    assert_int_equal(info.st_mode,
                     S_IFREG | 0600); /* nobody else may open it */
    assert_int_equal(put("whole"), PROF_OK);
    assert_int_equal(like(in_folder(file.temporary)).st_ino, info.st_ino);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(like(path).st_ino, info.st_ino);
    assert_holds(path, "whole");
    /* The file has ended: a second end fails and does nothing. */
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_holds(path, "whole");
}

FILE_TEST(what_failed_is_thrown_away_and_the_old_file_stays)
{
    static const struct prof_file none;

    make_text(path, "old");
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("half"), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_equal(file.error, 0);
    /* Abandoned, as by a signal handler; all zero is fine, too. */
    prof_file_abandon(&none);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    prof_file_abandon(&file);
    assert_int_equal(access(in_folder(file.temporary), F_OK), -1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
    assert_holds(path, "old");
}

/* ---- mode ---- */

FILE_TEST(a_new_file_has_the_mode_that_the_umask_leaves)
{
    static const mode_t masks[] = {022, 0, 077, 002, 027, 0777};

    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        const mode_t before = umask(masks[i]);

        (void)unlink(path);
        write_text(path, "new");
        assert_int_equal(umask(before), masks[i]); /* not changed */
        assert_int_equal(mode_of(path), 0666 & ~masks[i]);
    }
}

/* But the new file is never set-user-ID or set-group-ID. */
FILE_TEST(a_file_that_replaces_another_has_its_mode_and_group)
{
    static const mode_t modes[] = {0600, 0644,  0666, 0755, 0400,
                                   0,    06755, 0777, 0664};
    const mode_t before = umask(027);

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        write_text(path, "old");
        if (geteuid() == 0) /* another user may belong to one group only */
            assert_int_equal(chown(path, (uid_t)-1, ANOTHER_USER), 0);
        assert_int_equal(chmod(path, modes[i]), 0);
        write_text(path, "new");
        assert_int_equal(mode_of(path), modes[i] & 0777);
        if (geteuid() == 0)
            assert_int_equal(like(path).st_gid, ANOTHER_USER);
    }
    umask(before);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(prof_file_begin_private(&file, path), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_int_equal(mode_of(path), 0600);
        assert_int_equal(chmod(path, 0666), 0);
    }
}

/* ---- what the system refuses ---- */

FILE_TEST(a_full_device_and_a_limit_of_size_are_the_reason)
{
    const struct rlimit small = {.rlim_cur = 6, .rlim_max = RLIM_INFINITY};
    struct rlimit before;

    make_text(path, "old");
    assert_int_equal(prof_file_begin(&file, "/dev/full"), PROF_OK);
    assert_int_equal(put("much"), PROF_ERR_SINK);
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), "No space left on device");
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(put(""), PROF_OK);
    assert_int_equal(put("1234"), PROF_OK);
    /* Two more bytes are taken, then none. */
    assert_int_equal(put("5678"), PROF_ERR_SINK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(file.error, EFBIG);
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_holds(path, "old");
}

enum { LONG_BYTES = 1 << 20 };

static void
do_nothing(int number)
{
    (void)number;
}

static void *
read_slowly(void *reader)
{
    static unsigned char bytes[4096];
    size_t count = 0;
    ssize_t got;

    while (count < LONG_BYTES &&
           ((got = read(*(int *)reader, bytes, sizeof bytes)) > 0 ||
            errno == EAGAIN))
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] != (unsigned char)(count++ % 251))
                return NULL;
    return reader;
}

/* Signals interrupt a write that waits: it takes no byte, or some of them. */
FILE_TEST(a_write_that_a_signal_interrupts_goes_on)
{
    static unsigned char bytes[LONG_BYTES];
    const struct sigaction action = {.sa_handler = do_nothing};
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    struct sigaction before;
    int reader = make_pipe();
    pthread_t thread;
    void *right;

    for (size_t i = 0; i < LONG_BYTES; i++)
        bytes[i] = (unsigned char)(i % 251);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_int_equal(prof_file_sink(&file).write(&file, bytes, sizeof bytes),
                     PROF_OK);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(pthread_join(thread, &right), 0);
    assert_ptr_equal(right, &reader);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(close(reader), 0);
}

/* Each row: a system call that is refused from the end on, and how; the mode
 * that the new file then has, or 0 if the old file stays. */
static const struct refusal {
    long number;
    int error;
    mode_t mode;
} refusals[] = {
    {SYS_fsync, EIO, 0},       {SYS_fsync, EINVAL, 0664},
    {SYS_fsync, EROFS, 0664},  {SYS_fchmod, EPERM, 0},
    {SYS_renameat, EACCES, 0}, {SYS_close, EIO, 0},
    {SYS_close, EINTR, 0664},  {SYS_fchown, EPERM, 0644},
    {SYS_newfstatat, EIO, 0},  {SYS_openat, EMFILE, 0664},
    {SYS_read, EIO, 0664},
};
static const struct refusal *refusal;

static void
end_refused(void)
{
    const bool stays = refusal->mode == 0;

    CHECK(prof_file_begin(&file, path) == PROF_OK);
    CHECK(put("new") == PROF_OK);
    CHECK(refuse_syscall(refusal->number, refusal->error));
    CHECK(prof_file_end(&file, PROF_OK) == (stays ? PROF_ERR_SINK : PROF_OK));
    CHECK(file.error == (stays ? refusal->error : 0));
}

static void
end_quickly(void)
{
    CHECK(prof_file_begin(&file, path) == PROF_OK);
    prof_file_be_quick(&file);
    CHECK(put("new") == PROF_OK);
    CHECK(refuse_syscall(SYS_fsync, EIO));
    CHECK(prof_file_end(&file, PROF_OK) == PROF_OK);
}

FILE_TEST(an_end_that_fails_leaves_the_old_file)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        refusal = &refusals[i];
        (void)unlink(path);
        make_text(path, "old");
        assert_int_equal(chmod(path, 0664), 0);
        if (refusal->number == SYS_fchown && geteuid() != 0)
            continue; /* no group to take over */
        if (geteuid() == 0)
            assert_int_equal(chown(path, (uid_t)-1, ANOTHER_USER), 0);
        expect_in_child(end_refused);
        assert_holds(path, refusal->mode == 0 ? "old" : "new");
        assert_int_equal(mode_of(path),
                         refusal->mode == 0 ? 0664 : refusal->mode);
    }
    /* A quick file does not wait for the disk. */
    expect_in_child(end_quickly);
    assert_holds(path, "new");
}

static void
begin_refused(void)
{
    CHECK(refuse_syscall(refusal->number, refusal->error));
    CHECK(prof_file_begin(&file, path) == PROF_ERR_SINK);
    CHECK(file.error == refusal->error);
    CHECK(prof_file_end(&file, PROF_ERR_MEMORY) == PROF_ERR_MEMORY);
    prof_file_abandon(&file);
}

/* Without /proc the umask is unknown: umask() reads it only by setting it,
 * which would affect all threads. */
static void
make_without_umask(void)
{
    CHECK(prof_file_begin(&file, path) == PROF_OK);
    CHECK(refuse_syscall(refusal->number, refusal->error));
    CHECK(prof_file_end(&file, PROF_OK) == PROF_OK);
}

FILE_TEST(a_file_that_cannot_be_made_needs_no_undoing)
{
    static const struct refusal early[] = {{SYS_getrandom, EACCES, 0},
                                           {SYS_openat, EMFILE, 0}};
    static const struct refusal late[] = {{SYS_openat, EMFILE, 0},
                                          {SYS_read, EIO, 0}};

    make_text(path, "old");
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        refusal = &early[i];
        expect_in_child(begin_refused);
    }
    assert_holds(path, "old");
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        refusal = &late[i];
        assert_int_equal(unlink(path), 0);
        expect_in_child(make_without_umask);
        assert_int_equal(mode_of(path), 0600);
    }
}
