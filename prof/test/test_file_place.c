/*
 * test_file_place.c -- where a file is written if its name is a link, has links
 * on its path, or is a pipe, a device, or a descriptor of the caller; and in
 * folders where other users may have put links, pipes or second names.
 *
 * Tests with other users give files to them, and become them: only root can.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "prof/test/file_case.h"
#include "common/test/unit_test.h"

#define FILE_TEST(name) TEST_WITH(file_case_begin, file_case_end, name)

/* ---- paths ---- */

FILE_TEST(a_path_may_be_as_long_as_the_system_has_it)
{
    char name[PROF_FILE_NAME_MAX + 2];
    static char longest[PROF_PATH_MAX + 1];

    memset(name, 'n', sizeof name);
    name[PROF_FILE_NAME_MAX + 1] = '\0';
    assert_refused(in_folder(name), ENAMETOOLONG, "too long");
    name[PROF_FILE_NAME_MAX] = '\0';
    assert_writes(in_folder(name), in_folder(name));
    memset(longest, '/', PROF_PATH_MAX);
    memcpy(longest, folder, strlen(folder));
    longest[PROF_PATH_MAX - 1] = 'x';
    assert_refused(longest, ENAMETOOLONG, "too long");
    assert_int_equal(prof_file_folder(&file, longest), PROF_ERR_SINK);
    assert_int_equal(file.error, ENAMETOOLONG);
    longest[PROF_PATH_MAX - 2] = 'x';
    longest[PROF_PATH_MAX - 1] = '\0';
    assert_writes(longest, in_folder("x"));
}

FILE_TEST(a_path_that_names_no_file_is_refused)
{
    static const struct {
        const char *name;
        int error;
    } rows[] = {{"d", EISDIR},    {"d/", EISDIR},  {"d/..", EISDIR},
                {"x/", ENOENT},   {"x/y", ENOENT}, {"f/", ENOTDIR},
                {"f/y", ENOTDIR}, {"loop", ELOOP}, {"loop/x", ELOOP}};

    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    make_text(in_folder("f"), "kept");
    assert_refused("", ENOENT, "No such file");
    assert_refused("/", EISDIR, "Is a directory");
    assert_refused(".", EISDIR, "Is a directory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(in_folder(rows[i].name), rows[i].error,
                       strerror(rows[i].error));
    assert_holds(in_folder("f"), "kept");
    assert_writes(in_folder("d/..//./d/../y"), in_folder("y"));
    assert_int_equal(prof_file_check(&file, "/proc/self/none"), PROF_ERR_SINK);
}

/* ---- links ---- */

FILE_TEST(a_link_is_followed_and_stays)
{
    static const char *const names[] = {"relative", "chain", "absolute",
                                        "way/target"};
    char target[64];

    snprintf(target, sizeof target, "%s/d/target", folder);
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(symlink("d/target", in_folder("relative")), 0);
    assert_int_equal(symlink("relative", in_folder("chain")), 0);
    assert_int_equal(symlink(target, in_folder("absolute")), 0);
    assert_int_equal(symlink("d", in_folder("way")), 0);
    for (size_t i = 0; i < 8; i++) {
        if (i >= 4) { /* a file is there */
            make_text(target, "old");
            assert_int_equal(chmod(target, 0604), 0);
        }
        write_text(in_folder(names[i % 4]), "new");
        assert_true(S_ISREG(like(target).st_mode));
        if (i >= 4)
            assert_int_equal(mode_of(target), 0604);
        assert_int_equal(unlink(target), 0);
        assert_true(S_ISLNK(like(in_folder("chain")).st_mode));
    }
    assert_refused(in_folder("way"), EISDIR, "Is a directory");
}

/* A folder that is moved away while a file is written takes it along. */
FILE_TEST(a_folder_is_looked_up_once)
{
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(mkdir(in_folder("e"), 0777), 0);
    assert_int_equal(prof_file_begin(&file, in_folder("d/file")), PROF_OK);
    assert_int_equal(put("new"), PROF_OK);
    assert_int_equal(rename(in_folder("d"), in_folder("moved")), 0);
    assert_int_equal(symlink("e", in_folder("d")), 0);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
    assert_holds(in_folder("moved/file"), "new");
}

/* ---- pipes and devices ---- */

