/*
 * test_file_shared.c -- files in folders where other users may have put
 * symbolic links, hard links to our files, or pipes. The library writes to none
 * of these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "file_stubs.h"
#include "unit_test.h"

enum { NULL_DEVICE = 0x103 }; /* 1, 3 on Linux */

static const char elsewhere[] = "elsewhere"; /* what must not be written to */
static const char planted[] = "a link that another user may have planted";

/* A link was planted that leads to a file; that file must stay as it is. */
static void
assert_kept(void)
{
    assert_holds(in_folder(elsewhere), "kept");
}

TEST_WITH(begin, end, a_link_of_another_in_a_shared_folder_is_not_followed)
{
    make_text(in_folder(elsewhere), "kept");
    for (int sticky = 0; sticky < 2; sticky++) {
        share_folder(sticky != 0);
        assert_int_equal(symlink(elsewhere, path), 0);
        if (geteuid() == 0) {
            assert_writes(path, in_folder(elsewhere)); /* our own link */
            make_text(in_folder(elsewhere), "kept");
        }
        give_away(path);
        assert_refused(path, EACCES, planted);
        assert_kept();
        assert_int_equal(unlink(path), 0);
        /* A planted link to a folder is not followed, either. */
        assert_int_equal(symlink(".", path), 0);
        give_away(path);
        assert_refused(in_folder("file/elsewhere"), EACCES, planted);
        assert_kept();
        assert_int_equal(unlink(path), 0);
        stubs.euid = 0;
    }
    assert_int_equal(unlink(in_folder(elsewhere)), 0);
}

/* Root can write anywhere anyway, so a link that root made is no attack. */
TEST_WITH(begin, end, a_link_of_root_in_a_shared_folder_is_followed)
{
    if (geteuid() != 0)
        skip(); /* root has made no link */
    share_folder(true);
    assert_int_equal(symlink(elsewhere, path), 0);
    stubs.euid = 54321;
    assert_writes(path, in_folder(elsewhere));
    assert_int_equal(lchown(path, 1, (gid_t)-1), 0);
    assert_refused(path, EACCES, planted);
}

/* Only root can make a device, so its owner says nothing about who planted
 * it. */
TEST_WITH(begin, end,
          a_device_in_a_shared_folder_is_written_to_unless_it_has_two_names)
{
    share_folder(true);
    if (mknod(path, S_IFCHR | 0666, NULL_DEVICE) != 0)
        skip(); /* not root, or in a container */
    give_away(path);
    write_text(path, "gone");
    assert_true(S_ISCHR(like(path).st_mode));
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_refused(path, EACCES, "planted");
    assert_int_equal(unlink(in_folder("second")), 0);
}

/* A user who may not write to the folder cannot have planted the link. */
TEST_WITH(begin, end, a_folder_is_closed_if_it_is_ours_and_only_we_may_write)
{
    static const struct {
        mode_t mode;
        bool closed;
    } cases[] = {{0755, true}, {0700, true}, {0775, false}, {0757, false}};

    if (geteuid() != 0)
        skip(); /* only root can give a link away */
    make_text(in_folder(elsewhere), "kept");
    assert_int_equal(symlink(elsewhere, path), 0);
    give_away(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(chmod(folder, cases[i].mode), 0);
        if (cases[i].closed)
            write_text(path, "kept");
        else
            assert_refused(path, EACCES, planted);
        assert_kept();
    }
    /* The folder belongs to another user, who may do anything there. */
    assert_int_equal(chmod(folder, 0755), 0);
    give_away(folder);
    assert_refused(path, EACCES, planted);
    stubs.euid = like(folder).st_uid; /* now we are that user */
    write_text(path, "kept");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(elsewhere, path), 0); /* a link of root */
    write_text(path, "kept");
    assert_int_equal(lchown(folder, 0, (gid_t)-1), 0);
    assert_int_equal(unlink(in_folder(elsewhere)), 0);
}

/* With fs.protected_hardlinks off, anybody can give our link another name. */
TEST_WITH(begin, end,
          a_link_with_a_second_name_is_not_followed_in_a_shared_folder)
{
    make_text(in_folder(elsewhere), "kept");
    assert_int_equal(symlink(elsewhere, in_folder("ours")), 0);
    assert_int_equal(link(in_folder("ours"), path), 0);
    share_folder(true);
    assert_refused(path, EACCES, planted);
    assert_kept();
    assert_int_equal(chmod(folder, 0700), 0);
    write_text(path, "kept");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(in_folder("ours")), 0);
    assert_int_equal(unlink(in_folder(elsewhere)), 0);
}

