/* profile_case.c -- see profile_case.h. */
#include "profile_case.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/profile_env.h"
#include "profile_world.h"
#include "unit_test.h"

/* ---- Options ---- */

#define NUMBERS                                                             \
    "echo $" PROFILE_ENV_HEAP " $" PROFILE_ENV_MUTEX " $" PROFILE_ENV_BLOCK \
    " $" PROFILE_ENV_CPU " $" PROFILE_ENV_EVERY " $" PROFILE_ENV_NO_AGENT   \
    "; rmdir \""                                                            \
    "$" PROFILE_ENV_FOLDER "\""

static void
expect_numbers(const char *folder, const char *const *options,
               const char *numbers)
{
    char text[2 * PATH_MAX];

    snprintf(text, sizeof text,
             "%s\nprofsim: %s/out: No such file or directory\n", numbers,
             folder);
    profile_expect(profile_run(folder, options, NUMBERS), CLI_RECORD, 0, text);
}

static void
expect_refused(const char *folder, const char *const *options, const char *text)
{
    struct captured said = profile_run(folder, options, ":");
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/out", folder);
    assert_int_not_equal(access(path, F_OK), 0); /* nothing has been run */
    assert_int_equal(said.exit_code, CLI_RECORD);
    if (strstr(said.text, text) == NULL)
        fail_msg("%s, not %s", said.text, text);
    captured_free(&said);
}

static void
check_nothing_is_sampled(const char *folder)
{
    for (int drawn = 0; drawn < 16; drawn++) {
        const char *const given[] = {
            drawn & 1 ? "3" : "0", drawn & 2 ? "5" : "0", drawn & 4 ? "7" : "0",
            drawn & 8 ? "9" : "0"};
        const char *const options[] = {"--heap", given[0],  "--mutex",
                                       given[1], "--block", given[2],
                                       "--cpu",  given[3],  NULL};
        char numbers[64];

        snprintf(numbers, sizeof numbers, "%s %s %s %s 0 0", given[0], given[1],
                 given[2], given[3]);
        if (drawn == 0)
            expect_refused(folder, options, "nothing would be sampled\n");
        else
            expect_numbers(folder, options, numbers);
    }
}

void
profile_check_options(const char *folder)
{
    static const struct {
        const char *options[PROFILE_WORDS];
        const char *numbers;
    } taken[] = {
        {{NULL}, "524288 1 0 0 0 0"},
        {{"--no-agent", "--every", "1"}, "524288 1 0 0 1 1"},
        {{"--every", "1000000", "--cpu", "1000"}, "524288 1 0 1000 1000000 0"},
        {{"--heap", "9223372036854775807", "--mutex", "9223372036854775807",
          "--block", "9223372036854775807"},
         "9223372036854775807 9223372036854775807 9223372036854775807 0 0 0"},
    };
    static const char *const refused[][2] = {{"--heap", "9223372036854775808"},
                                             {"--mutex", "9223372036854775808"},
                                             {"--block", "9223372036854775808"},
                                             {"--cpu", "1001"},
                                             {"--every", "0"},
                                             {"--every", "1000001"},
                                             {"--nonsense", ":"}};
    struct captured said;

    check_nothing_is_sampled(folder);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        expect_numbers(folder, taken[i].options, taken[i].numbers);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_refused(
            folder, (const char *const[]){refused[i][0], refused[i][1], NULL},
            refused[i][0]);
    said = profile_run(
        folder,
        (const char *const[]){"--heap", "0", "--mutex", "0", "--help", NULL},
        NULL);
    assert_int_equal(said.exit_code, CLI_OK);
    assert_null(strstr(said.text, "profsim: "));
    captured_free(&said);
    profile_expect(
        profile_run(folder, (const char *const[]){"--otlp", NULL}, NULL),
        CLI_RECORD, 0,
        "profsim: profile: no command to profile; 'profsim profile "
        "--help' says more\n");
}

/* ---- Ends ---- */

