/*
 * test_file_place.c -- where a file is written if its name is a link, has links
 * on its path, or is a pipe, a device, or a descriptor of the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "file_stubs.h"
#include "unit_test.h"

/* ---- paths ---- */

TEST_WITH(begin, end, a_path_may_be_as_long_as_the_system_has_it)
{
    char name[PROF_FILE_NAME_MAX + 2];
    static char longest[PROF_PATH_MAX + 1];

    memset(name, 'n', sizeof name);
    name[PROF_FILE_NAME_MAX + 1] = '\0';
    assert_refused(in_folder(name), ENAMETOOLONG, "too long");
    memset(longest, 'n', 3000);
    assert_refused(longest, ENAMETOOLONG, "too long");
    name[PROF_FILE_NAME_MAX] = '\0';
    assert_writes(in_folder(name), in_folder(name));
    memset(longest, '/', PROF_PATH_MAX);
    memcpy(longest, folder, strlen(folder));
    longest[PROF_PATH_MAX - 1] = 'x';
    assert_refused(longest, ENAMETOOLONG, "too long");
    longest[PROF_PATH_MAX - 2] = 'x';
    longest[PROF_PATH_MAX - 1] = '\0';
    assert_writes(longest, in_folder("x"));
}

TEST_WITH(begin, end, a_path_that_names_no_file_is_refused)
{
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    make_text(in_folder("f"), "kept");
    assert_refused("", ENOENT, "No such file");
    assert_refused("/", EISDIR, "Is a directory");
    assert_refused(".", EISDIR, "Is a directory");
    assert_refused(in_folder("d"), EISDIR, "Is a directory");
    assert_refused(in_folder("d/"), EISDIR, "Is a directory");
    assert_refused(in_folder("d/.."), EISDIR, "Is a directory");
    assert_refused(in_folder("x/"), ENOENT, "No such file");
    assert_refused(in_folder("x/y"), ENOENT, "No such file");
    assert_refused(in_folder("f/"), ENOTDIR, "Not a directory");
    assert_refused(in_folder("f/y"), ENOTDIR, "Not a directory");
    assert_holds(in_folder("f"), "kept");
    assert_writes(in_folder("d/..//./d/../y"), in_folder("y"));
    assert_int_equal(unlink(in_folder("f")), 0);
    assert_int_equal(rmdir(in_folder("d")), 0);
}

/* ---- links ---- */

TEST_WITH(begin, end, a_link_is_followed_and_stays)
{
    char target[512];

    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(symlink("d/target", in_folder("relative")), 0);
    assert_int_equal(symlink("relative", in_folder("chain")), 0);
    snprintf(target, sizeof target, "%s/d/target", folder);
    assert_int_equal(symlink(target, in_folder("absolute")), 0);
    assert_int_equal(symlink("d", in_folder("way")), 0);
    for (int i = 0; i < 2; i++) { /* nothing is there; a file is there */
        static const char *const names[] = {"relative", "chain", "absolute",
                                            "way/target"};

        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            if (i == 1) {
                make_text(target, "old");
                assert_int_equal(chmod(target, 0604), 0);
            }
            assert_int_equal(prof_file_begin(&file, in_folder(names[n])),
                             PROF_OK);
            assert_int_equal(access(in_folder("d"), W_OK), 0);
            assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
            assert_true(S_ISREG(like(target).st_mode));
            if (i == 1)
                assert_int_equal(like(target).st_mode & 0777, 0604);
            assert_int_equal(unlink(target), 0);
        }
    }
    assert_refused(in_folder("way"), EISDIR, "Is a directory");
    assert_int_equal(unlink(in_folder("relative")), 0);
    assert_int_equal(unlink(in_folder("chain")), 0);
    assert_int_equal(unlink(in_folder("absolute")), 0);
    assert_int_equal(unlink(in_folder("way")), 0);
    assert_int_equal(rmdir(in_folder("d")), 0);
}