FILE_TEST(a_pipe_is_written_to_and_stays)
{
    const int reader = make_pipe();
    char got[8] = "";

    assert_int_equal(symlink("file", in_folder("link")), 0);
    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    write_text(path, "one");
    write_text(in_folder("link"), "two");
    assert_int_equal(read(reader, got, sizeof got), 6);
    assert_string_equal(got, "onetwo");
    assert_int_equal(prof_file_begin_private(&file, path), PROF_OK);
    prof_file_abandon(&file);
    assert_int_equal(prof_file_end(&file, PROF_ERR_MEMORY), PROF_ERR_MEMORY);
    assert_int_equal(prof_file_folder(&file, path), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOTDIR);
    assert_int_equal(like(path).st_mode, S_IFIFO | 0600);
    assert_int_equal(close(reader), 0);
}

FILE_TEST(a_socket_and_what_comes_meanwhile_stay)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(server, (void *)&address, sizeof address), 0);
    assert_refused(path, ENXIO, "a socket");
    assert_int_equal(close(server) + unlink(path), 0);
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

FILE_TEST(own_descriptors_are_written_to_where_they_are)
{
    static const char *const none[] = {"/dev/fd/",           "/dev/fd/x",
                                       "/dev/fd/1x",         "/dev/fd/1000000",
                                       "/proc/self/fd/-1",   "/dev/fd/999999",
                                       "/proc/self/fd/99999"};
    const int before = dup(STDERR_FILENO);
    char name[64];
    int opened;

    make_text(path, "begun, ");
    opened = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    snprintf(name, sizeof name, "/dev/fd/%d", opened);
    write_text(name, "two, ");
    assert_int_equal(prof_file_check(&file, name), PROF_OK);
    snprintf(name, sizeof name, "/proc/self/fd/%d", opened);
    assert_int_equal(prof_file_begin(&file, name), PROF_OK);
    assert_int_equal(fcntl(file.descriptor, F_GETFD), FD_CLOEXEC);
    assert_true(prof_file_is(&file, path));
    assert_int_equal(prof_file_end(&file, put("three, ")), PROF_OK);
    fflush(NULL);
    assert_int_equal(dup2(opened, STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(prof_file_begin(&file, "/dev/stderr"), PROF_OK);
    assert_int_equal(prof_file_end(&file, put("four")), PROF_OK);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(prof_file_check(&file, "/dev/stdout"), PROF_OK);
    assert_holds(path, "begun, two, three, four");
    assert_int_equal(close(opened) + close(before), 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(prof_file_begin(&file, none[i]), PROF_ERR_SINK);
        assert_int_equal(file.error == EBADF, i >= 5);
        if (i >= 5)
            assert_int_equal(prof_file_check(&file, none[i]), PROF_ERR_SINK);
    }
}

/* ---- questions ---- */

FILE_TEST(a_file_is_known_under_any_name)
{
    make_text(path, "input");
    make_text(in_folder("other"), "input");
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_int_equal(symlink("file", in_folder("link")), 0);
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
}

FILE_TEST(a_folder_is_made_or_is_there)
{
    static const char *const made[] = {"d", "d", "d/e//", ""};

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        assert_int_equal(prof_file_folder(&file, in_folder(made[i])), PROF_OK);
        assert_int_equal(file.error, 0);
        assert_true(S_ISDIR(like(in_folder(made[i])).st_mode));
    }
    assert_int_equal(prof_file_folder(&file, "/"), PROF_OK);
    make_text(path, "file");
    assert_int_equal(prof_file_folder(&file, path), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), "Not a directory");
    assert_int_equal(prof_file_folder(&file, in_folder("x/y")), PROF_ERR_SINK);
    assert_int_equal(file.error, ENOENT);
    assert_int_equal(prof_file_folder(&file, ""), PROF_ERR_SINK);
    assert_int_equal(prof_file_folder(&file, "/proc/none"), PROF_ERR_SINK);
    assert_int_not_equal(file.error, 0);
}

/* ---- other users ---- */

static const char planted[] = "a link that another user may have planted";

/* Give a file, or the link itself, to a user. */
static void
give(const char *name, uid_t user)
{
    assert_int_equal(lchown(name, user, (gid_t)-1), 0);
}

static void
skip_unless_root(void)
{
    if (geteuid() != 0)
        skip(); /* only root can give files away */
}

/* A folder is trusted if it is ours and only we may write to it. Elsewhere only
 * links of ours and of root are followed, and none with a second name: with
 * fs.protected_hardlinks off, anybody can make that. */
