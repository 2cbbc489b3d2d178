/* test_lost_files.c -- the files in which processes report lost events are
 * shown, and kept until they are saved.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/lost_files.h"
#include "unit_test.h"

static char folder[] = "/tmp/test_lost-XXXXXX";

static const char *
path_of(const char *name)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void
put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool
is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* returns: the number of lines in the file */
static int
lines_of(const char *name)
{
    FILE *file = fopen(path_of(name), "r");
    char line[256];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strncmp(line, "not in the profiles: ", 21) == 0;
    fclose(file);
    return count;
}

TEST(each_loss_is_a_sentence)
{
    put("7.lost", "early 3\nuntracked 0\nnonsense 4\nunseen_frees 2\n");
    cli_lost_files(folder);
    assert_false(is_there("7.lost"));
    assert_int_equal(lines_of("7.lost.txt"), 2);
}

TEST(a_large_number_is_told_whole)
{
    char line[256] = "";
    FILE *file;

    put("7.lost", "early 4294967298\n");
    cli_lost_files(folder);
    file = fopen(path_of("7.lost.txt"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(line, "not in the profiles: 4294967298 allocations "
                              "before the profiler was up\n");
}

TEST(a_list_that_cannot_be_saved_stays)
{
    put("8.lost", "early 3\n");
    put("9.lost", "early 4\n");
    assert_int_equal(mkdir(path_of("8.lost.txt"), 0700), 0);
    cli_lost_files(folder);
    assert_true(is_there("8.lost"));
    assert_false(is_there("9.lost"));
    assert_int_equal(rmdir(path_of("8.lost.txt")), 0);
    cli_lost_files(folder);
    assert_false(is_there("8.lost"));
    assert_int_equal(lines_of("8.lost.txt"), 1);
}

TEST(what_is_no_list_is_left)
{
    put("a.lost", "of another program\n");
    cli_lost_files(folder);
    assert_true(is_there("a.lost"));
    assert_false(is_there("a.lost.txt"));
}

static int
make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || freopen("/dev/null", "w", stderr) == NULL;
}

static int
remove_folder(void **state)
{
    static const char *const names[] = {"7.lost.txt", "8.lost.txt",
                                        "9.lost.txt", "a.lost"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(path_of(names[i]));
    return rmdir(folder);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
