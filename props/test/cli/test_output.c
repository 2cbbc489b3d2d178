/*
 * test_output.c -- the files that a command writes: if a signal ends the
 * command, if a file exceeds the limit of sizes, if it is the file being read.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "output.h"
#include "unit_test.h"

enum { CHILD_SECONDS = 20 };

static char path[sizeof folder + 8];
static const struct props_output output = {.path = path};

/* returns: how many files the folder has */
static int
names(void)
{
    DIR *dir = opendir(folder);
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2; /* "." and ".." */
}

static void
assert_holds(const char *want)
{
    char text[64];
    FILE *stream = fopen(path, "r");
    size_t bytes;

    assert_non_null(stream);
    bytes = fread(text, 1, sizeof text - 1, stream);
    text[bytes] = '\0';
    fclose(stream);
    assert_string_equal(text, want);
}

static bool
put(struct prof_file *file, const char *text)
{
    const struct prof_sink sink = prof_file_sink(file);

    return sink.write(sink.context, text, strlen(text)) == PROF_OK;
}

/* Run `body` in a child. returns: the status from waitpid() */
static int
in_child(void (*run)(int number), int number)
{
    const pid_t child = fork();
    int status = -1;

    assert_true(child >= 0);
    if (child == 0) {
        alarm(CHILD_SECONDS);
        run(number);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void
is_ended(int number)
{
    static struct prof_file file;

    if (props_output_begin(&file, &output) != PROF_OK || !put(&file, "half") ||
        names() != 2)
        _exit(1);
    raise(number);
}

static void
a_signal_that_ends_the_command_leaves_the_old_file(void **state)
{
    static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct rlimit no_core = {0, 0};

    (void)state;
    setrlimit(RLIMIT_CORE, &no_core);
    assert_null(props_output_write(&output, "old", 3));
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        const int status = in_child(is_ended, deadly[i]);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), deadly[i]);
        assert_int_equal(names(), 1);
        assert_holds("old");
    }
}

static volatile sig_atomic_t handled;

static void
handle(int number)
{
    handled = number;
}

static void
goes_on(int number)
{
    static struct prof_file file;
    struct sigaction now;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, handle);
    if (props_output_begin(&file, &output) != PROF_OK || !put(&file, "all"))
        _exit(1);
    raise(SIGINT);
    raise(SIGTERM);
    if (handled != SIGTERM || names() != 2 ||
        props_output_end(&file, PROF_OK) != PROF_OK)
        _exit(2);
    sigaction(SIGHUP, NULL, &now);
    if (now.sa_handler != SIG_DFL)
        _exit(3);
    sigaction(SIGXFSZ, NULL, &now);
    if (now.sa_handler != SIG_DFL)
        _exit(4);
    raise(number);
}

static void
a_signal_that_is_ignored_or_handled_ends_nothing(void **state)
{
    int status;

    (void)state;
    assert_null(props_output_write(&output, "old", 3));
    status = in_child(goes_on, SIGHUP);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGHUP); /* the default action is back */
    assert_int_equal(names(), 1);
    assert_holds("all");
}

static void
is_limited(int bytes)
{
    const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
    const char *reason;

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(1);
    reason = props_output_write(&output, "far too much", 12);
    if (reason == NULL || strcmp(reason, "File too large") != 0)
        _exit(2);
}

static void
a_file_above_the_limit_is_an_error(void **state)
{
    (void)state;
    assert_null(props_output_write(&output, "old", 3));
    assert_int_equal(in_child(is_limited, 7), 0);
    assert_int_equal(names(), 1);
    assert_holds("old");
}

static void
what_was_read_is_not_written_over(void **state)
{
    char second[sizeof path + 8];
    struct props_output same = {.path = path, .input = path};

    (void)state;
    assert_null(props_output_write(&output, "input", 5));
    snprintf(second, sizeof second, "%s-second", path);
    assert_string_equal(props_output_write(&same, "new", 3),
                        "it is the input; write another file");
    assert_int_equal(symlink("file", second), 0);
    same.path = second;
    assert_non_null(props_output_write(&same, "new", 3));
    same = (struct props_output){.path = path, .input = second};
    assert_non_null(props_output_write(&same, "new", 3));
    assert_int_equal(unlink(second), 0);
    assert_int_equal(link(path, second), 0);
    assert_non_null(props_output_write(&same, "new", 3));
    assert_int_equal(names(), 2);
    assert_holds("input");
    same.input = folder;
    assert_null(props_output_write(&same, "new", 3));
    assert_holds("new");
    assert_int_equal(unlink(second), 0);
}

static void
a_private_file_is_one(void **state)
{
    const struct props_output private = {.path = path, .is_private = true};
    struct stat info;

    (void)state;
    umask(0);
    assert_null(props_output_write(&output, "open", 4));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666);
    assert_null(props_output_write(&private, "mine", 4));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void
what_cannot_be_begun_is_over(void **state)
{
    const struct props_output nowhere = {.path = "/nowhere/at/all"};
    static struct prof_file file;
    struct sigaction now;

    (void)state;
    assert_int_equal(props_output_begin(&file, &nowhere), PROF_ERR_SINK);
    assert_string_equal(prof_file_reason(&file), "No such file or directory");
    assert_int_equal(sigaction(SIGINT, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

static int
make_folder(void **state)
{
    (void)state;
    return folder_with(path, sizeof path, "file");
}

static int
end(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            a_signal_that_ends_the_command_leaves_the_old_file, end),
        cmocka_unit_test_teardown(
            a_signal_that_is_ignored_or_handled_ends_nothing, end),
        cmocka_unit_test_teardown(a_file_above_the_limit_is_an_error, end),
        cmocka_unit_test_teardown(what_was_read_is_not_written_over, end),
        cmocka_unit_test_teardown(a_private_file_is_one, end),
        cmocka_unit_test_teardown(what_cannot_be_begun_is_over, end),
    };

    /* Under nohup, or in the background of a shell, they are ignored. */
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    return cmocka_run_group_tests(tests, make_folder, folder_remove);
}