FILE_TEST(a_link_of_another_is_followed_in_a_folder_of_ours_only)
{
    static const struct {
        mode_t mode;
        uid_t folder;
        uid_t link;
        bool second;
        bool follows;
    } rows[] = {
        {0755, 0, 1, false, true},   {0700, 0, 1, true, true},
        {0775, 0, 1, false, false},  {0757, 0, 1, false, false},
        {01777, 0, 1, false, false}, {01777, 0, 0, false, true},
        {01777, 0, 0, true, false},  {0755, 1, 1, false, false},
        {0755, 1, 0, false, true},
    };

    skip_unless_root();
    assert_int_equal(mkdir(in_folder("d"), 0700), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_text(in_folder("d/file"), "kept");
        assert_int_equal(symlink("d/file", path), 0);
        assert_int_equal(symlink("d", in_folder("way")), 0);
        if (rows[i].second)
            assert_int_equal(link(path, in_folder("second")), 0);
        give(path, rows[i].link);
        give(in_folder("way"), rows[i].link);
        assert_int_equal(chmod(folder, rows[i].mode), 0);
        give(folder, rows[i].folder);
        if (rows[i].follows) {
            write_text(path, "new");
            write_text(in_folder("way/file"), "new");
        } else {
            assert_refused(path, EACCES, planted);
            if (!rows[i].second) {
                assert_refused(in_folder("way/file"), EACCES, planted);
                assert_int_equal(prof_file_folder(&file, in_folder("way/f")),
                                 PROF_ERR_SINK);
            }
        }
        assert_holds(in_folder("d/file"), rows[i].follows ? "new" : "kept");
        (void)unlink(in_folder("second"));
        assert_int_equal(unlink(path) + unlink(in_folder("way")), 0);
    }
}

/* Others may have chosen the old file's mode: it must not open the new file to
 * them. The second name of an old file is not written into. */
FILE_TEST(in_a_shared_folder_a_file_is_replaced_and_not_opened_up)
{
    const mode_t before = umask(022);

    assert_int_equal(chmod(folder, 01777), 0);
    make_text(in_folder("elsewhere"), "kept");
    assert_int_equal(chmod(in_folder("elsewhere"), 0666), 0);
    assert_int_equal(link(in_folder("elsewhere"), path), 0);
    write_text(path, "new");
    assert_holds(in_folder("elsewhere"), "kept");
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(chmod(path, 0606), 0);
    write_text(path, "new");
    assert_int_equal(mode_of(path), 0606);
    if (geteuid() == 0) {
        give(path, ANOTHER_USER);
        write_text(path, "new");
        assert_int_equal(mode_of(path), 0604);
    }
    umask(before);
}

/* Only root can make a device, so its owner says nothing about who planted
 * it. */
FILE_TEST(a_pipe_of_another_in_a_shared_folder_is_refused_and_no_device)
{
    static const char reason[] = "a pipe that another user may have planted";
    int reader;

    skip_unless_root();
    reader = make_pipe();
    give(path, ANOTHER_USER);
    write_text(path, "x"); /* the folder is ours */
    assert_int_equal(chmod(folder, 01777), 0);
    assert_refused(path, EACCES, reason);
    give(path, 0);
    write_text(path, "y");
    assert_int_equal(link(path, in_folder("second")), 0);
    assert_refused(path, EACCES, reason);
    assert_int_equal(close(reader), 0);
    if (mknod(in_folder("null"), S_IFCHR | 0666, 0x103) != 0)
        skip(); /* in a user namespace */
    give(in_folder("null"), ANOTHER_USER);
    write_text(in_folder("null"), "gone");
    assert_true(S_ISCHR(like(in_folder("null")).st_mode));
}

/* The kernel would refuse the rename at the end; prof_file_check() says so
 * before the work is done. */
FILE_TEST(what_may_not_be_replaced_is_known_early)
{
    static const struct {
        mode_t mode;
        uid_t folder;
        uid_t file;
        int error; /* for another user */
    } rows[] = {{0777, 0, 0, 0},
                {01777, 0, 0, EPERM},
                {01777, 0, ANOTHER_USER, 0},
                {01777, ANOTHER_USER, 0, 0},
                {0755, 0, ANOTHER_USER, EACCES}};

    assert_int_equal(prof_file_check(&file, path), PROF_OK);
    assert_int_equal(access(path, F_OK), -1);
    skip_unless_root();
    make_text(path, "theirs");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum prof_status status;

        assert_int_equal(chmod(folder, rows[i].mode), 0);
        give(folder, rows[i].folder);
        give(path, rows[i].file);
        assert_int_equal(seteuid(ANOTHER_USER), 0);
        status = prof_file_check(&file, path);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(status, rows[i].error ? PROF_ERR_SINK : PROF_OK);
        assert_int_equal(file.error, rows[i].error);
        assert_int_equal(prof_file_check(&file, path), PROF_OK); /* root */
    }
}