TEST_WITH(begin, end, links_that_lead_nowhere_are_refused)
{
    enum { BARE, BY_FOLDER, WHOLE, KINDS };
    char name[16];
    char next[16];

    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    assert_refused(in_folder("loop"), ELOOP, "Too many levels");
    assert_refused(in_folder("loop/x"), ELOOP, "Too many levels");
    assert_int_equal(unlink(in_folder("loop")), 0);
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    for (int kind = BARE; kind < KINDS; kind++) {
        for (int i = 0; i <= 40; i++) {
            char whole[PROF_PATH_MAX];

            snprintf(name, sizeof name, "l%d", i);
            snprintf(next, sizeof next, "%sl%d",
                     kind == BY_FOLDER ? "d/../" : "", i + 1);
            snprintf(whole, sizeof whole, "%s", in_folder(next));
            assert_int_equal(
                symlink(kind == WHOLE ? whole : next, in_folder(name)), 0);
        }
        assert_refused(in_folder("l0"), ELOOP, "Too many levels");
        assert_writes(in_folder("l1"), in_folder("l41"));
        for (int i = 0; i <= 40; i++) {
            snprintf(name, sizeof name, "l%d", i);
            assert_int_equal(unlink(in_folder(name)), 0);
        }
    }
    assert_int_equal(rmdir(in_folder("d")), 0);
}

/* The link's target and the rest of the path may together have 4096 bytes, with
 * the final NUL. */
TEST_WITH(begin, end, a_link_that_makes_the_path_too_long_is_refused)
{
    static char target[PROF_PATH_MAX];
    static char name[PROF_PATH_MAX];
    const size_t folder_bytes = strlen(folder);

    memset(target, '/', 4000);
    memcpy(target, folder, folder_bytes);
    assert_int_equal(symlink(target, in_folder("long")), 0);
    memset(name, '/', sizeof name - 1);
    snprintf(name, sizeof name, "%s/long", folder);
    name[strlen(name)] = '/';
    name[folder_bytes + 5 + 94] = 'x';
    name[folder_bytes + 5 + 95] = '\0';
    assert_writes(name, in_folder("x"));
    name[folder_bytes + 5 + 94] = '/';
    name[folder_bytes + 5 + 95] = 'x';
    name[folder_bytes + 5 + 96] = '\0';
    assert_refused(name, ENAMETOOLONG, "too long");
    assert_int_equal(unlink(in_folder("long")), 0);
}

/* ---- pipes and devices ---- */

