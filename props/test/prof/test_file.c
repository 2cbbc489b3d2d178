/*
 * test_file.c -- files appear whole or not at all, even if a system call writes
 * few bytes, is interrupted, finds no space, or cannot sync, close or rename.
 * Also tests the mode of a file that is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file_stubs.h"
#include "unit_test.h"

/* ---- begin ---- */

TEST_WITH(begin, end, a_file_is_made_new_and_nobody_else_may_open_it)
{
    struct stat info;

    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(file.error, 0);
    assert_int_equal(stubs.created_flags,
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
    assert_int_equal(stubs.created_mode, 0600);
    assert_int_equal(stubs.start_flags, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fcntl(file.descriptor, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fstat(file.descriptor, &info), 0);
    assert_int_equal(info.st_mode, S_IFREG | 0600);
    assert_int_equal(like(in_folder(file.temporary)).st_ino, info.st_ino);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(stubs.syncs_before_mode, 0);
    assert_int_equal(stubs.syncs_before_name, 1);
    assert_int_equal(like(path).st_ino, info.st_ino);
}

/* Any reader sees the whole file at once; only after a power failure may it be
 * missing on disk. */
TEST_WITH(begin, end, a_quick_file_does_not_wait_for_the_disk)
{
    write_text(path, "old");
    stubs.syncs = 0;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    prof_file_be_quick(&file);
    assert_int_equal(put("new"), PROF_OK);
    assert_holds(path, "old");
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(stubs.syncs, 0);
    assert_holds(path, "new");
    /* A later file is synced as usual. */
    write_text(path, "newer");
    assert_int_equal(stubs.syncs, 2);
}

TEST_WITH(begin, end, a_temporary_name_is_random_and_like_no_other)
{
    static const char digits[] = "0123456789abcdef";
    char names[64][sizeof file.temporary];
    uint32_t met[16] = {0};

    for (int i = 0; i < 64; i++) {
        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        memcpy(names[i], file.temporary, sizeof names[i]);
        assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
        assert_int_equal(strlen(names[i]), 6 + 16 + 5);
        assert_memory_equal(names[i], ".prof-", 6);
        assert_int_equal(strspn(names[i] + 6, digits), 16);
        assert_string_equal(names[i] + 22, ".part");
        for (int j = 0; j < 16; j++)
            met[strchr(digits, names[i][6 + j]) - digits] |= 1u << j;
        for (int j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
    /* In 256 pairs of a digit and its place, 64 random names leave a pair unmet
     * with a chance of 1 in 62. That each digit was met in at least 8 of the 16
     * places shows that each place varies. */
    for (int digit = 0; digit < 16; digit++)
        assert_true(__builtin_popcount(met[digit]) >= 8);
    /* The bytes 1f, 30, 41 ... give these digits. */
    stubs.fixed_names = 1;
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_string_equal(file.temporary, ".prof-1f30415263748596.part");
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
}

static const char taken[] = ".prof-1f30415263748596.part";

/* Somebody unknown left the file with that name; it may be a link. */
TEST_WITH(begin, end, a_temporary_name_that_is_taken_is_left_alone)
{
    make_text(in_folder("target"), "kept");
    assert_int_equal(symlink("target", in_folder(taken)), 0);
    stubs.fixed_names = 99;
    write_text(path, "new");
    assert_int_equal(stubs.fixed_names, 0);
    assert_holds(in_folder("target"), "kept");
    assert_holds(path, "new");
    stubs.fixed_names = 1000;
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_int_equal(stubs.fixed_names, 900);
    assert_int_equal(file.error, EEXIST);
    assert_true(S_ISLNK(like(in_folder(taken)).st_mode));
    assert_int_equal(unlink(in_folder(taken)), 0);
    assert_int_equal(unlink(in_folder("target")), 0);
    assert_holds(path, "new");
}

TEST_WITH(begin, end, what_interrupts_a_begin_is_waited_for)
{
    refuse(CALL_RANDOM, EINTR, 7);
    write_text(path, "new");
    assert_int_equal(stubs.refused_times, 0);
    refuse(CALL_CREATE, EINTR, 7);
    write_text(path, "newer");
    assert_int_equal(stubs.refused_times, 0);
    assert_holds(path, "newer");
}

/* A program may have closed its standard input: then the library gets
 * descriptor 0. */
TEST_WITH(begin, end, a_file_may_be_descriptor_0)
{
    const int input = dup(0);
    int in_between;

    assert_true(input > 0);
    in_between = open("/", O_PATH | O_CLOEXEC); /* a free number above 0 */
    assert_int_equal(close(0), 0);
    assert_int_equal(close(in_between), 0);
    stubs.descriptors = 0;
    /* Of the folder and the file one is descriptor 0, the other in_between. */
    write_text(path, "zero");
    assert_int_equal(stubs.syncs, 2);
    assert_int_equal(stubs.descriptors, 0);
    /* A path with a missing folder leaves no descriptor open. */
    assert_int_equal(prof_file_begin(&file, in_folder("no/file")),
                     PROF_ERR_SINK);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    stubs.descriptors = 0;
    assert_int_equal(dup2(input, 0), 0);
    assert_int_equal(close(input), 0);
    stubs.descriptors = 0;
    assert_holds(path, "zero");
}

TEST_WITH(begin, end, a_file_that_cannot_be_made_needs_no_undoing)
{
    static const enum call calls[] = {CALL_CREATE, CALL_RANDOM};

    for (size_t i = 0; i < 2; i++) {
        refuse(calls[i], EACCES, 1);
        assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
        assert_int_equal(file.error, EACCES);
        assert_string_equal(prof_file_reason(&file), "Permission denied");
        assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY),
                         PROF_ERR_MEMORY);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
        prof_file_abandon(&file);
        assert_int_equal(stubs.unlinks, 0);
    }
}

/* ---- mode ---- */

static mode_t
mode_of(const char *name)
{
    return like(name).st_mode & 07777;
}

TEST_WITH(begin, end, a_new_file_has_the_mode_that_the_umask_leaves)
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

/* Without /proc the umask is unknown: umask() reads it only by setting it,
 * which would affect all threads. */
TEST_WITH(begin, end, where_the_umask_is_not_known_the_file_is_private)
{
    const mode_t before = umask(022);

    refuse(CALL_STATUS, ENOENT, 1);
    write_text(path, "new");
    assert_int_equal(stubs.refused_times, 0);
    assert_int_equal(mode_of(path), 0600);
    refuse(CALL_READ, EIO, 1);
    assert_int_equal(unlink(path), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0600);
    stubs.status = in_folder("status");
    make_text(stubs.status, "Name:\tUmask:\t0022\n");
    assert_int_equal(unlink(path), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0600);
    make_text(stubs.status, "Name:\tx\nUmask:\t0137\nPid:\t7\n");
    refuse(CALL_READ, EINTR, 3);
    assert_int_equal(unlink(path), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(unlink(stubs.status), 0);
    umask(before);
}

TEST_WITH(begin, end, a_file_that_replaces_another_has_its_mode)
{
    static const mode_t modes[] = {0600, 0644, 0666, 0755, 0400, 0, 0777};
    const mode_t before = umask(027);

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        write_text(path, "old");
        assert_int_equal(chmod(path, modes[i]), 0);
        write_text(path, "new");
        assert_int_equal(mode_of(path), modes[i]);
    }
    /* But the new file is never set-user-ID or set-group-ID. */
    assert_int_equal(chmod(path, 06755), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0755);
    umask(before);
}

TEST_WITH(begin, end, a_private_file_stays_private)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(prof_file_begin_private(&file, path), PROF_OK);
        assert_int_equal(put("mine"), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_int_equal(mode_of(path), 0600);
        assert_int_equal(chmod(path, 0666), 0);
        if (geteuid() != 0)
            continue; /* this user may belong to one group only */
        /* It takes over a group as any file does. */
        assert_int_equal(like(path).st_gid, i == 0 ? getegid() : 54321);
        assert_int_equal(chown(path, (uid_t)-1, 54321), 0);
    }
}

/* Permissions for one group must not be given to another. */
TEST_WITH(begin, end, a_group_is_kept_or_gets_what_all_have)
{
    const bool may_give = geteuid() == 0;

    write_text(path, "old");
    if (may_give)
        assert_int_equal(chown(path, (uid_t)-1, 54321), 0);
    assert_int_equal(chmod(path, 0664), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0664);
    if (!may_give)
        return; /* this user may belong to one group only */
    assert_int_equal(like(path).st_gid, 54321);
    refuse(CALL_FCHOWN, EPERM, 1);
    write_text(path, "new");
    assert_int_equal(stubs.refused_times, 0);
    assert_int_not_equal(like(path).st_gid, 54321);
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(chown(path, (uid_t)-1, 54321), 0);
    assert_int_equal(chmod(path, 0671), 0);
    refuse(CALL_FCHOWN, EPERM, 1);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0611);
}