TEST_WITH(begin, end, a_file_is_replaced_and_never_written_into)
{
    const mode_t before = umask(022);
    struct stat old;

    share_folder(true);
    make_text(in_folder(elsewhere), "kept");
    assert_int_equal(chmod(in_folder(elsewhere), 0666), 0);
    assert_int_equal(link(in_folder(elsewhere), path), 0);
    old = like(path);
    write_text(path, "new");
    assert_kept();
    assert_int_equal(like(in_folder(elsewhere)).st_ino, old.st_ino);
    assert_int_equal(like(path).st_nlink, 1);
    /* Others may have chosen the mode: it must not open the file to them. */
    assert_int_equal(like(path).st_mode & 0777, 0644);
    assert_int_equal(chmod(path, 0606), 0);
    write_text(path, "new");
    assert_int_equal(like(path).st_mode & 0777, 0606);
    give_away(path);
    write_text(path, "new");
    assert_int_equal(like(path).st_mode & 0777, 0604);
    assert_int_equal(unlink(in_folder(elsewhere)), 0);
    umask(before);
}

/* A folder that is moved away while a file is written takes it along. */
TEST_WITH(begin, end, a_folder_is_looked_up_once)
{
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(mkdir(in_folder("e"), 0777), 0);
    assert_int_equal(prof_file_begin(&file, in_folder("d/file")), PROF_OK);
    assert_int_equal(put("new"), PROF_OK);
    assert_int_equal(rename(in_folder("d"), in_folder("moved")), 0);
    assert_int_equal(symlink("e", in_folder("d")), 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_holds(in_folder("moved/file"), "new");
    assert_int_equal(rmdir(in_folder("e")), 0);
    assert_int_equal(unlink(in_folder("d")), 0);
    assert_int_equal(unlink(in_folder("moved/file")), 0);
    assert_int_equal(rmdir(in_folder("moved")), 0);
}

TEST_WITH(begin, end, a_pipe_of_another_in_a_shared_folder_is_refused)
{
    static const char reason[] = "a pipe that another user may have planted";
    const int reader = make_pipe();

    if (geteuid() == 0) {
        give_away(path);
        write_text(path, "x"); /* the folder is ours */
    }
    share_folder(true);
    give_away(path);
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, EACCES);
    assert_string_equal(prof_file_reason(&file), reason);
    assert_int_equal(prof_file_check(&file, path), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), reason);
    stubs.euid = 0;
    if (geteuid() == 0)
        assert_int_equal(chown(path, 0, (gid_t)-1), 0);
    write_text(path, "y");
    /* A file of our own, which others may have linked here. */
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), reason);
    assert_int_equal(unlink(in_folder("second")), 0);
    assert_int_equal(close(reader), 0);
}

/* The kernel would refuse the rename at the end; prof_file_check() tells the
 * caller before the work is done. */
TEST_WITH(begin, end, a_file_of_another_in_a_sticky_folder_may_not_be_replaced)
{
    make_text(path, "theirs");
    for (int sticky = 0; sticky < 2; sticky++) {
        share_folder(sticky != 0);
        stubs.euid = 54321; /* owns neither the folder nor the file */
        assert_int_equal(prof_file_check(&file, path),
                         sticky != 0 ? PROF_ERR_SINK : PROF_OK);
        assert_int_equal(file.error, sticky != 0 ? EPERM : 0);
        assert_int_equal(prof_file_check(&file, in_folder("new")), PROF_OK);
        stubs.euid = 0;
        assert_int_equal(prof_file_check(&file, path), PROF_OK);
    }
    if (geteuid() != 0)
        return; /* only root can give files away */
    stubs.euid = 54321;
    assert_int_equal(lchown(path, 54321, (gid_t)-1), 0); /* our file */
    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    assert_int_equal(lchown(path, 54322, (gid_t)-1), 0);
    assert_int_equal(prof_file_check(&file, path), PROF_ERR_SINK);
    assert_int_equal(lchown(folder, 54321, (gid_t)-1), 0); /* our folder */
    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    stubs.euid = 0;
    assert_int_equal(prof_file_check(&file, path), PROF_OK); /* root */
    assert_int_equal(lchown(folder, 0, (gid_t)-1), 0);
}

TEST_WITH(begin, end, a_folder_is_not_made_past_a_link_of_another)
{
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    share_folder(true);
    assert_int_equal(symlink("d", in_folder("link")), 0);
    give_away(in_folder("link"));
    assert_int_equal(prof_file_folder(&file, in_folder("link")), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), planted);
    assert_int_equal(prof_file_folder(&file, in_folder("link/f")),
                     PROF_ERR_SINK);
    assert_int_equal(access(in_folder("d/f"), F_OK), -1);
    assert_int_equal(unlink(in_folder("link")), 0);
    assert_int_equal(rmdir(in_folder("d")), 0);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