static void
check_end(const char *folder, const char *script, enum profile_made made,
          int exit_code, int signal, const char *text)
{
    const struct profile_file file = {"9.cpu.pb", made, 3, "9.cpu."};
    char wanted[2 * PATH_MAX];

    profile_make_folder(folder);
    if (made != NONE)
        profile_make(folder, &file);
    snprintf(wanted, sizeof wanted, text, folder);
    profile_expect(profile_run(folder, (const char *const[]){NULL}, script),
                   exit_code, signal, wanted);
    if (made == PROFILE)
        profile_expect_saved(folder, &file, file.saved, false, "");
    else if (made == ONE)
        profile_remove(folder, "9.cpu.pb.gz");
    else if (exit_code == CLI_RECORD && made != NONE)
        profile_remove(folder, file.name);
    profile_remove(folder, "");
}

/* A heap without samples, or with one of nothing, beside a heap. */
static void
check_heaps(const char *folder)
{
    static const struct profile_file heaps[] = {
        {"7.heap.pb", ONE, 0, NULL},
        {"8.heap.pb", EMPTY, 0, NULL},
        {"9.heap.pb", PROFILE, 7, "9.heap."}};
    char path[PATH_MAX];

    for (size_t count = 1; count <= 3; count++) {
        char text[PROFILE_TEXT];
        FILE *const to = fmemopen(text, sizeof text, "w");

        assert_non_null(to);
        profile_make_folder(folder);
        for (size_t i = 0; i < count; i++)
            profile_make(folder, &heaps[i]);
        fprintf(to, "profsim profile: %zu profiles in %s/./out\n",
                count == 3 ? (size_t)4 : 2, folder);
        if (count == 3)
            profile_print_largest(to, folder, heaps, 3);
        else
            fprintf(to, "profsim profile: %s/out/7.heap.pb.gz:\n", folder);
        assert_int_equal(fclose(to), 0);
        profile_expect(
            profile_run(folder, (const char *const[]){NULL}, "exit 3"), 3, 0,
            text);
        profile_remove(folder, "7.heap.pb.gz");
        profile_remove(folder, "7.allocs.pb.gz");
        profile_path(path, folder, "9.heap.pb.gz", "");
        assert_int_equal(unlink(path) == 0, count == 3);
        profile_path(path, folder, "9.allocs.pb.gz", "");
        assert_int_equal(unlink(path) == 0, count == 3);
        profile_remove(folder, "");
    }
}

/* Each message that nobody reads would end it, and leave what is not named. */
static void
check_unread(const char *folder)
{
    static const struct profile_file file = {"2.cpu.pb", PROFILE, 2, "2.cpu."};
    static const struct profile_file damaged = {"1.cpu.pb", DAMAGED, 0, NULL};

    profile_make_folder(folder);
    profile_make(folder, &damaged);
    profile_make(folder, &file);
    profile_special.is_unread = true;
    profile_expect(profile_run(folder, (const char *const[]){NULL}, ":"),
                   CLI_RECORD, 0, "");
    profile_special.is_unread = false;
    profile_expect_saved(folder, &file, file.saved, false, "");
    profile_remove(folder, damaged.name);
    profile_remove(folder, "");
}

/* A folder's path has fewer bytes than PROFILE_FOLDER_MAX. */
static void
check_long_folders(const char *folder)
{
    static const char *const none[] = {NULL};
    char deep[PROFILE_FOLDER_MAX];

    snprintf(deep, sizeof deep, "%s/%0250d", folder, 0);
    for (size_t over = 0; over < 2; over++) {
        const int left = (int)(PROFILE_FOLDER_MAX - 1 + over - strlen(deep));
        char text[PATH_MAX + 256];
        char name[PATH_MAX];
        char path[PATH_MAX + 4];

        assert_int_equal(mkdir(deep, 0700), 0);
        snprintf(name, sizeof name, "%s/%0*d/out", deep, left - 5, 0);
        *strrchr(name, '/') = '\0';
        assert_int_equal(mkdir(name, 0700), 0);
        snprintf(path, sizeof path, "%s/out", name);
        assert_int_equal(strlen(path), PROFILE_FOLDER_MAX - 1 + over);
        snprintf(text, sizeof text,
                 over == 0 ? "profsim: %s/./out: no profile was written: is "
                             "the command linked statically, set-uid or "
                             "another user's, or does it end by _exit()?\n"
                           : "profsim: %s/out: its path is too long\n",
                 name);
        profile_expect(profile_run(name, none, ":"), CLI_RECORD, 0, text);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rmdir(name), 0);
        assert_int_equal(rmdir(deep), 0);
    }
}