TEST_WITH(begin, end, a_mode_that_cannot_be_set_is_a_failure)
{
    write_text(path, "old");
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    refuse(CALL_FCHMOD, EPERM, 1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(file.error, EPERM);
    assert_holds(path, "old");
}

/* ---- write ---- */

TEST_WITH(begin, end, a_write_that_takes_few_bytes_is_continued)
{
    for (stubs.write_max = 1; stubs.write_max < 9; stubs.write_max++) {
        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        refuse(CALL_WRITE, EINTR, 3);
        assert_int_equal(put("12345678"), PROF_OK);
        assert_int_equal(stubs.refused_times, 0);
        assert_int_equal(put("9"), PROF_OK);
        assert_int_equal(put(""), PROF_OK);
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_holds(path, "123456789");
    }
}

/* A write that returns 0 without an error must not be repeated for ever. */
TEST_WITH(begin, end, a_write_that_fails_says_why_and_the_first_reason_stays)
{
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    stubs.errno_before = EINTR; /* of an earlier call */
    refuse(CALL_WRITE, 0, 1);
    assert_int_equal(put("lost"), PROF_ERR_SINK);
    assert_int_equal(file.error, EIO);
    stubs.errno_before = 0;
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

/* ---- end ---- */

TEST_WITH(begin, end, the_file_and_its_folder_are_synced_wherever_it_is)
{
    static const char *const names[] = {path, "profsim-here", "/profsim-root",
                                        "./profsim-here", "//./profsim-root"};
    const int before = open(".", O_RDONLY | O_CLOEXEC);

    assert_true(before >= 0);
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const name = strrchr(names[i], '/');

        stubs.syncs = 0;
        stubs.root = i == 0 ? NULL : folder; /* "/" cannot be written to */
        write_text(names[i], "here");
        assert_holds(in_folder(name != NULL ? name : names[i]), "here");
        assert_int_equal(stubs.syncs, 2);
        assert_int_equal(
            stubs.synced[0],
            like(name != NULL ? in_folder(name) : names[i]).st_ino);
        assert_int_equal(stubs.synced[1], like(folder).st_ino);
        assert_int_equal(unlink(in_folder(name != NULL ? name : names[i])), 0);
    }
    assert_int_equal(fchdir(before), 0);
    assert_int_equal(close(before), 0);
}

/* Each row: the call that fails at the end, how, how many times, and whether
 * the new file is in place all the same. */
TEST_WITH(begin, end, an_end_that_fails_leaves_the_old_file)
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
        if (cases[i].error == EINTR) /* repeated until it succeeded */
            assert_int_equal(stubs.refused_times, 0);
        refuse(NO_CALL, 0, 0);
        assert_holds(path, stays ? "new" : "old");
        assert_int_equal(access(in_folder(file.temporary), F_OK), -1);
        assert_int_equal(stubs.descriptors, 0);
        /* The file has ended: a second end fails and does nothing. */
        stubs.unlinks = 0;
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
        assert_int_equal(file.error, stays ? 0 : cases[i].error);
        assert_int_equal(stubs.unlinks, 0);
    }
}

/* If two things fail, the first is the reason that is reported. */
TEST_WITH(begin, end, a_file_thrown_away_keeps_its_reason_and_waits_for_no_disk)
{
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("half"), PROF_OK);
    refuse(CALL_CLOSE, EIO, 1);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_equal(stubs.refused_times, 0);
    assert_int_equal(file.error, 0);
    assert_int_equal(stubs.syncs, 0);
    assert_int_equal(stubs.unlinks, 1);
    assert_int_equal(access(path, F_OK), -1);
}

TEST_WITH(begin, end, a_folder_that_cannot_be_opened_or_synced_is_no_failure)
{
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    refuse(CALL_FOLDER, EMFILE, 1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(stubs.syncs, 1);
    assert_holds(path, "");
}

TEST_WITH(begin, end, a_file_that_is_abandoned_is_gone)
{
    static const struct prof_file none;

    prof_file_abandon(&none);
    assert_int_equal(stubs.unlinks, 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(put("half"), PROF_OK);
    prof_file_abandon(&file);
    assert_int_equal(access(in_folder(file.temporary), F_OK), -1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