TEST_WITH(begin, end, a_pipe_is_written_to_and_stays)
{
    const int reader = make_pipe();
    char got[8] = "";

    assert_int_equal(symlink("file", in_folder("link")), 0);
    refuse(CALL_OPEN, EINTR, 3);
    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    write_text(path, "one");
    assert_int_equal(stubs.refused_times, 0);
    assert_int_equal(stubs.opened_flags,
                     O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    write_text(in_folder("link"), "two");
    assert_int_equal(read(reader, got, sizeof got), 6);
    assert_string_equal(got, "onetwo");
    assert_true(S_ISFIFO(like(path).st_mode));
    assert_int_equal(like(path).st_mode & 0777, 0600);
    assert_int_equal(prof_file_begin_private(&file, path), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_int_equal(prof_file_folder(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOTDIR);
    /* What the pipe has received cannot be taken back, and the pipe is not
     * removed. */
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    prof_file_abandon(&file);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_true(S_ISFIFO(like(path).st_mode));
    refuse(CALL_OPEN, EACCES, 1);
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, EACCES);
    assert_int_equal(stubs.unlinks, 0);
    assert_int_equal(close(reader), 0);
    assert_int_equal(unlink(in_folder("link")), 0);
}

TEST_WITH(begin, end, what_is_swapped_while_it_is_opened_is_refused)
{
    const int reader = make_pipe();

    make_text(in_folder("other"), "kept");
    stubs.swap = "other";
    assert_int_equal(prof_file_begin(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, EAGAIN);
    assert_string_equal(prof_file_reason(&file),
                        "it was replaced while it was opened");
    assert_holds(in_folder("other"), "kept");
    assert_int_equal(unlink(in_folder("other")), 0);
    assert_int_equal(close(reader), 0);
}

/*
 * Open a device that no mistake of the library can replace, even if root runs
 * the test: a terminal, in a folder where no file can be made.
 */
static int
open_terminal(char *name, size_t name_bytes)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    assert_int_equal(ptsname_r(master, name, name_bytes), 0);
    return master;
}

TEST_WITH(begin, end, a_device_is_written_to)
{
    char name[64];
    char got[8] = "";
    const int master = open_terminal(name, sizeof name);
    const struct stat before = like(name);

    stubs.descriptors = 0; /* a descriptor opened without the stubs */
    write_text(name, "new");
    assert_int_equal(read(master, got, sizeof got - 1), 3);
    assert_string_equal(got, "new");
    assert_int_equal(prof_file_check(&file, name), PROF_OK);
    assert_true(S_ISCHR(like(name).st_mode));
    assert_int_equal(like(name).st_ino, before.st_ino);
    assert_int_equal(prof_file_begin(&file, name), PROF_OK);
    assert_false(prof_file_is(&file, name)); /* it may be read and written */
    refuse(CALL_WRITE, ENOSPC, 1);
    assert_int_equal(prof_file_end(&file, put("much")), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOSPC);
    assert_int_equal(stubs.descriptors, 0);
    close(master);
    stubs.descriptors = 0;
}

TEST_WITH(begin, end, a_socket_is_refused)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(server >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(server, (void *)&address, sizeof address), 0);
    assert_refused(path, ENXIO, "a socket");
    assert_true(S_ISSOCK(like(path).st_mode));
    assert_int_equal(stubs.descriptors, 0);
    assert_int_equal(close(server), 0);
    stubs.descriptors = 0; /* socket() is not counted */
}

TEST_WITH(begin, end, what_comes_meanwhile_and_is_no_file_stays)
{
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(file.error, EEXIST);
    assert_string_equal(prof_file_reason(&file),
                        "it is no regular file any more");
    assert_true(S_ISFIFO(like(path).st_mode));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_int_equal(symlink("other", path), 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_true(S_ISLNK(like(path).st_mode));
}

/* ---- own descriptors ---- */

TEST_WITH(begin, end, own_descriptors_are_written_to_where_they_are)
{
    static const char *const none[] = {"/dev/fd/", "/dev/fd/x", "/dev/fd/1x",
                                       "/dev/fd/1000000", "/proc/self/fd/-1"};
    char name[64];
    int opened;
    int descriptor;

    make_text(path, "begun, ");
    opened = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 123); /* three digits */
    assert_true(descriptor >= 123);
    assert_int_equal(close(opened), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", descriptor);
    write_text(name, "gone on, ");
    assert_true(prof_file_check(&file, name) == PROF_OK);
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    assert_int_equal(prof_file_begin(&file, name), PROF_OK);
    assert_int_equal(fcntl(file.descriptor, F_GETFD), FD_CLOEXEC);
    assert_true(prof_file_is(&file, path));
    stubs.descriptors++; /* fcntl() is not counted */
    assert_int_equal(prof_file_end(&file, put("ended")), PROF_OK);
    assert_holds(path, "begun, gone on, ended");
    assert_int_equal(close(descriptor), 0);
    stubs.descriptors = 0; /* fcntl() is not counted */
    assert_int_equal(prof_file_begin(&file, "/dev/fd/999999"), PROF_ERR_SINK);
    assert_int_equal(file.error, EBADF);
    assert_int_equal(prof_file_check(&file, "/dev/fd/999999"), PROF_ERR_SINK);
    assert_int_equal(file.error, EBADF);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(prof_file_begin(&file, none[i]), PROF_ERR_SINK);
        assert_int_not_equal(file.error, EBADF);
    }
}

TEST_WITH(begin, end, standard_output_and_error_have_names)
{
    static const struct {
        const char *name;
        int descriptor;
    } cases[] = {{"/dev/stdout", STDOUT_FILENO},
                 {"/dev/stderr", STDERR_FILENO}};

    for (size_t i = 0; i < 2; i++) {
        const int before = dup(cases[i].descriptor);
        enum prof_status status;
        int to;

        make_text(path, "");
        to = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(write(to, "begun, ", 7), 7);
        fflush(NULL);
        dup2(to, cases[i].descriptor);
        status = prof_file_begin(&file, cases[i].name);
        if (status == PROF_OK)
            status = prof_file_end(&file, put("said"));
        dup2(before, cases[i].descriptor);
        close(before);
        close(to);
        assert_int_equal(status, PROF_OK);
        assert_holds(path, "begun, said");
    }
    stubs.descriptors = 0; /* dup() is not counted */
}

/* ---- questions ---- */

TEST_WITH(begin, end, a_file_is_known_under_any_name)
{
    make_text(path, "input");
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_int_equal(symlink("file", in_folder("link")), 0);
    make_text(in_folder("other"), "input");
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    assert_true(prof_file_is(&file, path));
    assert_true(prof_file_is(&file, in_folder("second")));
    assert_true(prof_file_is(&file, in_folder("link")));
    assert_false(prof_file_is(&file, in_folder("other")));
    assert_false(prof_file_is(&file, in_folder("missing")));
    assert_false(prof_file_is(&file, folder));            /* no regular file */
    assert_false(prof_file_is(&file, "/proc/self/maps")); /* another disk */
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_int_equal(prof_file_begin(&file, in_folder("new")), PROF_OK);
    assert_false(prof_file_is(&file, path));
    assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
    assert_int_equal(unlink(in_folder("second")), 0);
    assert_int_equal(unlink(in_folder("link")), 0);
    assert_int_equal(unlink(in_folder("other")), 0);
}

/* The caller makes the folder, so that others cannot choose what is in it. */
TEST_WITH(begin, end, a_folder_is_made_or_is_there)
{
    char longest[PROF_PATH_MAX + 2];

    assert_int_equal(prof_file_folder(&file, in_folder("d")), PROF_OK);
    assert_true(S_ISDIR(like(in_folder("d")).st_mode));
    assert_int_equal(prof_file_folder(&file, in_folder("d")), PROF_OK);
    assert_int_equal(prof_file_folder(&file, in_folder("d/e//")), PROF_OK);
    assert_true(S_ISDIR(like(in_folder("d/e")).st_mode));
    assert_int_equal(prof_file_folder(&file, "/"), PROF_OK);
    assert_int_equal(file.error, 0);
    make_text(path, "file");
    assert_int_equal(prof_file_folder(&file, path), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), "Not a directory");
    assert_int_equal(prof_file_folder(&file, in_folder("x/y")), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
    assert_int_equal(prof_file_folder(&file, ""), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
    memset(longest, '/', sizeof longest);
    longest[PROF_PATH_MAX] = 'x';
    longest[PROF_PATH_MAX + 1] = '\0';
    assert_int_equal(prof_file_folder(&file, longest), PROF_ERR_SINK);
    assert_int_equal(file.error, ENAMETOOLONG);
    assert_int_equal(prof_file_folder(&file, "/proc/none"), PROF_ERR_SINK);
    assert_true(file.error != 0);
    assert_int_equal(rmdir(in_folder("d/e")), 0);
    assert_int_equal(rmdir(in_folder("d")), 0);
}

TEST_WITH(begin, end, what_may_not_be_written_is_known_early)
{
    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    assert_int_equal(access(path, F_OK), -1); /* and no folder is made */
    assert_int_equal(file.descriptor, -1);
    assert_int_equal(prof_file_check(&file, "/proc/self/none"), PROF_ERR_SINK);
    if (geteuid() == 0)
        return; /* a user who may write everywhere */
    assert_int_equal(chmod(folder, 0500), 0);
    assert_int_equal(prof_file_check(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, EACCES);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