static void
check_no_folder(const char *folder)
{
    static const char *const none[] = {NULL};
    char text[PATH_MAX + 64];
    char path[PATH_MAX];

    profile_path(path, folder, "", "");
    path[strlen(path) - 1] = '\0';
    assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
    snprintf(text, sizeof text, "profsim: %s/./out: Not a directory\n", folder);
    profile_expect(profile_run(folder, none, ":"), CLI_RECORD, 0, text);
    assert_int_equal(remove(path), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(text, sizeof text, "profsim: %s: Permission denied\n", path);
    profile_special.is_another_user = true;
    for (unsigned mode = 0; mode < 0777; mode += 0111) {
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(chmod(path, mode), 0);
        profile_expect(profile_run(folder, none, ":"), CLI_RECORD, 0, text);
        assert_int_equal(rmdir(path), 0);
    }
    profile_special.is_another_user = false;
    profile_special.output = ".";
    profile_expect(profile_run(folder, none, ":"), CLI_RECORD, 0,
                   "profsim: .: No such file or directory\n");
    profile_special.output = NULL;
}

#define NO_IDEA                                                         \
    "profsim: %s/./out: no profile was written: is the command linked " \
    "statically, set-uid or another user's, or does it end by _exit()?\n"

/* Why there is no profile: what keeps files out of the folder is known. */
static void
check_none(const char *folder)
{
    check_end(folder, ":", NONE, CLI_RECORD, 0, NO_IDEA);
    check_end(folder, "exit 7", NONE, CLI_RECORD, 0,
              NO_IDEA "profsim profile: the command exited with 7\n");
    profile_special.file_bytes = 32768;
    check_end(folder, ":", NONE, CLI_RECORD, 0, NO_IDEA);
#define TOO_LARGE "profsim: %s/./out: no profile was written: File too large\n"
    profile_special.file_bytes = 8192;
    check_end(folder, ":", NONE, CLI_RECORD, 0, TOO_LARGE);
    check_end(folder, "exit 1", NONE, CLI_RECORD, 0,
              TOO_LARGE "profsim profile: the command exited with 1\n");
    check_end(folder, "kill -9 $$", NONE, CLI_RECORD, 0,
              TOO_LARGE "profsim profile: the command was ended by signal 9\n");
    profile_special.file_bytes = 0;
}

void
profile_check_ends(const char *folder)
{
    char path[PATH_MAX];

    profile_path(path, folder, "", "");
    check_end(folder, "exit 7", PROFILE, 7, 0,
              "profsim profile: 1 profile in %s/./out\n");
    check_end(folder, "kill -9 $$", PROFILE, -1, 9,
              "profsim profile: 1 profile in %s/./out\n");
    check_end(folder, "exit 7", EMPTY, 7, 0,
              "profsim profile: nothing was sampled: no allocation, wait or "
              "tick was chosen\n");
    check_end(folder, "kill -9 $$", NONE, -1, 9,
              "profsim profile: signal 9 ended the command before it wrote a "
              "profile; --every S writes them earlier\n");
    check_none(folder);
    check_end(folder, ":", LINK, CLI_RECORD, 0,
              "profsim: %s/out/9.cpu.pb: Too many levels of symbolic links\n");
    check_end(folder, "exit 7", ONE, 7, 0,
              "profsim profile: 1 profile in %s/./out\n");
    check_heaps(folder);
    check_unread(folder);
    check_no_folder(folder);
    check_long_folders(folder);
    profile_expect(profile_run(folder,
                               (const char *const[]){"--", "/no/such", NULL},
                               NULL),
                   CLI_NOT_FOUND, 0,
                   "profsim profile: /no/such: No such file or directory\n");
    profile_expect(
        profile_run(folder, (const char *const[]){"--", "/", NULL}, NULL),
        CLI_NOT_EXECUTABLE, 0, "profsim profile: /: Permission denied\n");
    assert_int_equal(rmdir(path), 0);
    profile_special.library = "/no/such.so";
    profile_expect(profile_run(folder, (const char *const[]){NULL}, ":"),
                   CLI_RECORD, 0,
                   "profsim profile: /no/such.so: the library is not there\n");
    profile_special.library = NULL;
}
